// One turn of a text chat: passes events to the dialogue until it waits for the caller or is over. A written
// utterance counts as heard at once. It uses no store.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { turns } from '../../metrics/metrics.ts';
import type { CallEvent, CallEventBody, UtteranceKind } from '../../model/call-event.ts';
import type { EndReason } from '../../model/end-reason.ts';
import type { Run } from '../../model/run.ts';
import { placeKey } from '../../speech/speech-plan.ts';
import type { Clock } from '../../std/clock.ts';
import type { DialogueEvent } from '../../workflow/engine/dialogue-events.ts';
import type { DialogueEngine, DialogueState } from '../../workflow/engine.ts';
import { DialogueRecord, faultBody, type NodePlace } from '../session/dialogue/dialogue-record.ts';
import {
  type DialogueInput,
  type DialogueMedium,
  DialogueRunner,
  type GenerateAction,
} from '../session/dialogue/dialogue-runner.ts';
import type { GenerationSink } from '../session/dialogue/generation.ts';
import { modelOfNode } from '../session/dialogue/node-model.ts';
import { placeIn } from '../session/dialogue/speech-place.ts';
import type { ToolRequestDeps } from '../session/dialogue/tool-request.ts';
import { failedTransfer } from '../session/dialogue/tool-runner.ts';
import type { PlannedModels } from '../start/setup/call-services.ts';

/** Steps of one turn: stops a graph that runs in a cycle without the caller. */
const STEPS_MAX = 500;
/** Changes of service that are noted for one chat, as for a call: models that fail in turn would fill the run's log. */
const CHANGES_MAX = 20;

/** The run's log. */
interface TurnLog {
  /** Writes a fact. */
  note: (body: CallEventBody) => void;
  /** Events of the run so far, without rewound ones. */
  noted: () => readonly CallEvent[];
  /** Milliseconds since the start of the conversation. */
  mediaMs: () => number;
}

export interface TurnDeps {
  models: PlannedModels;
  run: Run;
  engine: DialogueEngine;
  clock: Clock;
  log: Log;
  toolRequests: Omit<ToolRequestDeps, 'clock'>;
  runLog: TurnLog;
}

export interface TurnResult {
  state: DialogueState;
  /** The agent's utterances. */
  said: string[];
  /** Null while the conversation goes on. */
  ended: EndReason | null;
}

/** Runs a turn until the agent waits or the chat is over. Rejects with the signal's reason, with
 *  TEXT_CHAT_TURN_FAILED if the graph does not stop, and with errors of our own code. */
