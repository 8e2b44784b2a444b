// Access control of the API: tokens and passwords of users, the limit of invalid keys, and whether sign-up is open.
// Failed log-ins are counted in the store (log-in-limits.ts).

import { errors, jwtVerify, SignJWT } from 'jose';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import { type AttemptAllowance, FailureLimiter } from './attempt-limit.ts';
import { type PasswordCost, Passwords } from './passwords.ts';

const MINUTE_MS = 60_000;

/** Invalid keys of one client: a program with an archived key tries again and again. */
const BAD_KEYS_OF_CLIENT: AttemptAllowance = { attemptsMax: 100, windowMs: MINUTE_MS };

export interface ApiAccess {
  tokens: UserTokens;
  passwords: Passwords;
  /** Whether sign-up is open to anyone; each sign-up creates an organization. */
  isSignUpOpen: boolean;
  badKeysOfClient: FailureLimiter;
}

export interface AccessOptions {
  clock: Clock;
  random: Random;
  isSignUpOpen: boolean;
  tokenKeys: readonly Uint8Array[];
  tokenHours: number;
  /** Cost of password hashes. Default: that of passwords.ts. */
  passwordCost?: PasswordCost;
  /** Allowance of invalid keys. Default: 100 in a minute. */
  badKeys?: AttemptAllowance;
}

export function createAccess(options: AccessOptions): ApiAccess {
  const { clock, random, isSignUpOpen, tokenKeys, tokenHours } = options;
  return {
    tokens: new UserTokens({ clock, keys: tokenKeys, lifeHours: tokenHours }),
    passwords: new Passwords(random, options.passwordCost),
    isSignUpOpen,
    badKeysOfClient: new FailureLimiter(clock, options.badKeys ?? BAD_KEYS_OF_CLIENT),
  };
}

const ALGORITHM = 'HS256';
/** Longest token that is verified; ours have about 250 characters. */
const TOKEN_CHARACTERS_MAX = 4_096;

interface UserTokensOptions {
  clock: Clock;
  /** Keys of at least 32 bytes: the first one signs, all verify. */
  keys: readonly Uint8Array[];
  lifeHours: number;
}

/** User tokens, issued at log-in: a JSON Web Token, signed by HS256, that names the user for
 *  some weeks. Tokens are not stored; the store checks the user at every request. Source:
 *  contract §3.2. */
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
