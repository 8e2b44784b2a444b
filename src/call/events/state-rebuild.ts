// Rebuilds the state of a call's workflow engine from the run's log, by a replay of what the engine got
// (engine-inputs.ts). Pure. Compares what the engine notes in the replay with the log: an agent whose tools or clips
// were changed meanwhile gives no other state unnoticed.

import type { CallEvent, CallEventBody } from '../../model/call-event.ts';
import type { InputBound, StoredInput } from '../../model/engine-input.ts';
import type { LlmToolCall } from '../../model/llm-message.ts';
import type { DialogueEvent, UntimedEvent } from '../../workflow/engine/dialogue-events.ts';
import type { DialogueEngine, DialogueState } from '../../workflow/engine.ts';

export interface RebuildOptions {
  /** The engine of the plan that the call runs with. */
  engine: Pick<DialogueEngine, 'initial' | 'step'>;
  /** The run's log, in its order. */
  events: readonly CallEvent[];
  /** The initial context that is stored with the run. */
  runContext: Record<string, unknown>;
  /** The state after the event with this number. Default: after the last one. */
  upTo?: number;
}

/** Why the state could not be rebuilt to the end. not-recorded: the log has no inputs, as in calls of older versions.
 *  gap: events of the log are missing. cut-off: the log ends within an input. changed: the agent would act otherwise
 *  than it did. Others: the limit that the inputs exceeded. */
export type RebuildFault =
  | { why: InputBound; seq: number; max: number }
  | { why: 'not-recorded' | 'gap' | 'cut-off' | 'changed'; seq: number };

export interface RebuiltState {
  state: DialogueState;
  /** The last event that the state contains; what follows it in the log is not in the state. */
  seq: number;
  /** Facts of the last inputs that the log does not have. */
  unlogged: readonly CallEventBody[];
  /** Undefined: the state is the one that the call had. Else it is that of an earlier moment. */
  fault: RebuildFault | undefined;
}

/** The engine's own facts. */
const OF_ENGINE: ReadonlySet<CallEventBody['type']> = new Set([
  'node.entered',
  'agent.entered',
  'language.switched',
  'variables.extracted',
  'function.called',
  'function.returned',
  'disposition.given',
]);

/** Rebuilds the state. Throws what the engine throws, which no input of the log made it do in the call. */
export function rebuildState(options: RebuildOptions): RebuiltState {
  return new Replay(options).run();
}

class Replay {
  readonly #options: RebuildOptions;
  readonly #events: readonly CallEvent[];
  /** The engine's own facts in the log, and how many of them the replay has noted. */
  readonly #facts: readonly CallEvent[];
  #noted = 0;
  #state: DialogueState;
  #seq = 0;
  #unlogged: CallEventBody[] = [];

  constructor(options: RebuildOptions) {
    this.#options = options;
    this.#events = continuous(options.events);
    this.#facts = this.#events.filter(({ body }) => OF_ENGINE.has(body.type));
    this.#state = options.engine.initial;
  }

  run(): RebuiltState {
    const fault = this.#replay();
    return { state: this.#state, seq: this.#seq, unlogged: this.#unlogged, fault };
  }

  #replay(): RebuildFault | undefined {
    const { upTo = Number.POSITIVE_INFINITY } = this.#options;
    const gap = gapIn(this.#options.events);
    let hasInputs = false;
    for (const event of this.#events) {
      const { seq, body } = event;
      if (seq > upTo) return undefined;
      if (seq >= gap) return { why: 'gap', seq: gap };
      if (body.type === 'engine.input-lost') return { why: body.bound, seq, max: body.max };
      const input = this.#inputOf(event);
      if (input === undefined) continue;
      hasInputs = true;
      if (input === 'cut-off') return { why: 'cut-off', seq };
      if (!this.#step(input, seq)) return { why: 'changed', seq };
    }
    const last = this.#events.at(-1)?.seq ?? 0;
    return hasInputs ? undefined : { why: 'not-recorded', seq: last };
  }

  /** Takes an input. False if the engine notes something else than the log has. */
  #step(input: DialogueEvent, seq: number): boolean {
    const { state, actions } = this.#options.engine.step(this.#state, input);
    const noted = actions.flatMap((action) => (action.type === 'log' ? [action.body] : []));
    const logged = this.#facts.slice(this.#noted, this.#noted + noted.length);
    if (!logged.every(({ body }, index) => isSame(body, noted[index]))) return false;
    this.#state = state;
    this.#noted += noted.length;
    this.#seq = logged.at(-1)?.seq ?? seq;
    this.#unlogged.push(...noted.slice(logged.length));
    return true;
  }

  /** The input in an event of the log; undefined if there is none. */
  #inputOf({ at, seq, body }: CallEvent): DialogueEvent | 'cut-off' | undefined {
    switch (body.type) {
      case 'user.turn': {
        const { text, confidence, source, input } = body;
        return input && { at, ...input, type: 'caller-turn', text, confidence, source };
      }
      case 'agent.said': {
        const { utteranceId, text: heardText, interrupted, input } = body;
        const said = { utteranceId, heardText, interrupted };
        return input && { at, ...input, type: 'utterance-finished', ...said };
      }
      case 'engine.input': {
        const { type: _, input, ...mark } = body;
        const whole = this.#whole(input, seq);
        return whole === undefined ? 'cut-off' : { at, ...mark, ...whole };
      }
      default:
        return undefined;
    }
  }

