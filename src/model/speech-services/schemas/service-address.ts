// Addresses of services. What stands in them is stored and shown as it is, so no credentials do.

import { z } from 'zod';

/** The egress rule takes addresses of twice that, with what clients add. */
const CHARACTERS_MAX = 2_000;

/** `protocol`: of its scheme. */
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

/** Undefined: the words of the library. */
function problemOf(input: unknown, protocol: RegExp): string | undefined {
  if (input === undefined) return undefined;
  const begins = SCHEMES.filter((scheme) => protocol.test(scheme)).map((scheme) => `${scheme}://`);
  return `is no address that begins with ${begins.join(', ').replace(/, ([^,]*)$/, ' or $1')}`;
}

/** An address that a description adds its path and its parameters to. */
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
