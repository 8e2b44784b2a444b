// Addresses of requests with placeholders in them. Values never change where a request goes: scheme and
// host are fixed. Source: contract §8.7.

const ORIGIN = /^https?:\/\/[^/?#]+/i;

/** Whether it is an http or https address without a password whose scheme, host and port are fixed. */
export function isRequestUrl(template: string): boolean {
  const origin = ORIGIN.exec(template)?.[0];
  return origin !== undefined && !/[{}@\\\s]/.test(origin) && URL.canParse(origin);
}
