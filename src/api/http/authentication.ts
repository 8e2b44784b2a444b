// Authentication: `X-API-Key` first, then `Authorization` with a user's token or a key in it, then the cookie of the
// console. The store checks the hash of a key, and finds the user of a token. Source: contract §3.2.

import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { clientName } from '../../std/client-address.ts';
import type { Principal } from '../../store/accounts/accounts.ts';
import type { Store } from '../../store/store.ts';
import type { ApiAccess } from '../auth/access.ts';
import { missingError } from './validation.ts';

/** Longest key that is hashed; ours have 47 characters. */
const KEY_LENGTH_MAX = 512;
/** Header, claims and signature of a JSON Web Token: no API key has this form. */
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]*$/;

export const SESSION_COOKIE = 'patchbay_session';
/** Header of the console's own requests; a page of another origin cannot send it without CORS. */
const CONSOLE_HEADER = 'x-patchbay-console';
/** Methods that change nothing: players and links send no headers. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

type Guard = (request: FastifyRequest) => Promise<void>;
type KeyRefusal = 'API_KEY_INVALID' | 'TOKEN_INVALID' | 'AGENT_API_KEY_INVALID';

export interface AuthDeps {
  store: Store;
  access: ApiAccess;
}

/** Guard that admits only holders of a key or a token. If `X-API-Key` is present, only that key is checked. */
export function keyGuard(deps: AuthDeps): Guard {
  return async (request) => {
    const key = request.headers['x-api-key'];
    if (typeof key === 'string') {
      request.principal = await ownerOfKey(deps, request, key, 'API_KEY_INVALID');
      return;
    }
    const { authorization } = request.headers;
    if (authorization === undefined || authorization === '') {
      request.principal = await ownerOfSession(deps, request);
      return;
    }
    const token = authorization.replace(/^bearer\s+/i, '').trim();
    request.principal = TOKEN.test(token)
      ? await ownerOfToken(deps, token)
      : await ownerOfKey(deps, request, token, 'TOKEN_INVALID');
  };
}

/** Guard of event streams, which browsers open without headers: the query may hold `api_key`, or `token` with a
 *  user's token. A header has precedence. */
export function streamGuard(deps: AuthDeps): Guard {
  const guard = keyGuard(deps);
  return async (request) => {
    const { 'x-api-key': key, authorization = '' } = request.headers;
    const asked = streamQuery.safeParse(request.query).data;
    if (typeof key === 'string' || authorization !== '' || asked === undefined) {
      return guard(request);
    }
    if (asked.api_key !== undefined) {
      request.principal = await ownerOfKey(deps, request, asked.api_key, 'API_KEY_INVALID');
    } else if (asked.token !== undefined) {
      request.principal = await ownerOfToken(deps, asked.token);
    } else await guard(request);
  };
}

const streamQuery = z.object({ api_key: z.string().optional(), token: z.string().optional() });

/** Guard for starts of calls, where a missing header is a validation error. */
export function agentKeyGuard(deps: AuthDeps): Guard {
  return async (request) => {
    const key = request.headers['x-api-key'];
    if (typeof key !== 'string') throw missingError(['header', 'X-API-Key']);
    request.principal = await ownerOfKey(deps, request, key, 'AGENT_API_KEY_INVALID');
  };
}

/** The authenticated principal, on a route behind a guard. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new GatewayError('CREDENTIALS_MISSING');
  return request.principal;
}

/** The authenticated principal as the starter of a call. */
export function starterOf(request: FastifyRequest) {
  const { organizationId, userId, apiKeyId } = principalOf(request);
  return { organizationId, apiKeyId, apiKeyCreatedBy: userId };
}

/** The owner of a key. A valid key is accepted, however many invalid ones came before. Throws `refusal`, or
 *  TOO_MANY_ATTEMPTS for a client with too many invalid keys. */
export async function ownerOfKey(
  { store, access }: AuthDeps,
  request: FastifyRequest,
  key: string,
  refusal: KeyRefusal,
): Promise<Principal> {
  const fits = key !== '' && key.length <= KEY_LENGTH_MAX;
  const principal = fits ? await store.accounts.authenticate(key) : undefined;
  if (principal !== undefined) return principal;
  access.badKeysOfClient.count(clientName(request.ip));
  throw new GatewayError(refusal);
}

/** The principal of the console's cookie. A request that changes something must come from the console's page: other
 *  sites can send no such header. Throws CREDENTIALS_MISSING, SESSION_OVER, CONSOLE_HEADER_MISSING. */
export async function ownerOfSession(
  { store, access }: AuthDeps,
  request: FastifyRequest,
): Promise<Principal> {
  const cookie = sessionCookieOf(request);
  if (cookie === undefined || access.sessions === undefined) {
    throw new GatewayError('CREDENTIALS_MISSING');
  }
  if (!SAFE_METHODS.has(request.method)) requireConsoleHeader(request);
  const principal = await access.sessions.principalOf(cookie, store);
  if (principal === undefined) throw new GatewayError('SESSION_OVER');
  return principal;
}

/** Throws CONSOLE_HEADER_MISSING. */
export function requireConsoleHeader({ headers }: FastifyRequest): void {
  if (headers[CONSOLE_HEADER] === undefined) throw new GatewayError('CONSOLE_HEADER_MISSING');
}

/** Token of the console's cookie; undefined without one, or while the console is off. */
export function sessionCookieOf(request: FastifyRequest): string | undefined {
  return request.cookies?.[SESSION_COOKIE] || undefined;
}

/** Throws TOKEN_INVALID, USER_NOT_FOUND. */
async function ownerOfToken({ store, access }: AuthDeps, token: string): Promise<Principal> {
  const userId = await access.tokens.userOf(token);
  if (userId === undefined) throw new GatewayError('TOKEN_INVALID');
  const user = await store.users.get(userId);
  if (user === undefined) throw new GatewayError('USER_NOT_FOUND');
  return { organizationId: user.organizationId, userId: user.id, apiKeyId: null };
}
