// Runs the workflow engine for one conversation, by phone or in writing: passes events in one after the other and
// carries out the engine's actions. Model requests, tools, timers and log entries are here; the medium does speech and
// everything else that the caller perceives. Uses no audio and no store.

import type { Log } from '../../../log.ts';
import type { EndReason } from '../../../model/end-reason.ts';
import type { ExpectedInput } from '../../../model/expected-input.ts';
import type { LanguageModel } from '../../../speech/llm/llm.ts';
import type { SpeechPlace } from '../../../speech/speech-plan.ts';
import type { Clock } from '../../../std/clock.ts';
import type {
  DialogueAction,
  DialogueEvent,
  UntimedEvent,
} from '../../../workflow/engine/dialogue-events.ts';
import type { DialogueEngine, DialogueState } from '../../../workflow/engine.ts';
import type { EngineInputs, NotedInput } from '../../events/engine-inputs.ts';
import { CallTimers, guardedClock } from './call-timers.ts';
import { DialogueQueue } from './dialogue-queue.ts';
import type { DialogueRecord } from './dialogue-record.ts';
import { Generation, type GenerationSink } from './generation.ts';
import { moveIn } from './speech-place.ts';
import type { ToolRequestDeps } from './tool-request.ts';
import { ToolRunner, type TransferAction, type TransferEvent } from './tool-runner.ts';

type Act<T extends DialogueAction['type']> = Extract<DialogueAction, { type: T }>;
export type SayAction = Act<'say'>;
export type GenerateAction = Act<'generate'>;
/** Events that the medium and the runner report. */
export type DialogueInput = UntimedEvent<DialogueEvent>;

/** The parts in which phone calls and text chats differ. */
export interface DialogueMedium {
  /** Whether the pause before the first words is kept. */
  readonly waitsAtOpening: boolean;
  say(action: SayAction): void;
  /** Accepts the text of an answer as it arrives. Undefined if nothing can be said: no model is then asked. */
  openAnswer(action: GenerateAction): GenerationSink | undefined;
  /** Called when an answer is complete; its text is empty if the model failed. The returned events go to the engine
   *  right after the answer. */
  onAnswered?(requestId: number, text: string): DialogueInput | undefined;
  /** The request's answer is not needed any more. */
  onAbandoned?(requestId: number): void;
  /** Stops what is being said, and drops what is queued. */
  hush?(): void;
  /** Sends keys to the far end. */
  press?(digits: string): void;
  expect(expectation: ExpectedInput): void;
  /** Called at a change of node, agent or language: what is said or asked after this belongs to the new place. */
  moved?(to: Partial<SpeechPlace>): void;
  /** Transfers the caller. Never rejects. */
  transfer(action: TransferAction, signal: AbortSignal): Promise<TransferEvent>;
  end(reason: EndReason): void;
  /** Whether the caller is in the middle of a turn, by voice or keys. */
  isCallerSpeaking?(): boolean;
  /** Called before the engine gets an event. Errors thrown here are faults of ours. */
  beforeStep?(event: DialogueEvent): void;
  /** Called after each event, when all of its actions are done; not after closing. */
  onStepped?(state: DialogueState): void;
  /** Called when the engine has no more events for now; not after closing. */
  onDrained?(): void;
  /** Called at a fault of ours: the conversation cannot go on. */
  onBroken(error: unknown): void;
}

export interface DialogueRunnerOptions {
  engine: Pick<DialogueEngine, 'initial' | 'step'>;
  /** The initial state. Default: the beginning of the graph. */
  state?: DialogueState;
  medium: DialogueMedium;
  record: DialogueRecord;
  /** Stores what the engine gets. Default: only what is noted anyway. */
  inputs?: EngineInputs;
  organizationId: string;
  workflowId: string;
  /** The language model; undefined: the scripted policy leads. */
  llm: LanguageModel | undefined;
  toolRequests: Omit<ToolRequestDeps, 'clock'>;
  clock: Clock;
  log: Log;
}

const SPOKEN_TURN = { type: 'caller-turn', source: 'speech' } as const;

export class DialogueRunner {
  readonly #medium: DialogueMedium;
  readonly #record: DialogueRecord;
  readonly #log: Log;
  readonly #abort = new AbortController();
  readonly #timers: CallTimers;
  readonly #queue: DialogueQueue;
  readonly #generation: Generation;
  readonly #tools: ToolRunner;

