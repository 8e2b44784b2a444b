// The gateway's API as the console uses it: typed from the API's description, by the session's cookie, with TanStack
// Query's cache. `api.useQuery('get', '/api/v1/calls/active', ...)` reads, `api.useMutation('post', ...)` changes.

import { QueryCache, QueryClient } from '@tanstack/react-query';
import createFetchClient from 'openapi-fetch';
import createClient from 'openapi-react-query';
import { ApiError, toApiError } from './errors.ts';
import type { components, paths } from './schema.d.ts';
import { sessionOver } from './session.ts';

/** A schema of the API's description by its name: `Schema<'UserResponse'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

/** Header by which the gateway knows that a change comes from this page. */
export const CONSOLE_HEADERS = { 'X-Patchbay-Console': '1' };
const REQUEST_MS_MAX = 30_000;
/** For what the gateway itself gives up to 55 s: examinations, and turns of a chat. */
const LONG_REQUEST_MS_MAX = 65_000;
/** Time for which an answer counts as fresh when a page is opened again. */
const FRESH_MS = 5_000;
const RETRIES_MAX = 2;

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
  queryCache: new QueryCache({ onError: endSessionOf }),
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
      if (!response.ok) throw await toApiError(response);
    },
  });
  return made;
}

function isWorthRetrying(error: Error): boolean {
  return !(error instanceof ApiError) || error.status >= 500;
}

function endSessionOf(error: Error): void {
  if (error instanceof ApiError && error.status === 401) sessionOver();
}
