// What clients who watch calls get: everything once and in order, after any reconnection.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type EventFeed,
  type FeedMessage,
  OrganizationFeed,
  RunFeed,
} from '../../../src/call/events/event-feeds.ts';
import type { CallEvent, CallEventBody } from '../../../src/model/call-event.ts';
import { rounds } from '../../rounds.ts';
import { engines } from '../../store/databases.ts';
import { type TestStore, withStore } from '../../store/engines.ts';
import { type RunMaker, runMaker } from '../../store/runs/run-rows.ts';

const turn = (text: string): CallEventBody => ({
  type: 'user.turn',
  text,
  source: 'speech',
  confidence: 1,
  nodeId: null,
  nodeName: null,
  startMs: 0,
  endMs: 1,
});

function eventOf(runId: string, seq: number, body: CallEventBody = turn(`t${seq}`)): CallEvent {
  return { runId, seq, at: 1_768_467_600_000 + seq, mediaMs: 0, body };
}

async function readAll(feed: EventFeed): Promise<FeedMessage[]> {
  const all: FeedMessage[] = [];
  for (;;) {
    const some = feed.isOver ? [] : await feed.read();
    if (some.length === 0) return all;
    all.push(...some);
  }
}

/** What was said, `run:text`, and what the other messages are about, `run:event`. */
function words(messages: readonly FeedMessage[]): string[] {
  return messages.map(({ event, data }) => {
    const payload = data['payload'] as { text?: string } | undefined;
    return `${data['workflow_run_id']}:${event ?? payload?.text}`;
  });
}
const lastId = (messages: readonly FeedMessage[]) =>
  messages.findLast(({ id }) => id !== null)?.id ?? undefined;

describe.each(engines())('the feed of a run on %s', (engine) => {
  const at = withStore(engine);

  it('sends the contract’s items from the begin to the end, then that it is over', async () => {
    const { make, workflowId } = await runMaker(at);
    const run = await make();
    const { runs } = at.store;
    const feed = new RunFeed(at.store, run, undefined);
    expect(await feed.read()).toEqual([]);
    await runs.appendEvents([
      eventOf(run.id, 1, { type: 'media.started', codec: 'pcmu', rateHz: 8_000 }),
      eventOf(run.id, 2, turn('tea')),
    ]);
    expect(await feed.read()).toEqual([
      {
        id: `${run.id}:2`,
        event: null,
        data: {
          workflow_run_id: run.id,
          workflow_id: workflowId,
          type: 'rtf-user-transcription',
          payload: expect.objectContaining({ text: 'tea', final: true }),
          timestamp: expect.any(String),
          at_ms: 0,
          turn: 1,
        },
      },
    ]);
    expect([await feed.read(), feed.isOver]).toEqual([[], false]);
    await runs.appendEvents([eventOf(run.id, 3)]);
    await runs.patch(run.id, { state: 'completed', disposition: 'sold' });
    const last = await feed.read();
    expect(words(last)).toEqual([`${run.id}:t3`, `${run.id}:completed`]);
    expect(last.at(-1)).toMatchObject({
      id: `${run.id}:3`,
      data: { type: 'completed', payload: { disposition: 'sold' }, timestamp: expect.any(String) },
    });
    expect(feed.place).toBe(`${run.id}:3`);
    expect(feed.isOver).toBe(true);
  });

  it('goes on behind the last id, with what went before still counted', async () => {
    const { make } = await runMaker(at);
    const run = await make({ state: 'completed' });
    await at.store.runs.appendEvents(
      Array.from({ length: 1_234 }, (_, i) => eventOf(run.id, i + 1)),
    );
    const all = await readAll(new RunFeed(at.store, run, undefined));
    expect(all).toHaveLength(1_235);
    const rest = await readAll(new RunFeed(at.store, run, `${run.id}:1000`));
    expect(rest).toEqual(all.slice(1_000));
    expect(rest[0]?.data['turn']).toBe(1_001);
    for (const none of ['', '1', `${run.id}:`, `9${run.id}:1000`, `${run.id}:1000;`]) {
      expect(await readAll(new RunFeed(at.store, run, none))).toHaveLength(1_235);
    }
  });
});

