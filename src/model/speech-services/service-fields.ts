// Fields that the settings of several vendors have in common: keys, addresses, names, limits. Addresses and names are
// stored and shown unchanged, so they must not contain credentials.

import { z } from 'zod';
import { secretPlaceIn } from './description-secrets.ts';

/** Announced ends of a vendor's models. */
export interface Announcement {
  source: string;
  /** `endsOn`: the day from which the service refuses the models, or answers with another one; undefined if the service
   *  only no longer recommends them. `successor`: undefined if the interface ends with the models. `models`: names
   *  with a space between them. */
  ends: readonly (readonly [
    endsOn: string | undefined,
    successor: string | undefined,
    models: string,
  ])[];
}

const KEY_CHARACTERS_MAX = 4_096;
/** Keys are sent in headers, which carry printable ASCII only: other characters of a copied text (line breaks,
 *  typographic quotes, invisible spaces) are refused before it is stored. Source: RFC 9110 §5.5. */
const KEY = /^[\x21-\x7e]+$/;

export const secretKey = z
  .string()
  .trim()
  .min(1)
  .max(KEY_CHARACTERS_MAX)
  .regex(KEY, 'has a space, a line break or a character that no key has: copy the key again')
  .meta({ secret: true });

/** Largest limit, above any plan that services document. */
const SESSIONS_MAX = 10_000;

/** Limit of concurrent sessions with the key of a recogniser or a voice; each call with it counts as one. */
export const concurrencyLimit = z
  .int()
  .min(1)
  .max(SESSIONS_MAX)
  .optional()
  .describe(
    'How many sessions the key may have at once, as its plan states. Calls beyond it use the next service at once. ' +
      'Default: as many as the service accepts.',
  );

/** Key fields of a recogniser or a voice in the cloud whose sessions a plan limits. */
export const limitedKey = { api_key: secretKey, concurrency_limit: concurrencyLimit };

/** Longest address. The egress rule accepts twice that, with the additions of clients. */
const ADDRESS_CHARACTERS_MAX = 2_000;

/** Schema of an address. `protocol`: pattern of its scheme. */
export function serviceAddress(protocol: RegExp) {
  return z
    .url({ protocol, error: ({ input }) => problemOf(input, protocol) })
    .max(ADDRESS_CHARACTERS_MAX, `must have at most ${ADDRESS_CHARACTERS_MAX} characters`)
    .refine(
      (text) => has(text, ({ username, password }) => username === '' && password === ''),
      'must not have a user name or a password: keys belong in api_key, which is sealed',
    )
    .refine((text) => !text.includes('#'), 'must not have a fragment');
}

const SCHEMES = ['tcp', 'ws', 'wss', 'http', 'https'];

/** The problem of an address; undefined: the library's own message. */
function problemOf(input: unknown, protocol: RegExp): string | undefined {
  if (input === undefined) return undefined;
  const begins = SCHEMES.filter((scheme) => protocol.test(scheme)).map((scheme) => `${scheme}://`);
  return `is not an address that begins with ${begins.join(', ').replace(/, ([^,]*)$/, ' or $1')}`;
}

/** Schema of an address to which a description adds its path and parameters. */
export function describedAddress(protocol: RegExp) {
  return serviceAddress(protocol).refine(
    (text) => has(text, ({ search }) => search === '' && !text.includes('?')),
    'must not have parameters: they belong in the query of the description, and keys in api_key',
  );
}

function has(text: string, isSo: (url: URL) => boolean): boolean {
  const url = URL.parse(text);
  return url !== null && isSo(url);
}

export const httpUrl = serviceAddress(/^https?$/);

// Services that are described as data.

export const socketUrl = describedAddress(/^wss?$/);
export const describedHttpUrl = describedAddress(/^https?$/);
export const language = z.string().trim().min(1).max(35).describe('As the service names it.');

/** A service's own name, with the known ones as examples; `first` is the default. */
export const named = (first: string, ...more: string[]) =>
  z
    .string()
    .trim()
    .min(1)
    .max(200)
    .default(first)
    .meta({ examples: [first, ...more], allow_custom_input: true });

