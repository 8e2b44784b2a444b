// Addresses of services. They are stored and shown unchanged, so they must not contain credentials.

import { z } from 'zod';

/** Longest address. The egress rule accepts twice that, with the additions of clients. */
const CHARACTERS_MAX = 2_000;

/** Schema of an address. `protocol`: pattern of its scheme. */
export function serviceAddress(protocol: RegExp) {
  return z
    .url({ protocol, error: ({ input }) => problemOf(input, protocol) })
    .max(CHARACTERS_MAX, `must have at most ${CHARACTERS_MAX} characters`)
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
