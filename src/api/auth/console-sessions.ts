// Sessions of the console: a signed token in a cookie that scripts cannot read. It names the user, and the API key that
// the user logged in with, which ends the session when it is archived. The keys are derived from those of users' tokens,
// so that neither passes for the other.

import { createHmac } from 'node:crypto';
import type { Clock } from '../../std/clock.ts';
import type { Principal } from '../../store/accounts/accounts.ts';
import type { Store } from '../../store/store.ts';
import { signedToken, verifiedClaims } from './signed-tokens.ts';

/** A working day; a page that is loaded renews its session. */
export const SESSION_SECONDS = 12 * 3_600;
/** From the log-in, however often it is renewed: 30 days, as long as a token of a user. A copied cookie ends then. */
const SECONDS_MAX = 30 * 24 * 3_600;

export interface ConsoleSession {
  userId: string;
  /** Null for a log-in with a password. */
  apiKeyId: string | null;
}

export class ConsoleSessions {
  readonly #clock: Clock;
  readonly #keys: readonly Uint8Array[];

  /** `keys`: those of users' tokens; the first one signs, all verify. */
  constructor(clock: Clock, keys: readonly Uint8Array[]) {
    this.#clock = clock;
    this.#keys = keys.map((key) => createHmac('sha256', key).update('console session').digest());
  }

  /** The token of a session that begins now. */
  issue(session: ConsoleSession): Promise<string> {
    return this.#signed(session, this.#nowS());
  }

  /** The token of a session that goes on with `session`; undefined if `token` is none. */
  async renew(token: string, session: ConsoleSession): Promise<string | undefined> {
    const claims = await verifiedClaims(token, { keys: this.#keys, clock: this.#clock });
    if (claims === undefined) return undefined;
    const { auth_time: beganAtS = claims.iat } = claims;
    return this.#signed(session, typeof beganAtS === 'number' ? beganAtS : this.#nowS());
  }

  /** The principal of a session; undefined if it is over, forged, or its user or key is gone. */
  async principalOf(
    token: string,
    store: Pick<Store, 'users' | 'accounts'>,
  ): Promise<Principal | undefined> {
    const claims = await verifiedClaims(token, { keys: this.#keys, clock: this.#clock });
    if (claims?.sub === undefined) return undefined;
    const apiKeyId = typeof claims['key'] === 'string' ? claims['key'] : null;
    const user = await store.users.get(claims.sub);
    if (user === undefined) return undefined;
    const { organizationId, id: userId } = user;
    const isOver =
      apiKeyId !== null && !(await store.accounts.isKeyActive(organizationId, apiKeyId));
    return isOver ? undefined : { organizationId, userId, apiKeyId };
  }

  /** `beganAtS`: when the user logged in, `auth_time` of OpenID Connect. */
  #signed({ userId, apiKeyId }: ConsoleSession, beganAtS: number): Promise<string> {
    const key = apiKeyId === null ? {} : { key: apiKeyId };
    const lifeS = Math.min(SESSION_SECONDS, beganAtS + SECONDS_MAX - this.#nowS());
    const options = { keys: this.#keys, lifeS, clock: this.#clock };
    return signedToken({ sub: userId, auth_time: beganAtS, ...key }, options);
  }

  #nowS(): number {
    return Math.floor(this.#clock.now() / 1_000);
  }
}