describe.each(engines())('the feed of an organization on %s', (engine) => {
  const at = withStore(engine);
  const feedOf = (id?: string) => new OrganizationFeed(at.store, at.owner.organizationId, id);

  it('sends calls in progress, from their begin, and those that begin', async () => {
    const { make, workflowId } = await runMaker(at);
    const { runs } = at.store;
    const over = await make({ state: 'completed' });
    const one = await make();
    await runs.appendEvents([eventOf(over.id, 1), eventOf(one.id, 1)]);
    const feed = feedOf();
    const first = await feed.read();
    expect(words(first)).toEqual([`${one.id}:started`, `${one.id}:t1`]);
    expect(first[0]?.data).toEqual({
      workflow_run_id: one.id,
      workflow_id: workflowId,
      type: 'started',
      payload: { name: 'WR-API-1234', mode: 'twilio', call_type: 'outbound' },
      timestamp: expect.stringMatching(/\+00:00$/),
      name: 'WR-API-1234',
      mode: 'twilio',
      call_type: 'outbound',
    });
    expect(await feed.read()).toEqual([]);
    const two = await make();
    await runs.appendEvents([eventOf(one.id, 2), eventOf(two.id, 1)]);
    await runs.patch(one.id, { state: 'completed', disposition: 'busy' });
    expect(words(await readAll(feed))).toEqual([
      `${two.id}:started`,
      `${one.id}:t2`,
      `${two.id}:t1`,
      `${one.id}:completed`,
    ]);
    expect([...feed.runIds]).toEqual([two.id]);
  });

  it('sends a client that reconnects what it missed, including calls that began and ended meanwhile', async () => {
    const { make } = await runMaker(at);
    const { runs } = at.store;
    const one = await make();
    await runs.appendEvents([eventOf(one.id, 1)]);
    const feed = feedOf();
    expect(feed.place).toBe('');
    const before = await readAll(feed);
    expect(feed.place).toBe(lastId(before));
    const gone = await make({ state: 'completed' });
    await runs.appendEvents([eventOf(gone.id, 1), eventOf(one.id, 2)]);
    await runs.patch(one.id, { state: 'completed' });
    const after = await readAll(feedOf(lastId(before)));
    expect(words(after)).toEqual([
      `${gone.id}:started`,
      `${one.id}:t2`,
      `${gone.id}:t1`,
      `${one.id}:completed`,
      `${gone.id}:completed`,
    ]);
    const idle = feedOf(lastId(after));
    expect(idle.place).toBe(lastId(after));
    expect(await readAll(idle)).toEqual([]);
    expect(idle.place).toBe(lastId(after));
  });

  it('sends more calls than it follows at a time', async () => {
    const { workflowId, definitionId, make } = await runMaker(at);
    await make();
    const feed = feedOf();
    await feed.read();
    await at.sql(
      `insert into runs (organization_id, workflow_id, definition_id, name, mode, call_type, state,
        owner_node, initial_context, gathered_context, logs, annotations, created_at)
       select $1, $2, $3, 'r', 'ari', 'inbound', 'completed', 'n', '{}', '{}', '{}', '{}', now()
       from generate_series(1, 450)`,
      [at.owner.organizationId, workflowId, definitionId],
    );
    const all = await readAll(feed);
    const count = (event: string) => all.filter((each) => each.event === event).length;
    expect([count('started'), count('completed')]).toEqual([450, 450]);
  });

  it('sends nothing of another organization’s calls, for any id', async () => {
    const { make } = await runMaker(at);
    const run = await make();
    await at.store.runs.appendEvents([eventOf(run.id, 1)]);
    const foreign = new OrganizationFeed(at.store, '999999', `0;${run.id}:0`);
    expect(await readAll(foreign)).toEqual([]);
    await fc.assert(
      fc.asyncProperty(fc.string(), async (id) => {
        expect(words(await readAll(feedOf(id)))).toEqual([`${run.id}:started`, `${run.id}:t1`]);
      }),
      { numRuns: rounds(20, 40) },
    );
  });
});

type Step = { do: 'say' | 'end'; run: number } | { do: 'read'; cut: number } | { do: 'begin' };

/** Calls that begin, talk and end, and a client that is cut off after some messages each time. */
class CutOff {
  readonly told: FeedMessage[] = [];
  readonly expected: string[] = [];
  readonly #at: TestStore;
  readonly #make: RunMaker['make'];
  readonly #open: { id: string; seq: number }[] = [];
  #id: string;

  constructor(at: TestStore, make: RunMaker['make'], afterId: string) {
    this.#at = at;
    this.#make = make;
    this.#id = `${afterId};`;
  }

  async step(step: Step): Promise<void> {
    if (step.do === 'begin') return this.#begin();
    if (step.do === 'read') return this.read(step.cut);
    const target = this.#open[step.run];
    if (target === undefined) return;
    if (step.do === 'say') await this.#say(target);
    else await this.#end(target);
  }

  async read(cut: number): Promise<void> {
    const feed = new OrganizationFeed(this.#at.store, this.#at.owner.organizationId, this.#id);
    const some = (await readAll(feed)).slice(0, cut);
    this.told.push(...some);
    this.#id = lastId(some) ?? this.#id;
  }

  async #begin(): Promise<void> {
    const { id } = await this.#make();
    this.#open.push({ id, seq: 0 });
    this.expected.push(`${id}:started`);
  }

  async #say(target: { id: string; seq: number }): Promise<void> {
    target.seq += 1;
    await this.#at.store.runs.appendEvents([eventOf(target.id, target.seq)]);
    this.expected.push(`${target.id}:t${target.seq}`);
  }

  async #end(target: { id: string; seq: number }): Promise<void> {
    await this.#at.store.runs.patch(target.id, { state: 'completed' });
    this.#open.splice(this.#open.indexOf(target), 1);
    this.expected.push(`${target.id}:completed`);
  }
}

describe('a client of an organization that is disconnected again and again', () => {
  const at = withStore('embedded');
  const which = fc.nat(3);
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('say' as const), run: which }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('read' as const), cut: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('begin' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('end' as const), run: which }) },
  );

  it('gets everything once, each call in order', async () => {
    const { make } = await runMaker(at);
    const property = fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const last = await make({ state: 'completed' });
      await at.sql("update runs set state = 'completed'");
      const client = new CutOff(at, make, last.id);
      for (const each of steps) await client.step(each);
      await client.read(Number.POSITIVE_INFINITY);
      const told = words(client.told);
      expect([...told].sort()).toEqual([...client.expected].sort());
      for (const run of new Set(told.map((word) => word.split(':')[0]))) {
        const isOf = (word: string) => word.startsWith(`${run}:`);
        expect(told.filter(isOf)).toEqual(client.expected.filter(isOf));
      }
    });
    await fc.assert(property, { numRuns: rounds(25, 50) });
  }, 60_000);
});
