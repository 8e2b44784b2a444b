// The engine's state is rebuilt from a run's log: exactly, at any event of it, and after the log was stored.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EngineInputs, INPUT_LIMITS } from '../../../src/call/events/engine-inputs.ts';
import { feedbackItems } from '../../../src/call/events/realtime-feedback.ts';
import { type RebuiltState, rebuildState } from '../../../src/call/events/state-rebuild.ts';
import type { CallEvent, CallEventBody } from '../../../src/model/call-event.ts';
import { INITIAL_STATE } from '../../../src/workflow/engine/state.ts';
import { rounds } from '../../rounds.ts';
import { engines } from '../../store/databases.ts';
import { withStore } from '../../store/engines.ts';
import { runMaker } from '../../store/runs/run-rows.ts';
import { isFullSet } from '../../test-sets.ts';
import { definition, end, start } from '../../workflow/definitions.ts';
import { randomGraph } from '../../workflow/random-graph.ts';
import { shop } from '../../workflow/tool-conversation.ts';
import { Chance, SimulatedCall } from './simulated-call.ts';

/** Calls of each policy. */
const CALLS = rounds(30, 500);
/** Random positions of each call. */
const POSITIONS = 3;
/** Agents with a model and tools talk longest with this one. */
const agents = fc.oneof({ weight: 3, arbitrary: randomGraph }, fc.constant(shop));

function rebuilt(call: SimulatedCall, events: readonly CallEvent[], upTo?: number): RebuiltState {
  const { engine, runContext } = call;
  return rebuildState({ engine, runContext, events, ...(upTo !== undefined && { upTo }) });
}

/** Holds the log's states against those of the call, at its end and at random positions. */
function check(call: SimulatedCall, events: readonly CallEvent[], seed: number): void {
  const chance = new Chance(seed);
  const whole = rebuilt(call, events);
  expect(whole.fault).toBeUndefined();
  expect(whole.unlogged).toEqual([]);
  expect(whole.state).toEqual(call.state);
  for (let position = 0; position < POSITIONS; position++) {
    const moment = chance.one(call.moments);
    expect(rebuilt(call, events, moment.seq).state).toEqual(moment.state);
  }
}

describe.each(['model', 'scripted'] as const)('the log of calls by the %s policy', (policy) => {
  it('gives the state that the call had, at its end and at any event', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(agents, fc.integer(), async (given, seed) => {
        const call = await new SimulatedCall({ definition: given, policy, seed }).hold();
        check(call, call.events, seed);
        check(call, JSON.parse(JSON.stringify(call.events)), seed);
        for (const { body } of call.events) {
          seen.add(body.type === 'engine.input' ? body.input.type : body.type);
        }
      }),
      { numRuns: CALLS },
    );
    if (!isFullSet()) return;
    // Many calls have all kinds of inputs.
    const common = ['started', 'user.turn', 'agent.said', 'idle', 'ending', 'resumed'];
    const ofModel = ['model-answered', 'model-failed', 'called-out', 'call-out-failed'];
    const all = policy === 'model' ? [...common, ...ofModel] : common;
    expect([...seen]).toEqual(expect.arrayContaining(all));
  }, 240_000);
});

describe.each(engines())('a log on the %s engine', (engine) => {
  const at = withStore(engine);

  it('gives the same states after it was stored', async () => {
    const runs = await runMaker(at);
    const drawn = fc.sample(fc.tuple(agents, fc.integer()), { numRuns: rounds(6, 60) });
    for (const [index, [given, seed]] of drawn.entries()) {
      const { id: runId } = await runs.make();
      const policy = index % 3 === 0 ? 'scripted' : 'model';
      const call = await new SimulatedCall({ definition: given, policy, seed, runId }).hold();
      await at.store.runs.appendEvents(call.events);
      check(call, await at.store.runs.events(runId), seed);
    }
  }, 120_000);
});