  constructor(options: DialogueRunnerOptions) {
    const { engine, medium, record, log } = options;
    this.#medium = medium;
    this.#record = record;
    this.#log = log;
    const onBroken = (error: unknown): void => medium.onBroken(error);
    const clock = guardedClock(options.clock, onBroken);
    const callSignal = this.#abort.signal;
    this.#timers = new CallTimers(clock);
    this.#queue = new DialogueQueue({
      engine,
      state: options.state ?? engine.initial,
      clock,
      isCallerSpeaking: () => medium.isCallerSpeaking?.() === true,
      beforeStep: (event) => medium.beforeStep?.(event),
      onInput: (step) => options.inputs?.take(step),
      onUnused: (noted) => record.note(noted),
      perform: (action) => this.#perform(action),
      onStepped: (state) => medium.onStepped?.(state),
      onDrained: () => medium.onDrained?.(),
      onBroken,
    });
    this.#generation = new Generation({
      llm: options.llm,
      listener: {
        onAnswer: (requestId, { text, toolCalls, vendor }) =>
          this.#answered(
            { type: 'model-answered', requestId, text, toolCalls, ...(vendor && { vendor }) },
            text,
          ),
        onFailure: (requestId, code, refused) =>
          this.#answered(
            { type: 'model-failed', requestId, code, ...(refused && { refused }) },
            '',
          ),
        onExtracted: (extractionId, values) =>
          this.dispatch({ type: 'extracted', extractionId, values }),
        onExtractionFailure: (extractionId, code) =>
          this.dispatch({ type: 'extraction-failed', extractionId, code }),
        onUsage: (usage) => record.note(usage),
        onFault: (error) => record.fault(error, false),
        onBroken,
      },
      log,
      clock,
      callSignal,
      cacheKey: `workflow-${options.workflowId}`,
    });
    this.#tools = new ToolRunner({
      organizationId: options.organizationId,
      requests: options.toolRequests,
      clock,
      log,
      callSignal,
      transfer: (action, signal) => medium.transfer(action, signal),
      onEvent: (event) => this.dispatch(event),
      onBroken,
    });
  }

  /** The state of the conversation. Read only. */
  get state(): DialogueState {
    return this.#queue.state;
  }

  /** Whether an answer of the model or of a tool is awaited. */
  get isAsking(): boolean {
    return this.#generation.pending || this.#tools.pending;
  }

  /** Whether values are being extracted, in separate requests. */
  get isExtracting(): boolean {
    return this.#generation.isExtracting;
  }

  /** Queues events. Never throws. */
  dispatch(...events: DialogueInput[]): void {
    this.#queue.dispatch(...events);
  }

  /** Queues an event whose content is noted in the run's log, as `noted`. Never throws. */
  dispatchNoted(event: DialogueInput, noted: NotedInput): void {
    this.#queue.dispatchNoted(event, noted);
  }

  /** Asks the model ahead: the caller's turn has probably ended, with these words. Nothing else happens before the
   *  turn comes, with the same words or others. */
  speculate({ text, confidence }: { text: string; confidence: number | null }): void {
    const { request, tools, speaking } = this.state;
    if (request !== null || tools !== null || speaking.length > 0) return;
    try {
      const next = this.#queue.preview({ ...SPOKEN_TURN, text, confidence });
      const asked = next?.actions.find((action) => action.type === 'generate');
      if (next === undefined || asked === undefined) return;
      this.#generation.speculate({ ...asked, nodeId: next.state.nodeId });
    } catch (error) {
      this.#log.warn({ err: error }, 'turn not prepared');
    }
  }

  /** Drops the answer that was asked for ahead: the turn goes on, or was none. */
  withdraw(): void {
    this.#generation.withdraw();
  }

  /** Ends the conversation: work in progress is aborted, and later events have no effect. */
  close(): void {
    this.#queue.close();
    this.#generation.close();
    this.#timers.cancelAll();
    this.#abort.abort();
  }

  #perform(action: DialogueAction): void {
    switch (action.type) {
      case 'say':
        this.#medium.say(action);
        break;
      case 'generate':
        this.#generate(action);
        break;
      case 'abandon':
        this.#medium.onAbandoned?.(action.requestId);
        this.#generation.abandon(action.requestId);
        break;
      case 'extract':
        this.#generation.extract(action);
        break;
      case 'hush':
        this.#medium.hush?.();
        break;
      case 'press':
        this.#medium.press?.(action.digits);
        break;
      case 'expect':
        this.#medium.expect(action.expectation);
        break;
      case 'wait':
        this.#wait(action);
        break;
      case 'log': {
        this.#record.note(action.body);
        const moved = moveIn(action.body);
        if (moved !== undefined) this.#medium.moved?.(moved);
        break;
      }
      case 'call-out':
      case 'transfer':
      case 'stop-tool':
        this.#tools.perform(action);
        break;
      case 'end':
        this.#medium.end(action.reason);
    }
  }

  #generate(action: GenerateAction): void {
    const sink = this.#medium.openAnswer(action);
    if (sink !== undefined) this.#generation.start(action, sink, this.state.nodeId);
  }

  #answered(event: DialogueInput & { requestId: number }, text: string): void {
    const next = this.#medium.onAnswered?.(event.requestId, text);
    if (next === undefined) this.dispatch(event);
    else this.dispatch(event, next);
  }

  #wait({ waitId, delayMs }: Act<'wait'>): void {
    const { phase, waits } = this.state;
    const isOpening = phase === 'delayed' && waits.opening === waitId;
    const waited = { type: 'waited', waitId } as const;
    if (isOpening && !this.#medium.waitsAtOpening) this.dispatch(waited);
    else this.#timers.after(delayMs, () => this.dispatch(waited));
  }
}
