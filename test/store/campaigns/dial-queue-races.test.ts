// Races of the dial queue: whatever processes do at once, a contact has one call at a time.

import { beforeEach, describe, expect, it } from 'vitest';
import type { ClaimedAttempt } from '../../../src/store/campaigns/dial-attempts.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { type Queue, queueOf } from './dial-queue-fixture.ts';

describe.each(engines())('races of the dial queue on the %s engine', (engine) => {
  const test = withStore(engine);
  let queue: Queue;
  const contacts = () => test.store.contacts;

  beforeEach(async () => {
    queue = await queueOf(test, 2);
  });

  async function claimBoth(): Promise<[ClaimedAttempt, ClaimedAttempt]> {
    const [first, second] = await queue.claim();
    if (first === undefined || second === undefined) throw new Error('nobody is due');
    return [first, second];
  }

  it('never begins a claim that has lapsed', async () => {
    const [first] = await claimBoth();
    test.clock.advance(31_000);
    expect(await queue.begin(first)).toBeUndefined();
  });

  it('never begins a claim of another process', async () => {
    const [first] = await claimBoth();
    await test.sql("update campaign_attempts set node = 'other'");
    expect(await queue.begin(first)).toBeUndefined();
    expect(await test.sql('select id from runs')).toEqual([]);
  });

  it.runIf(engine === 'server')(
    'begins one that was changed while it waited for its row',
    async () => {
      const [first] = await claimBoth();
      await test.sql('begin');
      await test.sql("update campaign_attempts set lease_until = lease_until + interval '1 s'");
      const begun = queue.begin(first);
      for (;;) {
        const rows = await test.sql('select 1 from pg_locks where not granted');
        if (rows.length > 0) break;
      }
      await test.sql('commit');
      const { id } = (await begun) ?? {};
      const states = await test.sql('select state, run_id from campaign_attempts order by id');
      expect(states).toEqual([
        { state: 'dialling', run_id: id },
        { state: 'claimed', run_id: null },
      ]);
    },
  );

  it('never gives back, as a lapsed claim, an attempt that was begun meanwhile', async () => {
    const [first, second] = await claimBoth();
    test.clock.advance(31_000);
    // The return of the first contact waits for its row; the second attempt is begun in that time.
    const hold = engine === 'server' ? await held(first.contactId) : undefined;
    const returned = contacts().releaseClaims(undefined);
    if (hold !== undefined) await hold.isAwaited();
    const run = await queue.begin(second);
    await hold?.release();
    await returned;
    const again = await queue.claim();
    const isCalledTwice =
      run !== undefined && again.some(({ contactId }) => contactId === second.contactId);
    expect(isCalledTwice).toBe(false);
    if (run !== undefined) expect(await test.store.runs.find(run.id)).toBeDefined();
  });

  /** A lock on a contact's row, by the test's own connection. */
  async function held(contactId: string) {
    await test.sql('begin');
    await test.sql('select id from campaign_contacts where id = $1 for update', [contactId]);
    return {
      isAwaited: async () => {
        for (;;) {
          const rows = await test.sql('select 1 from pg_locks where not granted');
          if (rows.length > 0) return;
        }
      },
      release: () => test.sql('commit'),
    };
  }

  it('never returns an attempt whose run has its call', async () => {
    const [first] = await claimBoth();
    const run = await queue.begin(first);
    await test.store.runs.patch(run?.id ?? '', { providerCallId: 'CA1' });
    await contacts().releaseAttempt(first.attemptId, 0);
    expect(await queue.claim()).toEqual([]);
  });

  it('never gives back an attempt whose call was answered', async () => {
    const [first] = await claimBoth();
    const run = await queue.begin(first);
    await test.store.runs.patch(run?.id ?? '', { state: 'running' });
    await contacts().releaseAttempt(first.attemptId, 0);
    expect(await queue.claim()).toEqual([]);
  });
});
