// Random graphs under random events, in random order: what must hold in every conversation. The events
// are drawn with a preference for ids that are in use, so that calls go deep as well as wrong.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LlmToolCall } from '../../src/model/llm-message.ts';
import type { DialoguePolicy } from '../../src/model/workflow.ts';
import type {
  DialogueAction,
  DialogueEvent,
  UntimedEvent,
} from '../../src/workflow/engine/dialogue-events.ts';
import { createEngine, type DialogueState } from '../../src/workflow/engine.ts';
import { parseGraph } from '../../src/workflow/graph/graph.ts';
import { offeredFunctions } from '../../src/workflow/tools/offered-functions.ts';
import { rounds } from '../rounds.ts';
import { LABELS, RANDOM_TOOLS, randomGraph } from './random-graph.ts';

const SETTINGS = { dictionary: 'x', fault_transfer_enabled: true };
const NAMES = RANDOM_TOOLS.map(({ name }) => name);
const FUNCTIONS = [...LABELS, ...LABELS, ...NAMES, 'safe_calculator'];
const TEXTS = [
  'book',
  'cancel please',
  'yes',
  'no',
  'no five five five five',
  'five five five one two',
  'tuesday at half past two',
  'first of may',
  'ten dollars',
  'help',
  'repeat that',
  'goodbye',
  'operator',
  'mumble',
  '',
  '1',
  '12345#',
  'a b c',
];

/** What happens next: a kind of event, and numbers from which its parts are chosen. */
const move = fc.record({
  kind: fc.constantFrom(
    'caller',
    'caller',
    'caller',
    'finished',
    'finished',
    'finished',
    'answered',
    'answered',
    'answered',
    'called-out',
    'called-out',
    'called-out',
    'transferred',
    'failed',
    'extracted',
    'lost',
    'waited',
    'idle',
    'resumed',
    'ending',
    'started',
  ),
  pick: fc.nat(1_000),
  confidence: fc.constantFrom(null, 0.1, 0.4, 0.9),
  source: fc.constantFrom('speech' as const, 'dtmf' as const, 'chat' as const),
  flag: fc.boolean(),
});
type Move = typeof move extends fc.Arbitrary<infer M> ? M : never;

function callOf(pick: number): LlmToolCall {
  const name = (FUNCTIONS[pick % FUNCTIONS.length] ?? '').toLowerCase().replace(/\W/g, '_');
  const all = { id: '1', expression: '1+1', topic: 't', reason: 'r', language: 'de' };
  const given = pick % 3 === 0 ? {} : all;
  return { id: `c${pick}`, name, arguments: given };
}

class Replay {
  readonly events: DialogueEvent[] = [];
  readonly actions: DialogueAction[] = [];

  eventFor({ kind, pick, confidence, source, flag }: Move): DialogueEvent {
    const at = 1_788_451_500_000 + pick;
    const text = TEXTS[pick % TEXTS.length] ?? '';
    switch (kind) {
      case 'started':
        return { at, type: 'started', direction: 'inbound', initialContext: { name: '{{x}}' } };
      case 'caller':
        return { at, type: 'caller-turn', text, confidence, source };
      case 'finished': {
        const utteranceId = this.#utteranceId(pick);
        return { at, type: 'utterance-finished', utteranceId, heardText: text, interrupted: flag };
      }
      case 'answered': {
        const toolCalls = flag
          ? [callOf(pick), callOf(pick + 1), callOf(pick)].slice(0, 1 + (pick % 3))
          : [];
        return { at, type: 'model-answered', requestId: this.#requestId(pick), text, toolCalls };
      }
      case 'called-out':
        return { at, ...this.#reply(pick, flag) };
      case 'transferred':
        return { at, ...this.#transferred(pick, flag) };
      case 'failed':
        return { at, type: 'model-failed', requestId: this.#requestId(pick), code: 'LLM_FAILED' };
      case 'extracted':
      case 'lost': {
        const asked = this.#recent(pick, (one) => one.type === 'extract');
        const extractionId = asked?.type === 'extract' ? asked.extractionId : pick;
        if (kind === 'lost')
          return { at, type: 'extraction-failed', extractionId, code: 'LLM_TIMEOUT' };
        return {
          at,
          type: 'extracted',
          extractionId,
          values: JSON.parse('{"a":"1","__proto__":"p","raw":1}'),
        };
      }
      case 'waited': {
        const wait = this.#recent(pick, (one) => one.type === 'wait');
        return { at, type: 'waited', waitId: wait?.type === 'wait' ? wait.waitId : pick };
      }
      case 'resumed':
        return { at, type: 'resumed' };
      case 'ending':
        // Rare, or no conversation would last.
        return pick % 9 === 0
          ? { at, type: 'ending', reason: 'user_hangup', lastWordsFollow: flag }
          : { at, type: 'idle' };
      default:
        return { at, type: 'idle' };
    }
  }

  #reply(pick: number, isThere: boolean): UntimedEvent<DialogueEvent> {
    const asked = this.#recent(pick, (one) => one.type === 'call-out');
    const toolRunId = asked?.type === 'call-out' ? asked.toolRunId : pick;
    const data = pick % 2 === 0 ? { transfer_context: { destination: '+1' } } : 'text';
    return isThere
      ? { type: 'called-out', toolRunId, status: pick % 5 === 0 ? 500 : 200, data }
      : { type: 'call-out-failed', toolRunId, isLate: pick % 2 === 0, error: 'no' };
  }

  #transferred(pick: number, isTaken: boolean): UntimedEvent<DialogueEvent> {
    const asked = this.#recent(pick, (one) => one.type === 'transfer');
    const toolRunId = asked?.type === 'transfer' ? asked.toolRunId : pick;
    if (isTaken) return { type: 'transferred', toolRunId };
    return { type: 'transfer-failed', toolRunId, reason: 'provider_error', message: 'no' };
  }

  #utteranceId(pick: number): number {
    const speech = this.#recent(pick, (one) => 'utteranceId' in one);
    return speech !== undefined && 'utteranceId' in speech ? speech.utteranceId : pick;
  }

  #requestId(pick: number): number {
    const request = this.#recent(pick, (one) => one.type === 'generate');
    return request?.type === 'generate' ? request.requestId : pick;
  }

