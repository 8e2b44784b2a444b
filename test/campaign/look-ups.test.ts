// When it is proved that a provider has no call: the exact moments. What follows from it is dial-faults.test.ts.

import { beforeEach, describe, expect, it } from 'vitest';
import type { Fate } from '../../src/call/start/outbound/campaign-plans.ts';
import { LookUps, type Verdict } from '../../src/campaign/look-ups.ts';
import { GatewayError } from '../../src/errors/gateway-error.ts';
import type { OpenAttempt } from '../../src/store/campaigns/dial-attempts.ts';
import { completedRun } from '../fakes/call/completed-run.ts';
import { FakeClock, settle } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';

let clock: FakeClock;
let lookUps: LookUps;
let attempt: OpenAttempt;
let asked: number;
let startAt: number;
let missedAt: number | undefined;
let answer: () => Promise<Fate>;
const run = completedRun({ state: 'initialized', providerCallId: null });

beforeEach(() => {
  clock = new FakeClock();
  asked = 0;
  startAt = clock.now();
  missedAt = undefined;
  answer = async () => 'none';
  lookUps = newLookUps();
  attempt = {
    id: '1',
    campaignId: '1',
    contactId: '1',
    phoneNumber: '+1',
    number: 1,
    interruptions: 0,
    state: 'dialling',
    node: 'n',
    run,
    isInDoubt: true,
    unclearMs: 0,
    missedMs: null,
    putOffs: 0,
    putOffMs: null,
  };
});

function newLookUps(): LookUps {
  const contacts = {
    missed: async () => {
      missedAt ??= clock.now();
    },
    placed: async () => {
      attempt = { ...attempt, state: 'placed' };
    },
  };
  const fateOf = (): Promise<Fate> => {
    asked += 1;
    return answer();
  };
  const { log } = quietLog();
  return new LookUps(
    { store: { contacts }, calls: { outcomeAfterCrash: fateOf }, clock, log },
    () => undefined,
  );
}

/** As a look of the dispatcher, and what the provider says to it. */
async function look(of = run): Promise<Verdict | undefined> {
  const unclearMs = clock.now() - startAt;
  const missedMs = missedAt === undefined ? null : clock.now() - missedAt;
  lookUps.verdictOf({ ...attempt, unclearMs, missedMs }, of);
  await settle();
  return lookUps.verdictOf({ ...attempt, unclearMs, missedMs }, of);
}

/** Looks twice a second, as the dispatcher does. */
async function looksFor(ms: number): Promise<Verdict | undefined> {
  let verdict = await look();
  for (let passed = 0; passed < ms && verdict === undefined; passed += 500) {
    clock.advance(500);
    verdict = await look();
  }
  return verdict;
}

describe('that a provider has no call', () => {
  it('is not proved by any number of look-ups within 60 s', async () => {
    expect(await looksFor(59_500)).toBeUndefined();
    expect(asked).toBe(2);
  });

  it('is proved by two that are 60 s apart', async () => {
    expect(await looksFor(62_000)).toBe('not-there');
    expect(asked).toBe(3);
  });

  it.each([
    [59_999, undefined],
    [60_000, 'not-there'],
  ])('is, where the first was %d ms before this process began, %s', async (ms, verdict) => {
    missedAt = clock.now() - ms;
    expect(await look()).toBe(verdict);
  });

  it('is not proved by look-ups that fail', async () => {
    answer = async () => {
      throw new GatewayError('PROVIDER_FAILED', { provider: 'twilio', reason: 'HTTP 503' });
    };
    expect(await looksFor(600_000)).toBeUndefined();
    expect(missedAt).toBeUndefined();
    // 15 s, 30 s, 60 s, and every two minutes.
    expect(asked).toBe(8);
  });

  it('is reported again once a call is known', async () => {
    expect(await looksFor(62_000)).toBe('not-there');
    answer = async () => 'busy';
    const known = completedRun({ providerCallId: 'CA1' });
    expect(await look(known)).toBe('busy');
  });
});

it('a call that cannot be looked up for a day is unknown', async () => {
  answer = async () => {
    throw new GatewayError('PROVIDER_FAILED', { provider: 'twilio', reason: 'HTTP 503' });
  };
  await look();
  clock.advance(24 * 3_600_000 - 1_000);
  expect(await look()).toBeUndefined();
  clock.advance(120_000);
  expect(await look()).toBe('unknown');
});

it('a call that is found in doubt goes on, and nothing is settled', async () => {
  answer = async () => 'there';
  expect(await look()).toBeUndefined();
  expect(attempt.state).toBe('placed');
});

it('a provider is asked for eight calls at a time', async () => {
  answer = () => new Promise(() => undefined);
  for (let id = 1; id <= 20; id += 1) lookUps.verdictOf({ ...attempt, id: String(id) }, run);
  await settle();
  expect(asked).toBe(8);
});