export function runTurn(
  deps: TurnDeps,
  state: DialogueState,
  events: readonly DialogueInput[],
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

interface Spoken {
  utteranceId: number;
  kind: UtteranceKind;
  at: NodePlace;
}

class Turn {
  readonly #deps: TurnDeps;
  readonly #settling: Settling;
  readonly #signal: AbortSignal;
  readonly #record: DialogueRecord;
  readonly #dialogue: DialogueRunner;
  readonly #said: string[] = [];
  /** Outstanding answers, by request id. */
  readonly #awaited = new Map<number, Spoken>();
  #steps = 0;
  #ended: EndReason | null = null;
  #over = false;
  readonly #cutShort = (): void => this.#fail(this.#signal.reason);

  constructor(deps: TurnDeps, state: DialogueState, settling: Settling, signal: AbortSignal) {
    const { engine, run, models, toolRequests, clock, log } = deps;
    this.#deps = deps;
    this.#settling = settling;
    this.#signal = signal;
    const node = engine.summarize(state).lastNode;
    const place = { nodeId: node?.id ?? null, nodeName: node?.name ?? null };
    this.#record = new DialogueRecord((body) => {
      if (!this.#over) deps.runLog.note(body);
    }, place);
    this.#dialogue = new DialogueRunner({
      engine,
      state,
      medium: this.#medium(),
      record: this.#record,
      organizationId: run.organizationId,
      workflowId: run.workflowId,
      llm: modelOfNode(models, () => {
        const { agent, nodeId } = placeIn(this.#dialogue.state);
        return models.nodes?.get(placeKey({ agent, nodeId })) ?? models;
      }),
      toolRequests,
      clock,
      log,
    });
  }

  begin(events: readonly DialogueInput[]): void {
    this.#signal.addEventListener('abort', this.#cutShort, { once: true });
    if (this.#signal.aborted) this.#cutShort();
    this.#listenToModels();
    this.#dialogue.dispatch(...events);
  }

  /** Notes changes and faults of the models. Each turn plans its models again: what the run already has is not noted
   *  twice. */
  #listenToModels(): void {
    const { models, runLog } = this.#deps;
    const faults = () =>
      runLog.noted().flatMap(({ body }) => (body.type === 'fault' ? [body] : []));
    const note = (fault: GatewayError): void => {
      const { code, message } = faultBody(fault, false);
      const isNoted = faults().some((each) => each.code === code && each.message === message);
      if (!isNoted) this.#record.fault(fault, false);
    };
    for (const fault of models.faults ?? []) note(fault);
    models.onPermanentFault = note;
    models.onServiceChanged = (change) => {
      const changes = faults().flatMap((each) => each.change ?? []);
      const { name, model } = change.from;
      const isNoted = changes.some(({ from, fromModel }) => from === name && fromModel === model);
      if (changes.length >= CHANGES_MAX || (change.isPassed === true && isNoted)) return;
      this.#record.serviceChanged(change);
    };
  }

  /** The engine's actions in a text chat. */
  #medium(): DialogueMedium {
    return {
      // There is no pause before the first words of a text chat.
      waitsAtOpening: false,
      say: ({ utteranceId, kind, text }) => {
        this.#heardAgent({ utteranceId, kind, at: this.#record.place }, text);
        this.#dialogue.dispatch(finished(utteranceId, text));
      },
      openAnswer: (action) => this.#openAnswer(action),
      onAnswered: (requestId, text) => this.#answered(requestId, text.trim()),
      onAbandoned: (requestId) => void this.#awaited.delete(requestId),
      expect: () => undefined, // Any text is expected.
      transfer: async ({ toolRunId }) => failedTransfer(toolRunId, 'textchat_not_supported'),
      end: (reason) => {
        this.#ended = reason;
      },
      beforeStep: (event) => this.#beforeStep(event),
      onDrained: () => {
        if (this.#isAtRest()) this.#finish();
      },
      onBroken: (error) => this.#fail(error),
    };
  }

  #beforeStep(event: DialogueEvent): void {
    this.#steps += 1;
    if (this.#steps > STEPS_MAX) {
      throw new GatewayError('TEXT_CHAT_TURN_FAILED', {
        reason: 'the graph runs in a cycle without the caller',
      });
    }
    if (event.type === 'caller-turn') this.#heardCaller(event.text);
  }

  #openAnswer({ requestId, utteranceId, kind }: GenerateAction): GenerationSink {
    this.#awaited.set(requestId, { utteranceId, kind, at: this.#record.place });
    return SILENT;
  }

  /** Logs the words of an answer before their consequences. */
  #answered(requestId: number, text: string): DialogueInput | undefined {
    const spoken = this.#awaited.get(requestId);
    if (spoken === undefined) return undefined;
    this.#awaited.delete(requestId);
    this.#heardAgent(spoken, text);
    return finished(spoken.utteranceId, text);
  }

  #heardCaller(text: string): void {
    turns.inc({ source: 'chat' });
    const ms = this.#deps.runLog.mediaMs();
    this.#record.note({
      type: 'user.turn',
      text,
      source: 'chat',
      confidence: null,
      ...this.#record.place,
      startMs: ms,
      endMs: ms,
    });
  }

  #heardAgent({ utteranceId, kind, at }: Spoken, text: string): void {
    if (text === '') return;
    turns.inc({ source: 'agent' });
    this.#said.push(text);
    const ms = this.#deps.runLog.mediaMs();
    this.#record.note({
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

  /** Whether no more events come until the caller writes. Extractions belong to the turn: it waits for them. */
  #isAtRest(): boolean {
    if (this.#over) return false;
    if (this.#ended !== null) return true;
    const { isAsking, isExtracting, state } = this.#dialogue;
    return !isAsking && !isExtracting && state.phase === 'talking';
  }

  #finish(): void {
    this.#leave();
    const { state } = this.#dialogue;
    this.#settling.resolve({ state, said: this.#said, ended: this.#ended });
  }

  #fail(error: unknown): void {
    if (this.#over) return;
    this.#leave();
    this.#settling.reject(error);
  }

  #leave(): void {
    this.#over = true;
    this.#signal.removeEventListener('abort', this.#cutShort);
    this.#dialogue.close();
  }
}

function finished(utteranceId: number, heardText: string): DialogueInput {
  return { type: 'utterance-finished', utteranceId, heardText, interrupted: false };
}

/** A sink that ignores partial text: the answer is used when it is complete. */
const SILENT = { text: () => undefined, end: () => undefined, cancel: () => undefined };
