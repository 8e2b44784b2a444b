// Calls that ring while the database restarts. On a busy machine it was away for 15 to 28 s, and each caller heard the
// apology at once.

import { describe, expect, it } from 'vitest';
import { StoreWait } from '../../../src/call/start/store-wait.ts';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import type { WebhookReply } from '../../../src/telephony/provider/provider.ts';
import { createProviders } from '../../../src/telephony/registry/registry.ts';
import { openSignUpEgress } from '../../fakes/egress.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { type CallHarness, withCallHarness } from '../call-harness.ts';

const held = withCallHarness();

/** Rejects as a database does that is away for `ms`, then does what `work` does. */
function awayFor<A extends unknown[], T>(
  { clock }: CallHarness,
  ms: number,
  work: (...of: A) => Promise<T>,
): (...of: A) => Promise<T> {
  const untilMs = clock.monotonicMs() + ms;
  return (...of) =>
    clock.monotonicMs() < untilMs
      ? Promise.reject(new GatewayError('STORE_UNAVAILABLE'))
      : work(...of);
}

/** The reply, and the seconds after which it came. */
async function answered(
  harness: CallHarness,
  answering: Promise<WebhookReply>,
): Promise<{ body: string; seconds: number }> {
  const sinceMs = harness.clock.monotonicMs();
  const replies: WebhookReply[] = [];
  void answering.then((reply) => replies.push(reply));
  await harness.passThrough(() => replies.length > 0);
  const seconds = (harness.clock.monotonicMs() - sinceMs) / 1_000;
  return { body: replies[0]?.body ?? '', seconds };
}

describe('while the database is away', () => {
  it('a caller rings on for up to 10 s, and is answered when it is back', async () => {
    const harness = await held.harness.prepare();
    const { runs } = harness.deps.store;
    runs.create = awayFor(harness, 7_000, runs.create.bind(runs));
    const { body, seconds } = await answered(harness, harness.ring());
    expect(body).toContain('<Stream');
    expect(seconds).toBeGreaterThanOrEqual(7);
    expect(await harness.runs()).toHaveLength(1);
    expect(harness.lines.filter(({ msg }) => msg === 'a call waits for the database')).toHaveLength(
      1,
    );
  });

  it('a caller hears that something went wrong only after 10 s', async () => {
    const harness = await held.harness.prepare();
    const { runs } = harness.deps.store;
    runs.create = awayFor(harness, 60_000, runs.create.bind(runs));
    const { body, seconds } = await answered(harness, harness.ring());
    expect(body).toContain('something went wrong');
    expect(seconds).toBeGreaterThanOrEqual(9.5);
  });

  it('an answered call is connected when it is back, and its run is not closed meanwhile', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    const { store } = harness.deps;
    const { reportedCalls, runs } = store;
    const find = awayFor(harness, 3_000, reportedCalls.find.bind(reportedCalls));
    Object.assign(store, { reportedCalls: { find } });
    runs.takeOver = awayFor(harness, 6_000, runs.takeOver.bind(runs));
    const { body, seconds } = await answered(harness, harness.pickUp(runId));
    expect(body).toContain('<Stream');
    expect(seconds).toBeGreaterThanOrEqual(6);
    expect((await harness.run(runId)).state).toBe('initialized');
  });
});

it('no call waits for longer than its provider', async () => {
  const providers = createProviders(options());
  const waits: Record<string, number> = {};
  for (const provider of [...providers.hosted, ...providers.pbx]) {
    const clock = new FakeClock();
    const wait = new StoreWait({ clock, log: quietLog().log }, provider);
    let isOver = false;
    const waiting = wait
      .repeat(() => Promise.reject(new GatewayError('STORE_UNAVAILABLE')))
      .catch(() => {
        isOver = true;
      });
    while (!isOver) await clock.advanceAsync(500, 500);
    await waiting;
    waits[provider.name] = clock.monotonicMs();
  }
  expect(waits).toMatchObject({
    ari: 10_000,
    twilio: 10_000,
    telnyx: 10_000,
    plivo: 10_000,
    vobiz: 7_500,
    vonage: 3_500,
    cloudonix: 7_500,
  });
});

it('what is no fault of the store is not repeated', async () => {
  const [provider] = createProviders(options()).hosted;
  if (provider === undefined) throw new Error('no provider');
  const wait = new StoreWait({ clock: new FakeClock(), log: quietLog().log }, provider);
  let attempts = 0;
  const work = () => {
    attempts += 1;
    return Promise.reject(new GatewayError('CALL_LIMIT_REACHED'));
  };
  await expect(wait.repeat(work)).rejects.toMatchObject({ code: 'CALL_LIMIT_REACHED' });
  expect(attempts).toBe(1);
});

function options() {
  return { clock: systemClock, random: systemRandom, egress: openSignUpEgress() };
}
