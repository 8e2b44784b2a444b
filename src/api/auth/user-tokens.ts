// User tokens, issued at log-in: a JSON Web Token, signed by HS256, that names the user for some weeks. Tokens are not
// stored; the store checks the user at every request. Source: contract §3.2.

import { errors, jwtVerify, SignJWT } from 'jose';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../std/clock.ts';

const ALGORITHM = 'HS256';
/** Longest token that is verified; ours have about 250 characters. */
const TOKEN_CHARACTERS_MAX = 4_096;

export interface UserTokensOptions {
  clock: Clock;
  /** Keys of at least 32 bytes: the first one signs, all verify. */
  keys: readonly Uint8Array[];
  lifeHours: number;
}

export class UserTokens {
  readonly #clock: Clock;
  readonly #keys: readonly Uint8Array[];
  readonly #lifeS: number;

  constructor({ clock, keys, lifeHours }: UserTokensOptions) {
    this.#clock = clock;
    this.#keys = keys;
    this.#lifeS = lifeHours * 3_600;
  }

  issue(user: { id: string; email: string | null }): Promise<string> {
    const [newest] = this.#keys;
    if (newest === undefined) throw new GatewayError('SECRET_KEY_MISSING', { keyId: 'any' });
    const issuedAt = Math.floor(this.#clock.now() / 1_000);
    return new SignJWT({ email: user.email })
      .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
      .setSubject(user.id)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + this.#lifeS)
      .sign(newest);
  }

  /** Id of a token's user; undefined if the token is not ours, forged or expired. */
  async userOf(token: string): Promise<string | undefined> {
    if (token.length > TOKEN_CHARACTERS_MAX) return undefined;
    for (const key of this.#keys) {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: [ALGORITHM],
          requiredClaims: ['sub', 'exp'],
          currentDate: new Date(this.#clock.now()),
        });
        return payload.sub;
      } catch (error) {
        // Another key may have signed the token; other faults are final.
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) return undefined;
      }
    }
    return undefined;
  }
}
