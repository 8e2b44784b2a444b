// Access control of the API: tokens and passwords of users, the limit of invalid keys, and whether sign-up is open.
// Failed log-ins are counted in the store (log-in-limits.ts).

import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import { type AttemptAllowance, FailureLimiter } from './attempt-limit.ts';
import { type PasswordCost, Passwords } from './passwords.ts';
import { UserTokens } from './user-tokens.ts';

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
