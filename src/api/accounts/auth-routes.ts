// Routes to sign up, log in, and read the current user: /auth. Source: contract §3.2 and §3.3.

import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../../errors/gateway-error.ts';
import { clientName } from '../../std/client-address.ts';
import type { User } from '../../store/accounts/users.ts';
import { countSignUp, withinLogInLimits } from '../auth/log-in-limits.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { ownerOfKey, principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { CREDENTIALS_BYTES_MAX } from '../http/request-bodies.ts';
import { type LoginBody, loggedIn, logIn, signUp, userOnWire, userOut } from './user-schema.ts';

/** Authentication provider of the gateway itself; with another provider every route here answers 404. */
const OWN_PROVIDER = 'local';
const common = { tags: ['accounts'] };
const ELSEWHERE = [
  ['POST', '/auth/signup'],
  ['POST', '/auth/login'],
  ['GET', '/auth/me'],
] as const;

/** Routes that take no key. */
export function logInRoutes(api: Api, deps: ApiDeps): void {
  if (deps.authProvider !== OWN_PROVIDER) {
    elsewhere(api);
    return;
  }

  api.post(
    '/auth/signup',
    {
      bodyLimit: CREDENTIALS_BYTES_MAX,
      schema: {
        ...common,
        operationId: 'signUp',
        summary: 'Sign up',
        description:
          "A new user in a new organization; with an API key, a log-in for the key's user.",
        body: signUp,
        response: {
          200: loggedIn,
          ...faults(
            'SIGN_UP_CLOSED',
            'EMAIL_TAKEN',
            'LOG_IN_EXISTS',
            'API_KEY_INVALID',
            'LOG_IN_ELSEWHERE',
            'TOO_MANY_ATTEMPTS',
          ),
        },
      },
    },
    async (request) => {
      const { email, password, name } = request.body;
      const claim = await claimOf(deps, request);
      if (claim === undefined) await countSignUp(deps, clientName(request.ip));
      const passwordHash = await deps.access.passwords.hash(password);
      const user = await claimedOrNew(deps, claim, { email, passwordHash }, name ?? null);
      return session(deps, user);
    },
  );

  api.post(
    '/auth/login',
    {
      bodyLimit: CREDENTIALS_BYTES_MAX,
      schema: {
        ...common,
        operationId: 'logIn',
        summary: 'Log in',
        description: 'A token for a user with email and password.',
        body: logIn,
        response: {
          200: loggedIn,
          ...faults('LOG_IN_REFUSED', 'LOG_IN_ELSEWHERE', 'TOO_MANY_ATTEMPTS'),
        },
      },
    },
    async (request) => session(deps, await userByPassword(deps, request, request.body)),
  );
}

/** Routes behind the guard. */
export function authRoutes(api: Api, deps: ApiDeps): void {
  if (deps.authProvider !== OWN_PROVIDER) return;

  api.get(
    '/auth/me',
    {
      schema: {
        ...common,
        security: keyRequired,
        operationId: 'getOwnUser',
        summary: 'Get the profile',
        description: "The user whose credentials ask, and the user's organization.",
        response: { 200: userOut, ...faults('LOG_IN_ELSEWHERE') },
      },
    },
    async (request) => {
      const user = await deps.store.users.get(principalOf(request).userId);
      if (user === undefined) throw new GatewayError('USER_NOT_FOUND');
      return userOnWire(user);
    },
  );
}

/** The route that clients check first. Its reply names the authentication provider in the contract's term. */
function elsewhere(api: Api): void {
  for (const [method, url] of ELSEWHERE) {
    api.route({
      method,
      url,
      schema: { hide: true },
      handler: async () => {
        throw new GatewayError('LOG_IN_ELSEWHERE');
      },
    });
  }
}

async function session(deps: ApiDeps, user: User) {
  return { token: await deps.access.tokens.issue(user), user: userOnWire(user) };
}

/** User of the request's key, for a sign-up. Throws API_KEY_INVALID, and SIGN_UP_CLOSED without a key while sign-up
 *  is closed. */
async function claimOf(deps: ApiDeps, request: FastifyRequest): Promise<string | undefined> {
  const key = request.headers['x-api-key'];
  if (typeof key === 'string') {
    return (await ownerOfKey(deps, request, key, 'API_KEY_INVALID')).userId;
  }
  if (!deps.access.isSignUpOpen) throw new GatewayError('SIGN_UP_CLOSED');
  return undefined;
}

/** Throws EMAIL_TAKEN, LOG_IN_EXISTS. */
async function claimedOrNew(
  { store }: ApiDeps,
  userId: string | undefined,
  logIn: { email: string; passwordHash: string },
  name: string | null,
): Promise<User> {
  if (userId === undefined) return store.users.signUp(logIn, name);
  const user = await store.users.giveLogIn(userId, logIn);
  if (user === undefined) throw new GatewayError('LOG_IN_EXISTS');
  return user;
}

/** The user of a password; only refused log-ins count as attempts. Throws LOG_IN_REFUSED, LOG_IN_ELSEWHERE,
 *  TOO_MANY_ATTEMPTS, QUEUE_FULL. */
export async function userByPassword(
  deps: ApiDeps,
  request: FastifyRequest,
  body: LoginBody,
): Promise<User> {
  if (deps.authProvider !== OWN_PROVIDER) throw new GatewayError('LOG_IN_ELSEWHERE');
  const key = request.headers['x-api-key'];
  const attempt = {
    address: body.email.toLowerCase(),
    client: clientName(request.ip),
    key: typeof key === 'string' ? key : undefined,
  };
  return withinLogInLimits(deps, attempt, () => provenUser(deps, body));
}

/** Checks a password. Takes as long for an unknown address as for a wrong password. */
async function provenUser(
  { store, access }: ApiDeps,
  { email, password }: LoginBody,
): Promise<User> {
  const known = await store.users.findLogIn(email);
  const isRight = await access.passwords.verify(password, known?.passwordHash);
  if (!isRight || known === undefined) throw new GatewayError('LOG_IN_REFUSED');
  return known.user;
}
