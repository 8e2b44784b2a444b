// Writes one session's facts into its run log, with the node they belong to and the delays they
// measure. It decides nothing.

import { codeOf } from '../../errors/gateway-error.ts';
import { responseSeconds } from '../../metrics/metrics.ts';
import type { CallEventBody, TurnLatency, UtteranceKind } from '../../model/call-event.ts';
import type { UtteranceReport } from '../../pipeline/call-audio-event.ts';
import type { CallerTurn, InterruptionFacts } from '../../pipeline/turn/turn-event.ts';
import type { RunLog } from '../log/event-log.ts';
import { type AnswerTimes, turnLatencyOf } from './turn-latency.ts';

interface Spoken {
  kind: UtteranceKind;
  nodeId: string | null;
  nodeName: string | null;
}

export class SessionEvents {
  readonly #runLog: RunLog;
  readonly #mediaMs: () => number;
  readonly #utterances = new Map<number, Spoken>();
  /** Utterances that are being heard. */
  readonly #heard = new Set<number>();
  #nodeId: string | null = null;
  #nodeName: string | null = null;
  /** The turn that has not been answered yet. */
  #turn: CallerTurn | undefined;
  #charactersSpoken = 0;

  constructor(runLog: RunLog, mediaMs: () => number) {
    this.#runLog = runLog;
    this.#mediaMs = mediaMs;
  }

  /** Characters sent to speech synthesis so far. */
  get charactersSpoken(): number {
    return this.#charactersSpoken;
  }

  note(body: CallEventBody): void {
    if (body.type === 'node.entered') {
      this.#nodeId = body.nodeId;
      this.#nodeName = body.nodeName;
    }
    this.#runLog.append(body, this.#mediaMs());
  }

  callerTurn(turn: CallerTurn): void {
    this.#turn = turn;
    this.note({
      type: 'user.turn',
      text: turn.text,
      source: turn.source,
      confidence: turn.confidence,
      nodeId: this.#nodeId,
      nodeName: this.#nodeName,
      startMs: Math.round(turn.startMs),
      endMs: Math.round(turn.endMs),
    });
  }

  /** An utterance was asked for in the node that is current. */
  utterance(utteranceId: number, kind: UtteranceKind): void {
    this.#utterances.set(utteranceId, { kind, nodeId: this.#nodeId, nodeName: this.#nodeName });
  }

  spoken(text: string): void {
    this.#charactersSpoken += text.length;
  }

  /** The first frame of an utterance is on the wire: the caller's last turn is answered. */
  answered(times: AnswerTimes & { utteranceId: number }): void {
    this.#heard.add(times.utteranceId);
    this.#runLog.emitLive('rtf-bot-started-speaking');
    if (this.#turn === undefined) return;
    const parts = turnLatencyOf(this.#turn, times);
    this.#turn = undefined;
    observe(parts);
    this.note({ type: 'turn.latency', parts });
  }

  agentSaid(report: UtteranceReport): void {
    // Nobody has heard of one that never began.
    if (this.#heard.delete(report.utteranceId)) this.#runLog.emitLive('rtf-bot-stopped-speaking');
    const spoken = this.#utterances.get(report.utteranceId);
    this.#utterances.delete(report.utteranceId);
    if (spoken === undefined || report.heardText === '') return;
    this.note({
      type: 'agent.said',
      utteranceId: report.utteranceId,
      ...spoken,
      text: report.heardText,
      interrupted: report.interrupted,
      startMs: Math.round(report.startMs),
      endMs: Math.round(report.endMs),
    });
  }

  interruption(facts: InterruptionFacts): void {
    this.note({
      type: 'interruption',
      cause: facts.cause,
      decisionMs: Math.round(facts.decisionMs),
      silenceMs: Math.round(facts.silenceMs),
    });
  }

  fault(error: unknown, fatal: boolean): void {
    this.note({
      type: 'fault',
      code: codeOf(error) ?? 'UNEXPECTED',
      message: codeOf(error) === undefined ? 'Unexpected error' : String((error as Error).message),
      fatal,
    });
  }
}

function observe(parts: TurnLatency): void {
  responseSeconds.observe({ part: 'endpointing' }, parts.endpointingMs / 1_000);
  responseSeconds.observe({ part: 'recognition' }, parts.recognitionMs / 1_000);
  responseSeconds.observe({ part: 'model' }, parts.modelMs / 1_000);
  responseSeconds.observe({ part: 'speech' }, parts.speechMs / 1_000);
  responseSeconds.observe({ part: 'gateway' }, parts.gatewayMs / 1_000);
  responseSeconds.observe({ part: 'total' }, parts.totalMs / 1_000);
}
