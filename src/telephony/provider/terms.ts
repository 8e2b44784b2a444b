// Types shared by hosted providers and PBXs, in a file of their own so that neither interface imports the other.

/** Credentials as stored, checked by the provider's own schema before use. */
export type ProviderCredentials = Record<string, unknown>;

export type RejectReason =
  | 'not-configured'
  | 'no-workflow'
  | 'signature'
  | 'busy'
  | 'draining'
  | 'error';