export const speedOf = (min: number, max: number) => z.number().min(min).max(max).optional();

export const about = (title: string, description: string, docs: string) => ({
  title,
  description: `${description} Never tried on a live account.`,
  provider_docs_url: docs,
});

// Servers with a protocol that many programs have.

export const serverLanguage = z
  .string()
  .trim()
  .min(1)
  .max(35)
  .describe('BCP 47, or as the server names it.');
export const serverModel = z.string().trim().min(1).max(200).meta({ allow_custom_input: true });
export const serverVoice = z.string().trim().min(1).max(200);
export const serverSpeed = z.number().min(0.25).max(4).optional();

/** Fields of recognisers with OpenAI's transcription interface. */
export const transcriptionFields = {
  language: serverLanguage.optional(),
  prompt: z
    .string()
    .max(500)
    .optional()
    .describe('Words and names that callers use, for a model that takes a prompt.'),
};

// Voices and streaming recognisers in the cloud.

export const voiceLanguage = z
  .string()
  .min(2)
  .max(35)
  .optional()
  .describe('BCP 47, such as en or de.');

/** Most names and special words; services accept about a hundred. */
const KEYTERMS_MAX = 100;

export const keyterms = z
  .array(z.string().trim().min(1).max(100))
  .max(KEYTERMS_MAX)
  .optional()
  .describe('Words and names that callers often say.');

export const sttAddress = serviceAddress(/^(wss?|https?)$/)
  .optional()
  .describe('Another region, or a server of your own.');

const QUERY_MAX = 50;

export const extraQuery = z
  .record(z.string().max(100), z.string().max(1_000))
  .refine((query) => Object.keys(query).length <= QUERY_MAX, `At most ${QUERY_MAX} parameters.`)
  .refine((query) => secretPlaceIn({ query }) === undefined, 'must have no key: it is not sealed')
  .optional()
  .describe('More parameters of the connection, as the service documents them.');

export const turns = z
  .enum(['vendor', 'ours', 'both'])
  .optional()
  .describe(
    "Who ends the caller's turn: the service, where its model does (vendor); the gateway by silence and words (ours); " +
      'or whichever is first (both). Default: vendor, with the gateway 700 ms later.',
  );

// Language models.

export const NAME_CHARACTERS_MAX = 200;
const EXTRA_CHARACTERS_MAX = 16_000;

const titledKey = secretKey.meta({ title: 'API key', secret: true });
export const llmKey = titledKey.describe('The key to the service.');
export const optionalLlmKey = titledKey
  .optional()
  .describe('Sent as a Bearer token, if the server wants one.');

export function llmModel(usual: string, examples: readonly string[]) {
  return z
    .string()
    .trim()
    .min(1)
    .max(NAME_CHARACTERS_MAX)
    .default(usual)
    .meta({ title: 'Model', examples: [usual, ...examples], allow_custom_input: true });
}

export function llmUrl(usual: string) {
  return serviceAddress(/^https?$/)
    .default(usual)
    .describe('Up to and including the version.');
}

/** Fields of every language model. */
export const llmFields = {
  extra_body: z
    .record(z.string(), z.unknown())
    .refine(
      (extra) => JSON.stringify(extra).length <= EXTRA_CHARACTERS_MAX,
      `has more than ${EXTRA_CHARACTERS_MAX} characters as JSON`,
    )
    .optional()
    .describe("Fields added to every request's body; they override the gateway's."),
};

/** Schema of a language model that differs from the others only by its address and its models. */
export function hostedModel<P extends string>(
  provider: P,
  row: { title: string; url: string; usual: string; examples: readonly string[]; docs: string },
) {
  return z
    .object({
      provider: z.literal(provider),
      base_url: llmUrl(row.url),
      api_key: llmKey,
      model: llmModel(row.usual, row.examples),
      ...llmFields,
    })
    .meta({
      title: row.title,
      description: `${row.title}, through its chat interface.`,
      provider_docs_url: row.docs,
    });
}
