// Rows of clips for calls: shared queries, and the last rows while the database answers late.

import { beforeEach, describe, expect, it } from 'vitest';
import { ClipLookup } from '../../../../src/call/start/setup/sound-library.ts';
import { GatewayError } from '../../../../src/errors/gateway-error.ts';
import type { Clip, ClipRef } from '../../../../src/model/clip.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';

const WELCOME: ClipRef[] = [{ by: 'name', value: 'welcome' }];
const row = (id: string) => ({ id, name: 'welcome' }) as Clip;

/** A store whose answers wait until the test gives them. */
class LateClips {
  readonly asked: { of: string; answer(rows: Clip[]): void; fail(): void }[] = [];

  find(of: string): Promise<Clip[]> {
    return new Promise((answer, reject) => {
      const fail = () => reject(new GatewayError('TIMED_OUT', { what: 'a query', ms: 10_000 }));
      this.asked.push({ of, answer, fail });
    });
  }
}

describe('rows of clips', () => {
  let clock: FakeClock;
  let clips: LateClips;
  let lookup: ClipLookup;

  beforeEach(() => {
    clock = new FakeClock();
    clips = new LateClips();
    lookup = new ClipLookup({ clips, clock, log: quietLog().log });
  });

  /** A first call has read the rows. */
  async function knownOf(of: string, ...rows: Clip[]): Promise<void> {
    const found = lookup.find(of, WELCOME);
    clips.asked.at(-1)?.answer(rows);
    await found;
  }

  it('are read once for the calls that ask at the same time, and again for a later one', async () => {
    const calls = Array.from({ length: 100 }, () => lookup.find('1', WELCOME));
    expect(clips.asked).toHaveLength(1);
    clips.asked[0]?.answer([row('7')]);
    expect(await Promise.all(calls)).toEqual(calls.map(() => [row('7')]));
    const later = lookup.find('1', WELCOME);
    expect(clips.asked).toHaveLength(2);
    clips.asked[1]?.answer([]);
    expect(await later).toEqual([]);
  });

  it('of one organization are not those of another', async () => {
    await knownOf('1', row('7'));
    const other = lookup.find('2', WELCOME);
    clock.advance(3_000);
    clips.asked.at(-1)?.answer([]);
    expect(await other).toEqual([]);
    expect(clips.asked.map(({ of }) => of)).toEqual(['1', '2']);
  });

  it('are those of an earlier call after 3 s, and the next answer replaces them', async () => {
    await knownOf('1', row('7'));
    const late = lookup.find('1', WELCOME);
    clock.advance(3_000);
    expect(await late).toEqual([row('7')]);
    const joined = lookup.find('1', WELCOME);
    clips.asked.at(-1)?.answer([row('8')]);
    expect(await joined).toEqual([row('8')]);
    const next = lookup.find('1', WELCOME);
    clock.advance(3_000);
    expect(await next).toEqual([row('8')]);
  });

  it('are those of an earlier call if the query fails', async () => {
    await knownOf('1', row('7'));
    const failing = lookup.find('1', WELCOME);
    clips.asked.at(-1)?.fail();
    expect(await failing).toEqual([row('7')]);
  });

  it('that no call has read are waited for', async () => {
    const first = lookup.find('1', WELCOME);
    clock.advance(9_000);
    clips.asked[0]?.answer([row('7')]);
    expect(await first).toEqual([row('7')]);
    const failing = new ClipLookup({ clips, clock, log: quietLog().log }).find('1', WELCOME);
    clips.asked.at(-1)?.fail();
    await expect(failing).rejects.toMatchObject({ code: 'TIMED_OUT' });
  });

  it('are kept for 500 questions, the least recently read first out', async () => {
    for (let i = 0; i <= 500; i++) await knownOf(String(i), row(String(i)));
    const kept = lookup.find('1', WELCOME);
    const gone = lookup.find('0', WELCOME);
    clock.advance(3_000);
    expect(await kept).toEqual([row('1')]);
    clips.asked.at(-1)?.answer([]);
    expect(await gone).toEqual([]);
  });
});
