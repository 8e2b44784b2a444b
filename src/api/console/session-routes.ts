// The console's log-in: /console/session exchanges a password or an API key for a cookie. Outside the API's description:
// programs use keys.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Principal } from '../../store/accounts/accounts.ts';
import { userByPassword } from '../accounts/auth-routes.ts';
import { logIn } from '../accounts/user-schema.ts';
import { type ConsoleSession, SESSION_SECONDS } from '../auth/console-sessions.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import {
  ownerOfKey,
  ownerOfSession,
  requireConsoleHeader,
  SESSION_COOKIE,
  sessionCookieOf,
} from '../http/authentication.ts';
import { CREDENTIALS_BYTES_MAX } from '../http/request-bodies.ts';

const PATH = '/console/session';
const KEY_CHARACTERS_MAX = 512;
const hidden = { hide: true };

const credentials = z.union([
  z.object({ api_key: z.string().trim().min(1).max(KEY_CHARACTERS_MAX) }),
  logIn,
]);

export function sessionRoutes(api: Api, deps: ApiDeps): void {
  const config = { admission: 'outside' as const };
  const options = { bodyLimit: CREDENTIALS_BYTES_MAX, config };
  api.post(
    PATH,
    { ...options, schema: { ...hidden, body: credentials } },
    async (request, reply) => {
      requireConsoleHeader(request);
      const session = await provenSession(deps, request, request.body);
      setCookie(deps, reply, await deps.access.sessions?.issue(session));
      return shown(deps, session.userId);
    },
  );

  api.get(PATH, { schema: hidden }, async (request, reply) => {
    const principal = await ownerOfSession(deps, request);
    const token = sessionCookieOf(request) ?? '';
    setCookie(deps, reply, await deps.access.sessions?.renew(token, principal));
    return shown(deps, principal.userId);
  });

  api.delete(PATH, { schema: hidden }, async (request, reply) => {
    requireConsoleHeader(request);
    reply.clearCookie(SESSION_COOKIE, cookieOptions(deps));
    return {};
  });
}

/** Throws API_KEY_INVALID, LOG_IN_REFUSED, LOG_IN_ELSEWHERE, TOO_MANY_ATTEMPTS. */
async function provenSession(
  deps: ApiDeps,
  request: FastifyRequest,
  given: z.infer<typeof credentials>,
): Promise<ConsoleSession> {
  if ('api_key' in given) {
    const principal: Principal = await ownerOfKey(deps, request, given.api_key, 'API_KEY_INVALID');
    return principal;
  }
  const user = await userByPassword(deps, request, given);
  return { userId: user.id, apiKeyId: null };
}

function setCookie(deps: ApiDeps, reply: FastifyReply, token: string | undefined): void {
  if (token === undefined) throw new GatewayError('CREDENTIALS_MISSING');
  reply.setCookie(SESSION_COOKIE, token, { ...cookieOptions(deps), maxAge: SESSION_SECONDS });
  reply.header('Cache-Control', 'no-store');
}

function cookieOptions({ publicUrl }: ApiDeps) {
  const isTls = publicUrl.startsWith('https:');
  return { path: '/', httpOnly: true, sameSite: 'strict', secure: isTls } as const;
}

/** What the page's frame shows. */
async function shown({ store, version }: ApiDeps, userId: string) {
  const user = await store.users.get(userId);
  if (user === undefined) throw new GatewayError('USER_NOT_FOUND');
  return { user: { id: user.id, email: user.email, name: user.name }, version };
}
