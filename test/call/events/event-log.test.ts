// What the event log keeps and stores, and which of its events count.

import { describe, expect, it } from 'vitest';
import { EventLog, effectiveEvents } from '../../../src/call/events/event-log.ts';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { eventsStored } from '../../../src/metrics/metrics.ts';
import type { CallEvent, CallEventBody } from '../../../src/model/call-event.ts';
import { currentShare, inShare, organizationShare } from '../../../src/std/work-share.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

/** The store takes no event of it. */
const REFUSED = '13';
/** Another process has taken it over. */
const TAKEN = '14';

/** A store of events that can fail on demand, and that notices events out of order. */
class FakeSink {
  readonly stored: CallEvent[] = [];
  failures = 0;
  batches = 0;
  /** Whose share of the database each batch took. */
  readonly shares: (string | undefined)[] = [];

  async appendEvents(events: readonly CallEvent[]): Promise<readonly string[]> {
    await Promise.resolve();
    if (this.failures > 0) {
      this.failures -= 1;
      throw new GatewayError('STORE_UNAVAILABLE');
    }
    if (events.some(({ runId }) => runId === REFUSED)) throw new Error('violates a constraint');
    this.batches += 1;
    this.shares.push(currentShare()?.name);
    const kept = events.filter(({ runId }) => runId !== TAKEN);
    this.stored.push(...kept);
    return kept.length === events.length ? [] : [TAKEN];
  }

  async events(runId: string): Promise<CallEvent[]> {
    return this.stored.filter((event) => event.runId === runId);
  }
}

function setUp() {
  const clock = new FakeClock();
  const sink = new FakeSink();
  return { clock, sink, events: new EventLog({ sink, clock, log: quietLog().log }) };
}

const digit = (value: string) => ({ type: 'dtmf', digit: value }) as const;

