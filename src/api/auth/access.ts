// Access control of the API: tokens and passwords of users, the limit of invalid keys, and whether sign-up is open.
// Failed log-ins are counted in the store (log-in-limits.ts).

import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import { type AttemptAllowance, FailureLimiter } from './attempt-limit.ts';
import { ConsoleSessions } from './console-sessions.ts';
import { type PasswordCost, Passwords } from './passwords.ts';
import { signedToken, verifiedClaims } from './signed-tokens.ts';

const MINUTE_MS = 60_000;

/** Invalid keys of one client: a program with an archived key tries again and again. */
const BAD_KEYS_OF_CLIENT: AttemptAllowance = { attemptsMax: 100, windowMs: MINUTE_MS };

export interface ApiAccess {
  tokens: UserTokens;
  /** Sessions of the console; undefined while it is off. */
  sessions: ConsoleSessions | undefined;
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
  /** Whether the console is on. Default: true. */
  hasConsole?: boolean;
  /** Cost of password hashes. Default: that of passwords.ts. */
  passwordCost?: PasswordCost;
  /** Allowance of invalid keys. Default: 100 in a minute. */
  badKeys?: AttemptAllowance;
}

export function createAccess(options: AccessOptions): ApiAccess {
  const { clock, random, isSignUpOpen, tokenKeys, tokenHours, hasConsole = true } = options;
  return {
    tokens: new UserTokens({ clock, keys: tokenKeys, lifeHours: tokenHours }),
    sessions: hasConsole ? new ConsoleSessions(clock, tokenKeys) : undefined,
    passwords: new Passwords(random, options.passwordCost),
    isSignUpOpen,
    badKeysOfClient: new FailureLimiter(clock, options.badKeys ?? BAD_KEYS_OF_CLIENT),
  };
}

interface UserTokensOptions {
  clock: Clock;
  /** Keys of at least 32 bytes: the first one signs, all verify. */
  keys: readonly Uint8Array[];
  lifeHours: number;
}

/** User tokens, issued at log-in: a JSON Web Token that names the user for some weeks. Tokens are not stored; the store
 *  checks the user at every request. Source: contract §3.2. */
export class UserTokens {
  readonly #clock: Clock;
  readonly #keys: readonly Uint8Array[];
  readonly #lifeS: number;

  constructor({ clock, keys, lifeHours }: UserTokensOptions) {
    this.#clock = clock;
    this.#keys = keys;
    this.#lifeS = lifeHours * 3_600;
  }

  issue({ id, email }: { id: string; email: string | null }): Promise<string> {
    const options = { clock: this.#clock, keys: this.#keys, lifeS: this.#lifeS };
    return signedToken({ email, sub: id }, options);
  }

  /** Id of a token's user; undefined if the token is not ours, forged or expired. */
  async userOf(token: string): Promise<string | undefined> {
    const claims = await verifiedClaims(token, { clock: this.#clock, keys: this.#keys });
    return claims?.sub;
  }
}
