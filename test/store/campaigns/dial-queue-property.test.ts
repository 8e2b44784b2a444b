// Whatever order claims, dials, kills, statuses, duplicates and late answers come in: nobody is on two
// lines at a time, nobody is called more often than is due, and what is counted is what happened.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rounds } from '../../rounds.ts';
import { withStore } from '../engines.ts';
import { type Queue, queueOf } from './dial-queue-fixture.ts';
import { type Chosen, Exchange, type Plain } from './dial-queue-model.ts';

const CONTACTS = 4;
const RUNS = rounds(20, 200);

const chosen = (type: Chosen['type']) => fc.record({ type: fc.constant(type), which: fc.nat(9) });
const plain = (type: Plain['type']) => fc.record({ type: fc.constant(type) });
const claim = fc.record({
  type: fc.constant('claim' as const),
  count: fc.integer({ min: 1, max: 4 }),
});
const wait = fc.record({ type: fc.constant('wait' as const), s: fc.constantFrom(1, 20, 40, 130) });
const settle = fc.record({ type: fc.constant('settle' as const), again: fc.boolean() });

/** What campaigns are made of comes most often, else hardly a story gets to its second call. */
const step = fc.oneof(
  { weight: 6, arbitrary: claim },
  { weight: 6, arbitrary: chosen('begin') },
  { weight: 6, arbitrary: chosen('send') },
  { weight: 3, arbitrary: wait },
  { weight: 3, arbitrary: settle },
  { weight: 3, arbitrary: plain('return lapsed') },
  { weight: 3, arbitrary: chosen('hang up') },
  { weight: 2, arbitrary: chosen('bind') },
  { weight: 2, arbitrary: chosen('refuse') },
  chosen('refuse although bound'),
  { weight: 2, arbitrary: chosen('put off') },
  chosen('put off although bound'),
  chosen('answer'),
  chosen('note placed'),
  chosen('settle twice'),
  plain('restart'),
  plain('pause'),
  { weight: 2, arbitrary: plain('resume') },
  plain('complete'),
  plain('provider fails'),
  { weight: 2, arbitrary: plain('provider answers') },
);
/** Steps of one group happen at once. */
const story = fc.array(fc.array(step, { minLength: 1, maxLength: 4, size: 'max' }), {
  minLength: 10,
  maxLength: 30,
  size: 'max',
});

describe('the dial queue under any interleaving', () => {
  const test = withStore('embedded');

  it('keeps one line per contact and counts what happened', async () => {
    await fc.assert(
      fc.asyncProperty(story, async (groups) => {
        await test.sql('delete from campaigns');
        await test.sql('delete from telephony_configurations');
        const queue: Queue = await queueOf(test, CONTACTS);
        const exchange = new Exchange(test, queue);
        for (const group of groups) {
          await Promise.all(group.map((each) => exchange.take(each)));
          expect(exchange.faults).toEqual([]);
          await expectConsistent(queue);
        }
      }),
      { numRuns: RUNS },
    );
  }, 600_000);

  async function expectConsistent(queue: Queue): Promise<void> {
    const contacts = await test.sql(
      `select c.state, c.attempts, c.interruptions, c.retry_reason,
        (select count(*)::int from campaign_attempts a where a.contact_id = c.id) as made,
        (select count(*)::int from campaign_attempts a where a.contact_id = c.id and a.state <> 'ended') as open,
        (select max(number) from campaign_attempts a where a.contact_id = c.id) as last
       from campaign_contacts c where c.campaign_id = $1`,
      [queue.campaignId],
    );
    for (const contact of contacts) {
      expect(contact['made']).toBe(contact['attempts']);
      expect(contact['last'] ?? 0).toBe(contact['attempts']);
      expect(contact['open']).toBe(contact['state'] === 'calling' ? 1 : 0);
      if (contact['state'] === 'fresh') expect(contact['attempts']).toBe(0);
      expect(Number(contact['attempts'])).toBeLessThanOrEqual(3);
    }
    const counts = (await test.store.contacts.counts([queue.campaignId])).get(queue.campaignId);
    const attempts = await test.sql(
      'select state, number, retry_reason from campaign_attempts where campaign_id = $1',
      [queue.campaignId],
    );
    const waiting = contacts.filter(({ state }) => state === 'waiting');
    const retries = attempts.filter(({ number }) => Number(number) > 1);
    const busy = [...retries, ...waiting].filter(({ retry_reason: why }) => why === 'busy');
    expect(counts).toEqual({
      contacts: CONTACTS,
      attempted: contacts.filter(({ made }) => Number(made) > 0).length,
      reached: contacts.filter(({ state }) => state === 'reached').length,
      failed: contacts.filter(({ state }) => state === 'failed').length,
      inFlight: attempts.filter(({ state }) => state !== 'ended').length,
      executed: attempts.filter(({ state }) => state === 'ended').length,
      attempts: CONTACTS + retries.length + waiting.length,
      retries: retries.length + waiting.length,
      retriesPending: waiting.length,
      retriesBy: { busy: busy.length, no_answer: 0, voicemail: 0 },
    });
  }
});
