// The gateway's API as the console uses it: typed from the API's description, by the session's cookie, with TanStack
// Query's cache. `api.useQuery('get', '/api/v1/calls/active', ...)` reads, `api.useMutation('post', ...)` changes.

import { QueryClient } from '@tanstack/react-query';
import createFetchClient from 'openapi-fetch';
import createClient from 'openapi-react-query';
import { ApiError, toApiError } from './errors.ts';
import type { components, paths } from './schema.d.ts';
import { CONSOLE_HEADERS, sessionOver } from './session.ts';

/** A schema of the API's description by its name: `Schema<'UserResponse'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

const REQUEST_MS_MAX = 30_000;
/** For what the gateway itself gives up to 55 s: examinations, and turns of a chat. */
const LONG_REQUEST_MS_MAX = 65_000;
/** Time for which an answer counts as fresh when a page is opened again. */
const FRESH_MS = 5_000;
const RETRIES_MAX = 2;
/** Codes of a session that is over, or whose key or user is gone; 401 has other reasons, too. */
const LOGGED_OUT = new Set(['CREDENTIALS_MISSING', 'SESSION_OVER', 'USER_NOT_FOUND']);

/** Calls without React: `await client.POST(path, { params, body })`. Rejects with an ApiError. */
export const client = clientWithin(REQUEST_MS_MAX);
/** The same for requests that take up to a minute. */
export const patientClient = clientWithin(LONG_REQUEST_MS_MAX);

export const api = createClient(client);

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (times, error) => times < RETRIES_MAX && isWorthRetrying(error),
    },
  },
});

function clientWithin(msMax: number) {
  const made = createFetchClient<paths>({
    baseUrl: location.origin,
    credentials: 'same-origin',
    headers: CONSOLE_HEADERS,
    fetch: (request) =>
      fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(msMax)]) }),
  });
  made.use({
    onResponse: async ({ response }) => {
      await requireOk(response);
    },
  });
  return made;
}

/** Throws an ApiError for a refusal. One for want of a session leads to the log-in. */
export async function requireOk(response: Response): Promise<void> {
  if (response.ok) return;
  const error = await toApiError(response);
  if (error.code !== undefined && LOGGED_OUT.has(error.code)) sessionOver();
  throw error;
}

/** Marks what was read from paths that begin so as outdated: what is shown is read again. */
export async function invalidatePaths(...prefixes: readonly string[]): Promise<void> {
  await queries.invalidateQueries({
    predicate: ({ queryKey }) => prefixes.some((prefix) => String(queryKey[1]).startsWith(prefix)),
  });
}

function isWorthRetrying(error: Error): boolean {
  return !(error instanceof ApiError) || error.status >= 500;
}
