// Types that hosted providers and PBXs share; apart, so that neither interface imports the other for them.

/** Credentials as stored, checked by the provider's own schema before use. */
export type ProviderCredentials = Record<string, unknown>;

export type RejectReason =
  | 'not-configured'
  | 'no-workflow'
  | 'signature'
  | 'busy'
  | 'draining'
  | 'error';