  /** The input with what other events of the log have. Undefined if one of these is missing. */
  #whole(input: StoredInput, seq: number): UntimedEvent<DialogueEvent> | undefined {
    switch (input.type) {
      case 'started':
        return this.#started(input);
      case 'model-answered': {
        const { calls = [], vendor, ...answer } = input;
        const toolCalls = this.#calls(calls, seq);
        return toolCalls && { ...answer, toolCalls, ...(vendor && { vendor }) };
      }
      case 'extracted': {
        const isAwaited = this.#state.extractions.some(isOf('extractionId', input));
        const [next] = this.#next('variables.extracted', seq, 1);
        if (isAwaited && next === undefined) return undefined;
        return { ...input, values: isAwaited ? (next?.values ?? {}) : {} };
      }
      case 'called-out':
        if ('data' in input) return { ...input, data: input.data };
        return this.#withResult({ ...input, data: null }, seq);
      case 'call-out-failed':
        return this.#withResult({ ...input, error: '' }, seq);
      case 'transfer-failed':
        return this.#withResult({ ...input, message: '' }, seq);
      default:
        return input;
    }
  }

  #started({
    ofRun = [],
    ...input
  }: Extract<StoredInput, { type: 'started' }>): UntimedEvent<DialogueEvent> | undefined {
    const { runContext } = this.#options;
    if (!ofRun.every((name) => Object.hasOwn(runContext, name))) return undefined;
    const whole = Object.entries(input.initialContext).map(([name, value]) => {
      return [name, ofRun.includes(name) ? runContext[name] : value];
    });
    return { ...input, initialContext: Object.fromEntries(whole) };
  }

  #calls(calls: readonly Pick<LlmToolCall, 'vendor'>[], seq: number): LlmToolCall[] | undefined {
    const called = this.#next('function.called', seq, calls.length);
    if (called.length < calls.length) return undefined;
    return called.map(({ callId: id, name, arguments: given }, index) => {
      const vendor = calls[index]?.vendor;
      return { id, name, arguments: given, ...(vendor && { vendor }) };
    });
  }

  /** The input with the result that the log has, if the engine awaits it. */
  #withResult(
    input: Extract<
      UntimedEvent<DialogueEvent>,
      { type: 'called-out' | 'call-out-failed' | 'transfer-failed' }
    >,
    seq: number,
  ): UntimedEvent<DialogueEvent> | undefined {
    const { tools } = this.#state;
    const transfer = tools?.next.what === 'transfer' ? [tools.next] : [];
    const awaited = input.type === 'transfer-failed' ? transfer : (tools?.pending ?? []);
    const call = awaited.find(isOf('toolRunId', input));
    if (call === undefined) return input;
    const { callId } = call;
    const [returned] = this.#next('function.returned', seq, 1, (fact) => fact.callId === callId);
    const result = returned?.result;
    return result === undefined ? undefined : { ...input, result };
  }

  /** The engine's next facts of a type behind that event, `max` at most. */
  #next<T extends CallEventBody['type']>(
    type: T,
    seq: number,
    max: number,
    isWanted: (body: Extract<CallEventBody, { type: T }>) => boolean = () => true,
  ): Extract<CallEventBody, { type: T }>[] {
    const of = (body: CallEventBody): body is Extract<CallEventBody, { type: T }> =>
      body.type === type;
    const found: Extract<CallEventBody, { type: T }>[] = [];
    for (let at = this.#noted; at < this.#facts.length && found.length < max; at += 1) {
      const fact = this.#facts[at];
      if (fact !== undefined && fact.seq > seq && of(fact.body) && isWanted(fact.body))
        found.push(fact.body);
    }
    return found;
  }
}

function isOf<Name extends string>(name: Name, input: Record<Name, number>) {
  return (other: Record<Name, number>): boolean => other[name] === input[name];
}

/** Number of the first event that is missing in the log; Infinity if none is. */
function gapIn(events: readonly CallEvent[]): number {
  const gap = events.findIndex(({ seq }, index) => seq !== index + 1);
  return gap < 0 ? Number.POSITIVE_INFINITY : gap + 1;
}

/** Without inputs, and facts of the engine, that a killed process had noted and the call has gone on without. */
function continuous(events: readonly CallEvent[]): readonly CallEvent[] {
  const counting: CallEvent[] = [];
  let seqMax = Number.POSITIVE_INFINITY;
  for (const event of events.toReversed()) {
    const { seq, body } = event;
    if (seq <= seqMax) counting.push(event);
    if (body.type === 'call.resumed') seqMax = Math.min(seqMax, body.afterSeq);
  }
  return counting.reverse();
}

/** JSON of both is the same, whatever the order of their keys. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one, sorted) === JSON.stringify(other, sorted);
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
