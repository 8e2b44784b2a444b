// Access control of the API: tokens and passwords of users, limits of failed attempts, and whether sign-up is open.

import type { Clock } from '../../std/clock.ts';
import { KnownClients } from '../../std/known-clients.ts';
import type { Random } from '../../std/random.ts';
import { type AttemptAllowance, FailureLimiter } from './attempt-limit.ts';
import { type PasswordCost, Passwords } from './passwords.ts';
import { UserTokens } from './user-tokens.ts';

const MINUTE_MS = 60_000;

/** Failed log-ins for one address. People mistype a few times; at ten in a quarter of an hour a weak password takes
 *  a hundred years. */
const LOG_INS_OF_ADDRESS: AttemptAllowance = { attemptsMax: 10, windowMs: 15 * MINUTE_MS };
/** Failed log-ins of one client: an office behind one IP address has several people. */
const LOG_INS_OF_CLIENT: AttemptAllowance = { attemptsMax: 50, windowMs: 15 * MINUTE_MS };
/** Sign-ups of one client: each creates an organization. */
const SIGN_UPS_OF_CLIENT: AttemptAllowance = { attemptsMax: 20, windowMs: 60 * MINUTE_MS };
/** Invalid keys of one client: a program with an archived key tries again and again. */
const BAD_KEYS_OF_CLIENT: AttemptAllowance = { attemptsMax: 100, windowMs: MINUTE_MS };
/** Pairs of a user's account and a client that are kept. */
const KNOWN_CLIENTS_MAX = 10_000;

export interface ApiAccess {
  tokens: UserTokens;
  passwords: Passwords;
  /** Whether sign-up is open to anyone; each sign-up creates an organization. */
  isSignUpOpen: boolean;
  logInsOfAddress: FailureLimiter;
  logInsOfClient: FailureLimiter;
  knownClients: KnownClients;
  signUpsOfClient: FailureLimiter;
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
  const limit = (allowance: AttemptAllowance) => new FailureLimiter(clock, allowance);
  return {
    tokens: new UserTokens({ clock, keys: tokenKeys, lifeHours: tokenHours }),
    passwords: new Passwords(random, options.passwordCost),
    isSignUpOpen,
    logInsOfAddress: limit(LOG_INS_OF_ADDRESS),
    logInsOfClient: limit(LOG_INS_OF_CLIENT),
    knownClients: new KnownClients({ pairsMax: KNOWN_CLIENTS_MAX }),
    signUpsOfClient: limit(SIGN_UPS_OF_CLIENT),
    badKeysOfClient: limit(options.badKeys ?? BAD_KEYS_OF_CLIENT),
  };
}
