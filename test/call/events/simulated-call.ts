// A whole call under chance, without audio: the runner of a call with a model, tools, transfers and a caller who
// interrupts, hangs up and is silent, all drawn from one seed. Keeps the engine's state after each step.

import { EngineInputs, type NotedInput } from '../../../src/call/events/engine-inputs.ts';
import { DialogueRecord } from '../../../src/call/session/dialogue/dialogue-record.ts';
import {
  type DialogueMedium,
  DialogueRunner,
  type GenerateAction,
  type SayAction,
} from '../../../src/call/session/dialogue/dialogue-runner.ts';
import { failedTransfer } from '../../../src/call/session/dialogue/tool-runner.ts';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import type { CallEvent, CallEventBody } from '../../../src/model/call-event.ts';
import type { DialoguePolicy, WorkflowDefinition } from '../../../src/model/workflow.ts';
import {
  type LanguageModel,
  type LlmListener,
  type LlmRequest,
  type LlmResponse,
  NO_USAGE,
} from '../../../src/speech/llm/llm.ts';
import type { DialogueEngine, DialogueState } from '../../../src/workflow/engine.ts';
import { createEngine } from '../../../src/workflow/engine.ts';
import { parseGraph } from '../../../src/workflow/graph/graph.ts';
import { offeredFunctions } from '../../../src/workflow/tools/offered-functions.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { LABELS } from '../../workflow/random-graph.ts';
import { TOOLS } from '../../workflow/tool-conversation.ts';

/** Words of a caller, among them such as PostgreSQL does not store. */
const WORDS = [
  ...['book', 'cancel please', 'yes', 'no', 'help', 'repeat that', 'goodbye', 'operator', 'mumble'],
  ...['five five five one two', 'tuesday at half past two', 'wait a moment', 'hello', '', 'a\0b'],
  'half a \ud83d',
];
const ANSWERS = ['Which day?', 'Fine. Anything else?', '...', '', 'I look. ', 'One\0two \udc00.'];
const STEPS_MAX = 120;
const LONG = 'x'.repeat(20_000);

/** Numbers of one seed (mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** From 0 to below `n`. */
  below(n: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * n);
  }

  one<T>(of: readonly T[]): T {
    return of[this.below(of.length)] as T;
  }

  is(percent: number): boolean {
    return this.below(100) < percent;
  }
}

/** The engine's state when the run's log had that many events. */
export interface Moment {
  seq: number;
  state: DialogueState;
}

export interface SimulatedOptions {
  definition: WorkflowDefinition;
  policy: DialoguePolicy;
  seed: number;
  runId?: string;
}

export class SimulatedCall {
  readonly engine: DialogueEngine;
  readonly events: CallEvent[] = [];
  readonly moments: Moment[] = [];
  readonly runContext: Record<string, unknown>;
  readonly #options: SimulatedOptions;
  readonly #chance: Chance;
  readonly #clock = new FakeClock();
  readonly #runner: DialogueRunner;
  #isOver = false;

  constructor(options: SimulatedOptions) {
    this.#options = options;
    this.#chance = new Chance(options.seed);
    const graph = parseGraph(options.definition);
    const tools = offeredFunctions(graph.nodes.values(), TOOLS).offered;
    const settings = {
      dictionary: 'x',
      fault_transfer_enabled: this.#chance.is(50),
      fault_transfer_destination: this.#chance.one(['', '+15550199']),
    };
    this.engine = createEngine({ graph, policy: options.policy, settings, tools });
    const list = [{ day: 'monday', note: LONG.slice(0, 300) }];
    this.runContext = { name: 'Ana', desk: '+15550100', list, empty: null };
    this.#runner = new DialogueRunner({
      engine: this.engine,
      medium: this.#medium(),
      record: new DialogueRecord((body) => this.#append(body)),
      inputs: new EngineInputs({
        append: (body, at) => this.#append(body, at),
        runContext: this.runContext,
        events: [],
      }),
      organizationId: '1',
      workflowId: '1',
      llm: options.policy === 'model' ? this.#model() : undefined,
      toolRequests: {
        outside: { send: () => this.#reply() },
        credentialHeaders: () => Promise.resolve({}),
      },
      clock: this.#clock,
      log: quietLog().log,
    });
  }

