// Who makes a request: `X-API-Key` first, then `Authorization` with the key in it. The key itself is
// checked by the store, by its hash. Source: contract §3.2.

import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../errors.ts';
import type { Principal, Store } from '../store/store.ts';
import { missingError } from './validation.ts';

/** Our keys have 47 characters; nothing longer is worth hashing. */
const KEY_LENGTH_MAX = 512;

type Guard = (request: FastifyRequest) => Promise<void>;

/** Lets only holders of a key in. A key in `X-API-Key`, whatever it holds, is the only one tried. */
export function keyGuard(store: Store): Guard {
  return async (request) => {
    const key = request.headers['x-api-key'];
    if (typeof key === 'string') {
      request.principal = await authenticated(store, key, 'API_KEY_INVALID');
      return;
    }
    const { authorization } = request.headers;
    if (authorization === undefined || authorization === '') {
      throw new GatewayError('CREDENTIALS_MISSING');
    }
    const token = authorization.replace(/^bearer\s+/i, '').trim();
    request.principal = await authenticated(store, token, 'TOKEN_INVALID');
  };
}

/** The same for starts of calls, where a missing header is a fault of the request. */
export function agentKeyGuard(store: Store): Guard {
  return async (request) => {
    const key = request.headers['x-api-key'];
    if (typeof key !== 'string') throw missingError(['header', 'X-API-Key']);
    request.principal = await authenticated(store, key, 'AGENT_API_KEY_INVALID');
  };
}

/** Who asks, on a route behind a guard. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new GatewayError('CREDENTIALS_MISSING');
  return request.principal;
}

async function authenticated(
  store: Store,
  key: string,
  refusal: 'API_KEY_INVALID' | 'TOKEN_INVALID' | 'AGENT_API_KEY_INVALID',
): Promise<Principal> {
  const fits = key !== '' && key.length <= KEY_LENGTH_MAX;
  const principal = fits ? await store.accounts.authenticate(key) : undefined;
  if (principal === undefined) throw new GatewayError(refusal);
  return principal;
}
