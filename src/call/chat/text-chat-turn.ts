// One turn of a conversation in writing: the engine is told what happened, its actions are carried out
// without audio, until it waits for the caller again or the conversation is over. What is said is heard
// at once. It knows no store.

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { turns } from '../../metrics/metrics.ts';
import type { CallEventBody, UtteranceKind } from '../../model/call-event.ts';
import type { EndReason } from '../../model/end-reason.ts';
import type { Run } from '../../model/run.ts';
import type { LanguageModel } from '../../speech/llm/llm.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import type {
  DialogueAction,
  DialogueEvent,
  UntimedEvent,
} from '../../workflow/engine/dialogue-events.ts';
import type { DialogueEngine, DialogueState } from '../../workflow/engine.ts';
import { Generation, type GenerationListener } from '../dialogue/generation.ts';
import type { ToolRequestDeps } from '../http/tool-request.ts';
import { ToolRunner } from '../session/tool-runner.ts';

/** Steps of one turn: a graph that walks in circles without the caller is stopped here. */
const STEPS_MAX = 500;

export type TurnEvent = UntimedEvent<DialogueEvent>;
type Act<T extends DialogueAction['type']> = Extract<DialogueAction, { type: T }>;

export interface TurnDeps {
  run: Run;
  engine: DialogueEngine;
  /** Undefined: the scripted policy leads. */
  llm: LanguageModel | undefined;
  clock: Clock;
  log: Log;
  toolRequests: Omit<ToolRequestDeps, 'clock'>;
  /** Writes a fact into the run's log. */
  note: (body: CallEventBody) => void;
  /** Milliseconds since the conversation began. */
  mediaMs: () => number;
}

export interface TurnResult {
  state: DialogueState;
  /** What the agent said, utterance by utterance. */
  said: string[];
  /** Null while the conversation goes on. */
  ended: EndReason | null;
}

/** Rejects with the signal's reason, with TEXT_CHAT_TURN_FAILED if the graph does not come to rest, and
 *  with what our own code throws. */
export function runTurn(
  deps: TurnDeps,
  state: DialogueState,
  events: readonly TurnEvent[],
  signal: AbortSignal,
): Promise<TurnResult> {
  return new Promise((resolve, reject) => {
    const turn = new Turn(deps, state, { resolve, reject }, signal);
    turn.begin(events);
  });
}

interface Settling {
  resolve(result: TurnResult): void;
  reject(error: unknown): void;
}

interface Place {
  nodeId: string | null;
  nodeName: string | null;
}

class Turn {
  readonly #deps: TurnDeps;
  readonly #settling: Settling;
  readonly #signal: AbortSignal;
  readonly #abort = new AbortController();
  readonly #generation: Generation;
  readonly #tools: ToolRunner;
  readonly #waiting: TurnEvent[] = [];
  readonly #timers = new Set<Timer>();
  readonly #said: string[] = [];
  /** Words of requests, by request. */
  readonly #spoken = new Map<number, { utteranceId: number; kind: UtteranceKind; at: Place }>();
  #state: DialogueState;
  #place: Place;
  /** Values that are being extracted. */
  #extracting = 0;
  #steps = 0;
  #stepping = false;
  #ended: EndReason | null = null;
  #over = false;
  readonly #cutShort = (): void => this.#fail(this.#signal.reason);