  get state(): DialogueState {
    return this.#runner.state;
  }

  /** Holds the call to its end, or to the last step. */
  async hold(): Promise<this> {
    const fetched = this.#chance.is(30) ? { plan: { level: 'gold' }, name: 'Bo' } : {};
    const initialContext = { ...this.runContext, ...fetched };
    this.#runner.dispatch({ type: 'started', direction: 'inbound', initialContext });
    for (let step = 0; step < STEPS_MAX && !this.#isOver; step++) {
      await this.#clock.advanceAsync(this.#chance.one([40, 200, 900, 4_000]), 1_000);
      if (!this.#isOver) this.#happen();
      await settle();
    }
    this.#runner.close();
    return this;
  }

  #happen(): void {
    const chance = this.#chance;
    const kind = chance.below(100);
    if (kind < 45) this.#callerTurn();
    else if (kind < 55) this.#runner.dispatch({ type: 'idle' });
    else if (kind < 58) this.#runner.dispatch({ type: 'waiting' });
    else if (kind < 60) this.#runner.dispatch({ type: 'line-restored' });
    else if (kind < 61) this.#runner.dispatch({ type: 'keys-only' });
    else if (kind < 62) this.#runner.dispatch({ type: 'recognition-restored' });
    else if (kind < 64) this.#runner.dispatch({ type: 'ending-soon', text: 'Soon over.' });
    else if (kind < 67) this.#hangUp();
    else if (kind < 70) this.#unrecognized();
    else if (kind < 72) this.#runner.dispatch({ type: 'resumed' });
  }

