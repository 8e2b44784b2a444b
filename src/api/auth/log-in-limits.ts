// Limits of log-ins and sign-ups, counted in the store over all processes: only refused log-ins count. Clients that have
// logged in to an account before, and requests with an API key of its organization, are counted apart from all others,
// which could otherwise lock out the owner.

import { codeOf } from '../../errors/gateway-error.ts';
import type { AttemptWindow } from '../../store/accounts/log-in-attempts.ts';
import type { Store } from '../../store/store.ts';

const MINUTE_MS = 60_000;

/** Failed log-ins for one address. People mistype a few times; at ten in a quarter of an hour a weak password takes
 *  a hundred years. */
const OF_ADDRESS: AttemptWindow = { attemptsMax: 10, windowMs: 15 * MINUTE_MS };
/** Failed log-ins of one client: an office behind one IP address has several people. */
const OF_CLIENT: AttemptWindow = { attemptsMax: 50, windowMs: 15 * MINUTE_MS };
/** Sign-ups of one client: each creates an organization. */
const SIGN_UPS_OF_CLIENT: AttemptWindow = { attemptsMax: 20, windowMs: 60 * MINUTE_MS };
/** Time from a log-in for which its client is known to the account. */
const KNOWN_MS = 90 * 24 * 60 * MINUTE_MS;

interface LimitDeps {
  store: Pick<Store, 'logInAttempts' | 'accounts' | 'users'>;
}

export interface LogInAttempt {
  /** E-mail address in lower case. */
  address: string;
  /** Name of the client (std/client-address). */
  client: string;
  /** The request's API key, if it has one. */
  key: string | undefined;
}

/** Counts a sign-up. Throws TOO_MANY_ATTEMPTS. */
export function countSignUp({ store }: LimitDeps, client: string): Promise<void> {
  return store.logInAttempts.count(`sign-up ${client}`, SIGN_UPS_OF_CLIENT);
}

/** Runs `prove` within the limits. Throws what it throws, and TOO_MANY_ATTEMPTS. */
export async function withinLogInLimits<Result>(
  { store }: LimitDeps,
  attempt: LogInAttempt,
  prove: () => Promise<Result>,
): Promise<Result> {
  const { logInAttempts: attempts } = store;
  const ofClient = `client ${attempt.client}`;
  const known = `known ${attempt.client} ${attempt.address}`;
  await attempts.count(ofClient, OF_CLIENT);
  const counted = await countedName(store, attempt, known);
  await attempts.count(counted, OF_ADDRESS);
  try {
    const result = await prove();
    await attempts.uncount(ofClient);
    await attempts.reset(counted);
    await attempts.remember(known, KNOWN_MS);
    return result;
  } catch (error) {
    if (codeOf(error) !== 'LOG_IN_REFUSED') {
      await attempts.uncount(ofClient);
      await attempts.uncount(counted);
    }
    throw error;
  }
}

/** Name under which the failures of an address are counted. */
async function countedName(
  { logInAttempts, accounts, users }: LimitDeps['store'],
  { address, client, key }: LogInAttempt,
  known: string,
): Promise<string> {
  if (await logInAttempts.isRemembered(known)) return `address ${address} at ${client}`;
  if (key === undefined || key === '') return `address ${address}`;
  const owner = await accounts.authenticate(key);
  const account = await users.findLogIn(address);
  const isOwn = owner !== undefined && owner.organizationId === account?.user.organizationId;
  return isOwn ? `address ${address} with key` : `address ${address}`;
}
