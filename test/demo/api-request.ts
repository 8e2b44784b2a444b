// One request of a test's client to the gateway's API.

export interface ApiAccess {
  /** The gateway's address with the prefix of its API. */
  base: string;
  apiKey: string;
  /** Deadline in milliseconds. */
  msMax: number;
}

/** The answer's JSON. Throws if the status is none of success, with the answer's text. */
export async function apiRequest(
  { base, apiKey, msMax }: ApiAccess,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const response = await fetch(base + path, {
    method,
    signal: AbortSignal.timeout(msMax),
    headers: {
      'X-API-Key': apiKey,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}
