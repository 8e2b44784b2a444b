// Credentials in the address, for streams alone: a browser's EventSource can send no headers. They are
// taken as the headers of the same meaning; addresses are logged nowhere.

import type { FastifyRequest } from 'fastify';
import { type AuthDeps, keyGuard } from './auth.ts';

/** `?api_key=` counts as `X-API-Key`, `?token=` as `Authorization`; headers go before them. */
export function streamGuard(deps: AuthDeps): (request: FastifyRequest) => Promise<void> {
  const guard = keyGuard(deps);
  return async (request) => {
    const query = new URL(request.url, 'http://gateway').searchParams;
    const { headers } = request;
    const apiKey = query.get('api_key');
    const token = query.get('token');
    if (headers['x-api-key'] === undefined && headers.authorization === undefined) {
      if (apiKey !== null) headers['x-api-key'] = apiKey;
      else if (token !== null) headers.authorization = `Bearer ${token}`;
    }
    await guard(request);
  };
}