  /** Mostly the latest action that fits, sometimes the one before it. */
  #recent(pick: number, fits: (action: DialogueAction) => boolean): DialogueAction | undefined {
    return this.actions.filter(fits).at(pick % 4 === 0 ? -2 : -1);
  }
}

function checkActions(actions: readonly DialogueAction[]): void {
  const utterances = actions.flatMap((one) => ('utteranceId' in one ? [one.utteranceId] : []));
  expect(new Set(utterances).size).toBe(utterances.length);
  const ends = actions.filter(({ type }) => type === 'end');
  expect(ends.length).toBeLessThanOrEqual(1);
  if (ends.length === 1) expect(actions.at(-1)?.type).toBe('end');
  const results = actions.filter(
    (one) => one.type === 'log' && one.body.type === 'function.returned',
  );
  const called = actions.filter((one) => one.type === 'log' && one.body.type === 'function.called');
  if (ends.length === 1) expect(results.length).toBe(called.length);
  else expect(results.length).toBeLessThanOrEqual(called.length);
  for (const action of actions) {
    if (action.type === 'say') expect(action.text.trim()).not.toBe('');
    if (action.type === 'wait') expect(action.delayMs).toBeGreaterThan(0);
    if (action.type !== 'generate') continue;
    const [system, ...rest] = action.messages;
    expect(system?.role).toBe('system');
    expect(rest[0]?.role).toBe('user');
    const calls = rest.flatMap((one) => (one.role === 'assistant' ? one.toolCalls : []));
    const results = rest.filter(({ role }) => role === 'tool');
    expect(results).toHaveLength(calls.length);
  }
}

function run(
  policy: DialoguePolicy,
  given: Parameters<typeof parseGraph>[0],
  moves: readonly Move[],
) {
  const parsed = parseGraph(given);
  const tools = offeredFunctions(parsed.nodes.values(), RANDOM_TOOLS).offered;
  const agents = new Map([['self', null]]);
  const engine = createEngine({ graph: parsed, policy, settings: SETTINGS, tools, agents });
  const replay = new Replay();
  let state: DialogueState = engine.initial;
  const take = (event: DialogueEvent) => {
    const before = JSON.stringify(state);
    const result = engine.step(state, event);
    expect(JSON.stringify(state)).toBe(before);
    expect(JSON.parse(JSON.stringify(result.state))).toEqual(result.state);
    replay.events.push(event);
    replay.actions.push(...result.actions);
    state = result.state;
    if (['caller-turn', 'resumed'].includes(event.type) && state.phase === 'talking') {
      // No dead air: somebody is asked, or something is being said.
      const isWorking = state.request !== null || state.tools !== null;
      expect(isWorking || state.speaking.length > 0).toBe(true);
    }
  };
  take({ at: 0, type: 'started', direction: 'outbound', initialContext: { name: 'Ana' } });
  for (const one of moves) take(replay.eventFor(one));
  engine.summarize(state);
  checkActions(replay.actions);
  if (policy === 'scripted') {
    expect(replay.actions.some(({ type }) => type === 'generate' || type === 'extract')).toBe(
      false,
    );
  }
  return { engine, replay, state };
}

describe.each(['model', 'scripted'] as const)('any conversation under the %s policy', (policy) => {
  it('goes by the rules, and a replay of its events gives the same actions', () => {
    fc.assert(
      fc.property(randomGraph, fc.array(move, { minLength: 5, maxLength: 60 }), (given, moves) => {
        const { engine, replay, state } = run(policy, given, moves);
        let again: DialogueState = engine.initial;
        const actions: DialogueAction[] = [];
        for (const event of replay.events) {
          // The state survives being stored between any two events.
          const result = engine.step(JSON.parse(JSON.stringify(again)), event);
          again = result.state;
          actions.push(...result.actions);
        }
        expect(actions).toEqual(replay.actions);
        expect(again).toEqual(state);
      }),
      { numRuns: rounds(50, 2_000) },
    );
  }, 90_000);

  it('ends once the caller has hung up and nothing answers any more', () => {
    fc.assert(
      fc.property(randomGraph, fc.array(move, { maxLength: 30 }), (given, moves) => {
        const { engine, replay, state } = run(policy, given, moves);
        const gone = engine.step(state, {
          at: 1,
          type: 'ending',
          reason: 'user_hangup',
          lastWordsFollow: true,
        });
        const wait =
          gone.actions.findLast((one) => one.type === 'wait') ??
          replay.actions.findLast((one) => one.type === 'wait');
        const last = engine.step(gone.state, {
          at: 2,
          type: 'waited',
          waitId: wait?.type === 'wait' ? wait.waitId : 0,
        });
        expect(last.state.phase).toBe('ended');
        expect(engine.step(last.state, { at: 3, type: 'idle' }).actions).toEqual([]);
      }),
      { numRuns: rounds(50, 1_000) },
    );
  });
});