  constructor(deps: TurnDeps, state: DialogueState, settling: Settling, signal: AbortSignal) {
    this.#deps = deps;
    this.#state = state;
    this.#settling = settling;
    this.#signal = signal;
    const node = deps.engine.summarize(state).lastNode;
    this.#place = { nodeId: node?.id ?? null, nodeName: node?.name ?? null };
    this.#generation = new Generation({
      llm: deps.llm,
      listener: this.#hearModel(),
      log: deps.log,
      clock: deps.clock,
      callSignal: this.#abort.signal,
    });
    this.#tools = new ToolRunner(deps.toolRequests, {
      plan: { run: deps.run },
      clock: deps.clock,
      log: deps.log,
      callSignal: this.#abort.signal,
      callId: () => null,
      onEvent: (event) => this.#dispatch(event),
      onBroken: (error) => this.#fail(error),
    });
  }

  begin(events: readonly TurnEvent[]): void {
    this.#signal.addEventListener('abort', this.#cutShort, { once: true });
    if (this.#signal.aborted) this.#cutShort();
    this.#dispatch(...events);
  }

  #dispatch(...events: TurnEvent[]): void {
    if (this.#over) return;
    this.#waiting.push(...events);
    if (this.#stepping) return;
    this.#stepping = true;
    try {
      this.#drain();
    } catch (error) {
      this.#fail(error);
    }
    this.#stepping = false;
    if (this.#isAtRest()) this.#finish();
  }

  #drain(): void {
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift()) {
      this.#steps += 1;
      if (this.#steps > STEPS_MAX) {
        throw new GatewayError('TEXT_CHAT_TURN_FAILED', { reason: 'it does not come to rest' });
      }
      if (event.type === 'caller-turn') this.#heardCaller(event.text);
      const at = this.#deps.clock.now();
      const { state, actions } = this.#deps.engine.step(this.#state, { at, ...event });
      this.#state = state;
      for (const action of actions) this.#perform(action);
    }
  }

  #perform(action: DialogueAction): void {
    switch (action.type) {
      case 'say':
        this.#say(action.utteranceId, action.text, { kind: action.kind, at: this.#place });
        break;
      case 'generate':
        this.#generate(action);
        break;
      case 'abandon':
        this.#spoken.delete(action.requestId);
        this.#generation.abandon(action.requestId);
        break;
      case 'extract':
        this.#extracting += 1;
        this.#generation.extract(action);
        break;
      case 'expect':
        break; // Whoever writes may write anything.
      case 'wait':
        this.#wait(action);
        break;
      case 'log':
        this.#note(action.body);
        break;
      case 'call-out':
      case 'transfer':
      case 'stop-tool':
        this.#tools.perform(action);
        break;
      case 'end':
        this.#ended = action.reason;
    }
  }

  /** Words that the caller reads at once. */
  #say(utteranceId: number, text: string, how: { kind: UtteranceKind; at: Place }): void {
    this.#heardAgent(utteranceId, text, how);
    this.#waiting.push({
      type: 'utterance-finished',
      utteranceId,
      heardText: text,
      interrupted: false,
    });
  }

  #generate(action: Act<'generate'>): void {
    const { requestId, utteranceId, kind } = action;
    this.#spoken.set(requestId, { utteranceId, kind, at: this.#place });
    this.#generation.start(action, SILENT);
  }

  /** A writer is not kept waiting before the first word; what limits something is waited for. */
  #wait({ waitId, delayMs }: Act<'wait'>): void {
    const { phase, waits } = this.#state;
    if (phase === 'delayed' && waits.opening === waitId) {
      this.#waiting.push({ type: 'waited', waitId });
      return;
    }
    const timer = this.#deps.clock.after(delayMs, () => {
      this.#timers.delete(timer);
      this.#dispatch({ type: 'waited', waitId });
    });
    this.#timers.add(timer);
  }

  #hearModel(): GenerationListener {
    return {
      onAnswer: (requestId, { text, toolCalls }) =>
        this.#answered(requestId, text, { type: 'model-answered', requestId, text, toolCalls }),
      onFailure: (requestId, code) =>
        this.#answered(requestId, '', { type: 'model-failed', requestId, code }),
      onExtracted: (extractionId, values) => {
        this.#extracting -= 1;
        this.#dispatch({ type: 'extracted', extractionId, values });
      },
      onExtractionFailure: (extractionId, code) => {
        this.#extracting -= 1;
        this.#dispatch({ type: 'extraction-failed', extractionId, code });
      },
      onUsage: (usage) => this.#note(usage),
      onFault: (error) => this.#fault(error),
      onBroken: (error) => this.#fail(error),
    };
  }

  /** The words of an answer come before whatever it leads to. */
  #answered(requestId: number, text: string, event: TurnEvent): void {
    const spoken = this.#spoken.get(requestId);
    if (spoken === undefined || this.#over) return;
    this.#spoken.delete(requestId);
    const { utteranceId } = spoken;
    const heardText = text.trim();
    this.#heardAgent(utteranceId, heardText, spoken);
    this.#dispatch(event, {
      type: 'utterance-finished',
      utteranceId,
      heardText,
      interrupted: false,
    });
  }

  #heardCaller(text: string): void {
    turns.inc({ source: 'chat' });
    const ms = this.#deps.mediaMs();
    this.#note({
      type: 'user.turn',
      text,
      source: 'chat',
      confidence: null,
      ...this.#place,
      startMs: ms,
      endMs: ms,
    });
  }

  #heardAgent(
    utteranceId: number,
    text: string,
    { kind, at }: { kind: UtteranceKind; at: Place },
  ): void {
    if (text === '') return;
    turns.inc({ source: 'agent' });
    this.#said.push(text);
    const ms = this.#deps.mediaMs();
    this.#note({
      type: 'agent.said',
      utteranceId,
      kind,
      text,
      interrupted: false,
      ...at,
      startMs: ms,
      endMs: ms,
    });
  }

  #fault(error: unknown): void {
    const code = codeOf(error);
    const message = error instanceof GatewayError ? error.message : 'Unexpected error';
    this.#note({ type: 'fault', code: code ?? 'UNEXPECTED', message, fatal: false });
  }

  #note(body: CallEventBody): void {
    if (this.#over) return;
    if (body.type === 'node.entered') {
      this.#place = { nodeId: body.nodeId, nodeName: body.nodeName };
    }
    this.#deps.note(body);
  }

  /** Nothing comes any more unless the caller writes. Values are waited for: they belong to the turn. */
  #isAtRest(): boolean {
    if (this.#over) return false;
    if (this.#ended !== null) return true;
    const isAsking = this.#generation.pending || this.#tools.pending || this.#extracting > 0;
    return !isAsking && this.#state.phase === 'talking';
  }

  #finish(): void {
    this.#leave();
    this.#settling.resolve({ state: this.#state, said: this.#said, ended: this.#ended });
  }

  #fail(error: unknown): void {
    if (this.#over) return;
    this.#leave();
    this.#settling.reject(error);
  }

  #leave(): void {
    this.#over = true;
    this.#abort.abort();
    this.#signal.removeEventListener('abort', this.#cutShort);
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#waiting.length = 0;
  }
}

/** Text is taken whole, when it is complete. */
const SILENT = { text: () => undefined, end: () => undefined, cancel: () => undefined };
