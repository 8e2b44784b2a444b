// Credentials that an organization's requests send to other systems: their kinds, the fields of each kind, and the
// resulting headers. Source: contract §10.2; header syntax: RFC 9110, 5.5 and 5.6.2.

import { z } from 'zod';

const NAME_CHARACTERS_MAX = 200;
/** Longest header value: servers accept about 8 kB of headers. */
const VALUE_CHARACTERS_MAX = 6_000;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\x20-\x7e\x80-\xff]*$/;
/** Hop-by-hop and framing headers: the gateway sets them itself. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export const requestHeaderName = z
  .string()
  .min(1)
  .max(NAME_CHARACTERS_MAX)
  .refine((name) => NAME.test(name) && !OF_THE_CONNECTION.has(name.toLowerCase()), {
    error: 'this cannot be the name of a header of your own',
  });

export const requestHeaderValue = z
  .string()
  .max(VALUE_CHARACTERS_MAX)
  .refine((value) => VALUE.test(value), { error: 'a header cannot hold this' });

export const credentialType = z.enum([
  'none',
  'api_key',
  'bearer_token',
  'basic_auth',
  'custom_header',
]);
export type CredentialType = z.infer<typeof credentialType>;

/** A credential without its secrets, as clients read it. */
export interface Credential {
  id: string;
  uuid: string;
  organizationId: string;
  name: string;
  description: string | null;
  type: CredentialType;
  createdAt: Date;
  /** Time of the last change; null before one. */
  updatedAt: Date | null;
}

/** Longest secret, above any service's; servers accept about 8 kB of headers. */
const SECRET_CHARACTERS_MAX = 6_000;

const headerName = requestHeaderName.refine((name) => name.toLowerCase() !== 'content-type', {
  error: 'this cannot be the name of a header of your own',
});
const headerValue = requestHeaderValue.min(1);
/** Text that is sent in base64, so any character is allowed. */
const freeText = z.string().max(SECRET_CHARACTERS_MAX);

export const credentialData = {
  none: z.object({}),
  api_key: z.object({ header_name: headerName, api_key: headerValue }),
  bearer_token: z.object({ token: headerValue }),
  basic_auth: z.object({
    // The first colon ends the name (RFC 7617).
    username: freeText.min(1).refine((name) => !name.includes(':'), { error: 'without a colon' }),
    password: freeText,
  }),
  custom_header: z.object({ header_name: headerName, header_value: headerValue }),
} as const satisfies Record<CredentialType, z.ZodObject>;

/** Headers of a credential. `data` has passed its schema; other data gives no header. */
export function headersOfCredential(
  type: CredentialType,
  data: Record<string, unknown>,
): Record<string, string> {
  const text = (key: string): string => String(data[key] ?? '');
  switch (type) {
    case 'none':
      return {};
    case 'api_key':
      return { [text('header_name')]: text('api_key') };
    case 'bearer_token':
      return { ['Authorization']: `Bearer ${text('token')}` };
    case 'basic_auth': {
      const pair = Buffer.from(`${text('username')}:${text('password')}`).toString('base64');
      return { ['Authorization']: `Basic ${pair}` };
    }
    case 'custom_header':
      return { [text('header_name')]: text('header_value') };
  }
}