describe('a log', () => {
  const held = (seed: number) =>
    new SimulatedCall({ definition: shop, policy: 'model', seed }).hold();

  it('stores no words, arguments, values or results twice', async () => {
    const call = await held(7);
    const inputs = call.events.flatMap(({ body }) => (body.type === 'engine.input' ? [body] : []));
    const text = JSON.stringify(inputs);
    for (const { body } of call.events) {
      if (body.type === 'function.returned') {
        expect(text).not.toContain(JSON.stringify(body.result));
      }
      if (body.type === 'user.turn') expect(body.input).toBeDefined();
    }
    expect(inputs.some(({ input }) => input.type === 'caller-turn' && input.text !== '')).toBe(
      false,
    );
    expect(text).not.toContain('expression');
    expect(text).not.toContain('monday');
  });

  it('shows none of its inputs to the clients of the API', async () => {
    const call = await held(11);
    const others = call.events.filter(({ body }) => body.type !== 'engine.input');
    expect(others.length).toBeLessThan(call.events.length);
    expect(feedbackItems(call.events)).toEqual(feedbackItems(others));
  });

  it('that ends between an input and what the engine noted gives the state before the input', async () => {
    const call = await held(3);
    const at = call.events.findIndex(
      ({ body }, index) =>
        body.type === 'engine.input' &&
        body.input.type === 'model-answered' &&
        call.events[index + 1]?.body.type === 'function.called',
    );
    expect(at).toBeGreaterThan(0);
    const cut = rebuilt(call, call.events.slice(0, at + 1));
    expect(cut.fault).toEqual({ why: 'cut-off', seq: at + 1 });
    const before = call.moments.findLast(({ seq }) => seq <= at);
    expect(cut.state).toEqual(before?.state);
  });

  it('that lacks what the engine noted behind a whole input gives the facts again', async () => {
    const call = await held(3);
    const at = call.events.findIndex(({ body }) => body.type === 'node.entered');
    const cut = rebuilt(call, call.events.slice(0, at));
    expect(cut).toMatchObject({ fault: undefined, seq: at });
    expect(cut.unlogged).toEqual([call.events[at]?.body]);
  });

  it('with a gap is used up to the gap', async () => {
    const call = await held(3);
    const gap = 9;
    const events = call.events.filter(({ seq }) => seq !== gap);
    expect(rebuilt(call, events).fault).toEqual({ why: 'gap', seq: gap });
  });

  it('without inputs, as of older versions, says so', async () => {
    const call = await held(5);
    const events = call.events
      .filter(({ body }) => body.type === 'node.entered' || body.type === 'dtmf')
      .map((event, index) => ({ ...event, seq: index + 1 }));
    expect(rebuilt(call, events).fault).toMatchObject({ why: 'not-recorded' });
  });

  it('of an agent that was changed meanwhile gives no state of the changed one', async () => {
    const call = await held(5);
    const other = new SimulatedCall({
      definition: definition([start('other'), end('done')]),
      policy: 'model',
      seed: 5,
    });
    const { runContext } = call;
    const { fault } = rebuildState({ engine: other.engine, runContext, events: call.events });
    expect(fault).toMatchObject({ why: 'changed' });
  });
});

describe('the limits of the inputs', () => {
  const taken = (texts: readonly string[]) => {
    const events: CallEvent[] = [];
    const append = (body: CallEventBody, at: number) => {
      events.push({ runId: '1', seq: events.length + 1, at, mediaMs: 0, body });
    };
    const inputs = new EngineInputs({ append, runContext: {}, events: [] });
    for (const text of texts) {
      const event = { at: 1, type: 'ending-soon', text } as const;
      inputs.take({ event, before: INITIAL_STATE, actions: [], noted: undefined });
    }
    return events;
  };

  it.each([
    ['input-characters', ['a', 'x'.repeat(300_001), 'b'], 1],
    ['run-characters', Array.from({ length: 20 }, () => 'x'.repeat(250_000)), 15],
    ['run-inputs', Array.from({ length: 20_002 }, () => 'x'), 20_000],
  ] as const)(
    'name the exceeded one once (%s), and nothing is stored after it',
    (bound, texts, stored) => {
      const events = taken(texts);
      expect(events).toHaveLength(stored + 1);
      const max = INPUT_LIMITS[bound];
      const lost = { type: 'engine.input-lost', input: 'ending-soon', bound, max };
      expect(events.at(-1)?.body).toEqual(lost);
      const engine = {
        initial: INITIAL_STATE,
        step: () => ({ state: INITIAL_STATE, actions: [] }),
      };
      const { fault } = rebuildState({ engine, runContext: {}, events });
      expect(fault).toEqual({ why: bound, max, seq: stored + 1 });
    },
  );
});