  #callerTurn(): void {
    const chance = this.#chance;
    const isKeys = chance.is(15);
    const event = {
      type: 'caller-turn',
      text: isKeys ? chance.one(['1', '2', '12345#']) : chance.one(WORDS),
      confidence: chance.one([null, 0.1, 0.45, 0.9, Number.NaN]),
      source: isKeys ? 'dtmf' : 'speech',
    } as const;
    if (event.text === '') this.#runner.dispatch(event);
    else this.#runner.dispatchNoted(event, { ...event, type: 'user.turn', ...PLACE });
  }

  #unrecognized(): void {
    this.#runner.dispatch({ type: 'caller-turn', text: '', confidence: 0, source: 'speech' });
  }

  #hangUp(): void {
    this.#runner.dispatch({ type: 'ending', reason: 'user_hangup', lastWordsFollow: true });
    if (this.#chance.is(50)) this.#callerTurn();
    this.#runner.dispatch({ type: 'last-words-complete' });
  }

  #medium(): DialogueMedium {
    return {
      waitsAtOpening: true,
      say: (action) => this.#say(action),
      openAnswer: (action) => this.#openAnswer(action),
      expect: () => undefined,
      transfer: async ({ toolRunId }) => {
        await this.#later(2_000);
        if (this.#chance.is(40)) return { type: 'transferred', toolRunId };
        return failedTransfer(toolRunId, this.#chance.one(['busy', 'timeout', 'declined']));
      },
      end: () => {
        this.#isOver = true;
        this.#runner.close();
      },
      isCallerSpeaking: () => this.#chance.is(10),
      onStepped: (state) => this.moments.push({ seq: this.events.length, state }),
      onBroken: (error) => {
        throw error;
      },
    };
  }

  #say({ utteranceId, text, isInterjection }: SayAction): void {
    // An interjection that is not rendered is not said.
    if (isInterjection === true && this.#chance.is(30)) this.#finished(utteranceId, '', true);
    else this.#play(utteranceId, text);
  }

  #play(utteranceId: number, text: string): void {
    const isCut = this.#chance.is(25);
    const heard = isCut ? text.slice(0, this.#chance.below(text.length + 1)) : text;
    this.#clock.after(20 * heard.length, () => this.#finished(utteranceId, heard.trim(), isCut));
  }

  #finished(utteranceId: number, heardText: string, interrupted: boolean): void {
    const event = { type: 'utterance-finished', utteranceId, heardText, interrupted } as const;
    const said = { utteranceId, text: heardText, interrupted, kind: 'reply', ...PLACE } as const;
    if (heardText === '') this.#runner.dispatch(event);
    else this.#runner.dispatchNoted(event, { type: 'agent.said', ...said });
  }

  #openAnswer({ utteranceId }: GenerateAction) {
    let text = '';
    return {
      text: (delta: string) => {
        text += delta;
      },
      end: () => this.#play(utteranceId, text),
      cancel: () => this.#finished(utteranceId, text.slice(0, this.#chance.below(8)).trim(), true),
    };
  }

  #model(): LanguageModel {
    return {
      name: 'model',
      model: 'simulated',
      prepare: () => undefined,
      close: () => Promise.resolve(),
      respond: (request, listener, signal) => this.#respond(request, listener, signal),
    };
  }

  async #respond(
    request: LlmRequest,
    listener: LlmListener,
    signal: AbortSignal,
  ): Promise<LlmResponse> {
    const chance = this.#chance;
    await this.#later(chance.one([100, 1_500, 6_000]));
    signal.throwIfAborted();
    if (chance.is(8)) throw new GatewayError('LLM_FAILED', { reason: 'simulated' });
    if (chance.is(4)) throw new GatewayError('LLM_REFUSED', { reason: 'content filter' });
    const text = request.json ? chance.one(VALUES) : chance.one(ANSWERS);
    if (text !== '') listener.onText(text);
    const isCalling = request.tools.length > 0 && chance.is(60);
    const count = isCalling ? chance.one([1, 1, 2, 3, 10]) : 0;
    const toolCalls = Array.from({ length: count }, (_, index) => this.#call(request, index));
    const vendor = { service: 's', family: 'f', data: { signature: LONG.slice(0, 100) } };
    const times = { firstTokenMs: 1, totalMs: 2 };
    const finishReason = 'stop' as const;
    const more = chance.is(20) ? { vendor } : {};
    return { text, toolCalls, finishReason, usage: NO_USAGE, ...times, ...more };
  }

  #call({ tools }: LlmRequest, index: number) {
    const chance = this.#chance;
    const names = [...tools.map(({ name }) => name), ...LABELS, 'hang_up'];
    const given = chance.is(30) ? {} : { id: '1', expression: '1+1', topic: 'a\0t', reason: 'r' };
    const id = chance.is(20) ? 'same' : `c${this.events.length}-${index}`;
    const vendor = { service: 's', family: 'f', data: index };
    return { id, name: chance.one(names), arguments: given, ...(chance.is(20) && { vendor }) };
  }

  async #reply(): Promise<{ status: number; text: string }> {
    const chance = this.#chance;
    await this.#later(chance.one([100, 3_000, 70_000]));
    if (chance.is(15)) throw new Error('unreachable');
    return { status: chance.one([200, 200, 200, 404, 500]), text: chance.one(REPLIES) };
  }

  #later(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(ms, resolve));
  }

  #append(body: CallEventBody, at = this.#clock.now()): void {
    const { runId = '1' } = this.#options;
    this.events.push({ runId, seq: this.events.length + 1, at, mediaMs: 0, body });
  }
}

const PLACE = { nodeId: null, nodeName: null, startMs: 0, endMs: 0 } satisfies Partial<NotedInput>;
const VALUES = ['{"a":"1","b":null}', '{"a":-0,"__proto__":"p","raw":1}', 'no JSON', '{"c":true}'];
const REPLIES = [
  '{"order":{"total":12.5,"at":"2026-09-03"}}',
  '{"transfer_context":{"destination":"+15550123","custom_message":"Hold on, \\u0000."}}',
  '{"id":12345678901234567890}',
  `{"list":"${LONG}"}`,
  'plain text',
  '',
];
