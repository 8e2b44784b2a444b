// The answer to a call's webhook comes before the provider gives the call up, whatever the gateway waits for.

import { afterEach, describe, expect, it } from 'vitest';
import { answerInTime } from '../../../src/api/telephony/provider-webhook-routes.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { createProviders } from '../../../src/telephony/registry/registry.ts';
import { openSignUpEgress } from '../../fakes/egress.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import { withApi } from '../served.ts';

const clock = new FakeClock(Date.now());
const served = withApi(() => ({ clock }));
const headers = {
  'content-type': 'application/x-www-form-urlencoded',
  'user-agent': 'TwilioProxy/1.1',
  'x-twilio-signature': 'any',
};

afterEach(() => served.callService.release());

describe("a call's webhook that the gateway cannot answer yet", () => {
  it.each(['inbound/run', 'inbound/7', 'twilio/answer/42', 'twiml?workflow_run_id=42'])(
    'at %s gets an apology after 12 s, and not before',
    async (path) => {
      served.callService.hold();
      let isAnswered = false;
      const body = 'CallSid=CA1&AccountSid=AC1';
      const answering = served
        .call('POST', `/api/v1/telephony/${path}`, { key: null, body, headers })
        .finally(() => {
          isAnswered = true;
        });
      await served.callService.asked();
      await clock.advanceAsync(11_900);
      expect(isAnswered).toBe(false);
      await clock.advanceAsync(100);
      const { status, text } = await answering;
      expect(status).toBe(200);
      expect(text).toContain('<Say');
      expect(text).toContain('<Hangup');
    },
  );

  it('is answered before each provider gives up, and a later failure is no fault of its own', async () => {
    const { hosted } = createProviders({
      clock: systemClock,
      random: systemRandom,
      egress: openSignUpEgress(),
    });
    /** Milliseconds that the provider waits, where it documents them; of the others at least 10 s are assumed. */
    const limits = new Map([
      ['vonage', 5_000],
      ['twilio', 15_000],
      ['plivo', 40_000],
    ]);
    for (const provider of hosted) {
      const answeredAtMs: number[] = [];
      let fail: (error: Error) => void = () => undefined;
      const startMs = clock.monotonicMs();
      const late = provider.webhook.reject('error', null).reply;
      const answering = answerInTime({ clock, log: served.test.log }, provider, {
        work: new Promise((_resolve, reject) => {
          fail = reject;
        }),
        late: () => late,
      }).then((reply) => {
        answeredAtMs.push(clock.monotonicMs() - startMs);
        return reply;
      });
      await clock.advanceAsync(limits.get(provider.name) ?? 10_000);
      expect(await answering, provider.name).toBe(late);
      expect(answeredAtMs[0], provider.name).toBeLessThan(limits.get(provider.name) ?? 10_000);
      fail(new Error('the database is back, too late'));
      await settle();
    }
  });

  it('passes on what the call service refuses in time', async () => {
    const refused = answerInTime({ clock, log: served.test.log }, undefined, {
      work: Promise.reject(new Error('refused')),
      late: () => ({ status: 200, contentType: 'text/plain', body: '' }),
    });
    await expect(refused).rejects.toThrow('refused');
    expect(clock.timers).toBe(0);
  });
});