describe('the event log', () => {
  it('stores what happened within a second, in one batch for all calls', async () => {
    const { clock, sink, events } = setUp();
    const a = await events.open('1');
    const b = await events.open('2');
    a.append(digit('1'), 0);
    b.append(digit('2'), 0);
    a.append(digit('3'), 20.4);
    clock.advance(999);
    await settle();
    expect(sink.batches).toBe(1);
    expect(sink.stored.map(({ runId, seq, mediaMs }) => [runId, seq, mediaMs])).toEqual([
      ['1', 1, 0],
      ['2', 1, 0],
      ['1', 2, 20],
    ]);
  });

  it("stores events as the gateway's own work, in whichever organization's call they began", async () => {
    const { clock, sink, events } = setUp();
    const run = await events.open('1', { isNew: true });
    await inShare(organizationShare('7'), async () => {
      run.append(digit('1'), 0);
      clock.advance(1_000);
      await settle();
      run.append(digit('2'), 0);
      await events.flush();
    });
    expect(sink.shares).toEqual([undefined, undefined]);
  });

  it('asks nothing of the store for the log of a run that is new', async () => {
    const { clock, sink, events } = setUp();
    sink.events = () => Promise.reject(new Error('asked'));
    const log = await events.open('1', { isNew: true });
    expect(await events.open('1')).toBe(log);
    log.append(digit('1'), 0);
    await clock.advanceAsync(999, 100);
    expect(sink.stored.map(({ seq }) => seq)).toEqual([1]);
  });

  it('leaves the events of other runs in their batch when a log is opened', async () => {
    const { clock, sink, events } = setUp();
    (await events.open('1')).append(digit('1'), 0);
    await events.open('2');
    expect(sink.batches).toBe(0);
    (await events.open('2')).append(digit('2'), 0);
    clock.advance(200);
    await settle();
    expect([sink.batches, sink.stored.length]).toEqual([1, 2]);
  });

  it('drops an event that the store refuses, and stores all others', async () => {
    const { clock, sink, events } = setUp();
    const [refused, good] = [await events.open(REFUSED), await events.open('1')];
    for (let i = 0; i < 40; i += 1) {
      if (i === 7 || i === 8) refused.append(digit('9'), 0);
      good.append(digit('1'), 0);
    }
    await clock.advanceAsync(3_000, 100);
    expect(sink.stored.map(({ seq }) => seq)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
  });

  it('names the runs that another process has taken, once their events are refused', async () => {
    const { clock, sink, events } = setUp();
    const taken: string[] = [];
    events.onTaken = (runIds) => taken.push(...runIds);
    (await events.open(TAKEN, { isNew: true })).append(digit('1'), 0);
    (await events.open('1', { isNew: true })).append(digit('2'), 0);
    clock.advance(200);
    await events.flush();
    expect(taken).toEqual([TAKEN]);
    expect(sink.stored.map(({ runId }) => runId)).toEqual(['1']);
  });

  it('keeps events in order while the database is away, and loses none', async () => {
    const { clock, sink, events } = setUp();
    const run = await events.open('1');
    sink.failures = 3;
    for (const value of ['1', '2', '3', '4']) {
      run.append(digit(value), 0);
      await clock.advanceAsync(600, 100);
    }
    await clock.advanceAsync(5_000, 500);
    expect(sink.stored.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  it('holds 200,000 events while the database is away, and counts what it loses', async () => {
    const { clock, sink, events } = setUp();
    const lost = async (): Promise<number> => {
      const { values } = await eventsStored.get();
      return values.find(({ labels }) => labels.result === 'lost')?.value ?? 0;
    };
    const lostBefore = await lost();
    const run = await events.open('1');
    sink.failures = 1;
    for (let i = 0; i < 200_003; i += 1) run.append(digit('1'), 0);
    expect((await lost()) - lostBefore).toBe(3);
    expect(run.events).toHaveLength(200_003);
    await events.flush();
    clock.advance(1_000);
    await events.flush();
    expect(sink.stored).toHaveLength(200_000);
    expect(sink.batches).toBe(400);
  });

  it('goes on counting where the stored log ends', async () => {
    const { sink, events } = setUp();
    const first = await events.open('1');
    first.append(digit('1'), 0);
    events.release('1');
    const again = await events.open('1');
    again.append(digit('2'), 0);
    await events.flush();
    expect(sink.stored.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(again.events).toHaveLength(2);
  });

  it('gives everyone the same log of a run', async () => {
    const { events } = setUp();
    const [one, other] = await Promise.all([events.open('1'), events.open('1')]);
    expect(one).toBe(other);
  });

  it('flushes at once when asked to', async () => {
    const { sink, events } = setUp();
    (await events.open('1')).append(digit('9'), 0);
    await events.flush();
    expect(sink.stored).toHaveLength(1);
  });
});

const said = (digit: string): CallEventBody => ({ type: 'dtmf', digit });
const back = (toSeq: number): CallEventBody => ({ type: 'chat.rewound', toSeq });
const cost: CallEventBody = {
  type: 'model.usage',
  service: 's',
  model: 'm',
  firstTokenMs: 0,
  totalMs: 0,
  promptTokens: 1,
  completionTokens: 1,
  cachedTokens: 0,
};

function seqsOf(bodies: CallEventBody[]): number[] {
  const events: CallEvent[] = bodies.map((body, index) => {
    return { runId: '1', seq: index + 1, at: 0, mediaMs: 0, body };
  });
  return effectiveEvents(events).map(({ seq }) => seq);
}

it('everything counts where nothing was taken back', () => {
  expect(seqsOf([said('1'), cost, said('2')])).toEqual([1, 2, 3]);
});

it('entries between the turn and its rewind do not count, except for their cost', () => {
  expect(seqsOf([said('1'), said('2'), cost, said('3'), back(1), said('4')])).toEqual([1, 3, 6]);
});

it('a taking back within a later one does nothing', () => {
  expect(seqsOf([said('1'), said('2'), back(1), back(2), said('3')])).toEqual([1, 2, 5]);
});

it('each counts from its own turn', () => {
  expect(seqsOf([said('1'), said('2'), back(1), said('3'), back(4), back(0), said('4')])).toEqual([
    7,
  ]);
});
