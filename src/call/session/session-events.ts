// Writes one session's facts into its run's log, with their node and the latency of each answer: the time from the
// caller's last speech to the agent's first sent frame, in parts.

import { responseSeconds } from '../../metrics/metrics.ts';
import type { CallEvent, TurnLatency, UtteranceKind } from '../../model/call-event.ts';
import type { UtteranceReport } from '../../pipeline/call-audio-event.ts';
import type { CallerTurn, InterruptionFacts } from '../../pipeline/turn/turn-event.ts';
import type { ServiceUsage } from '../../speech/service/service-means.ts';
import type { NotedInput } from '../events/engine-inputs.ts';
import type { RunLog } from '../events/event-log.ts';
import { DialogueRecord, type NodePlace } from './dialogue/dialogue-record.ts';

export interface TurnTimes {
  lastSpeechAt: number;
  decidedAt: number;
  finalAt: number;
}

export interface AnswerTimes {
  firstTextAt: number;
  firstAudioAt: number;
  firstFrameAt: number;
}

interface Voice {
  name: string;
  model: string;
  /** Streaming interface of the voice; undefined: it speaks sentence by sentence. */
  stream?: unknown;
}

interface SpokenCharacters {
  service: string;
  model: string;
  characters: number;
}

/** Media time of the first and last sound, in milliseconds. */
interface Span {
  startMs: number;
  endMs: number;
}

interface Spoken extends NodePlace {
  kind: UtteranceKind;
}

/** Utterances that explain a wait answer no turn. */
interface UtteranceRole {
  isAnswer: boolean;
}

/** Characters of an event's unheard words: a minute of speech. */
const UNHEARD_CHARACTERS_MAX = 1_000;

export class SessionEvents extends DialogueRecord {
  readonly #runLog: RunLog;
  readonly #startMs: () => number;
  readonly #utterances = new Map<number, Spoken>();
  /** Utterances that answer no turn. */
  readonly #asides = new Set<number>();
  /** Utterances that are being played. */
  readonly #heard = new Set<number>();
  /** The turn without an answer so far. */
  #turn: CallerTurn | undefined;
  /** The agent's current voice; `#spoken` has the characters of every voice so far. */
  voice: Voice = { name: '', model: '' };
  readonly #spoken: { voice: Voice; characters: number }[] = [];
  /** Jobs whose services count their own usage. */
  readonly #counted = new Set<ServiceUsage['job']>();

  /** `startMs`: media time of the run at which the session's own begins. Default: 0. */
  constructor(
    runLog: RunLog,
    mediaMs: () => number,
    { startMs = () => 0, place }: { startMs?: () => number; place?: NodePlace | undefined } = {},
  ) {
    super((body) => runLog.append(body, mediaMs()), place);
    this.#runLog = runLog;
    this.#startMs = startMs;
  }

  /** The media time of the run, in whole milliseconds. */
  span({ startMs, endMs }: Span): Span {
    const from = this.#startMs();
    return { startMs: Math.round(from + startMs), endMs: Math.round(from + endMs) };
  }

  /** Counts the characters that the caller has heard in a former process, which did not come to note its usage. */
  continue(events: readonly CallEvent[]): void {
    if (events.some(({ body }) => body.type === 'speech.usage')) return;
    for (const { body } of events) if (body.type === 'agent.said') this.spoken(body.text);
  }

  /** Characters sent to voices that did not count them: where another voice has counted, those of the embedded one,
   *  which speaks sentence by sentence. */
  get charactersSpoken(): SpokenCharacters[] {
    const { name: service, model } = this.voice;
    const hasCounted = this.isCounted('tts');
    const spoken = this.#spoken.filter(({ voice }) => !hasCounted || voice.stream === undefined);
    if (spoken.length === 0 && !hasCounted) return [{ service, model, characters: 0 }];
    return spoken.map(({ voice, characters }) => {
      return { service: voice.name, model: voice.model, characters };
    });
  }

  /** Whether the job's services have counted their own usage. */
  isCounted(job: ServiceUsage['job']): boolean {
    return this.#counted.has(job);
  }

  usage({ job, service, model, unit, amount }: ServiceUsage): void {
    this.#counted.add(job);
    if (unit === 'characters') {
      this.note({ type: 'speech.usage', service, model, characters: amount });
    } else {
      this.note({ type: 'recognition.usage', service, model, seconds: amount });
    }
  }

  /** Notes the time of a turn that is answered. */
  callerTurn(turn: CallerTurn): void {
    this.#turn = turn;
  }

  /** The log entry of a turn in the current node. */
  turnEntry(turn: CallerTurn): NotedInput {
    return {
      type: 'user.turn',
      text: turn.text,
      source: turn.source,
      confidence: turn.confidence,
      ...this.place,
      ...this.span(turn),
    };
  }

  /** Notes an utterance that was requested in the current node. */
  utterance(
    utteranceId: number,
    kind: UtteranceKind,
    { isAnswer }: UtteranceRole = { isAnswer: true },
  ): void {
    this.#utterances.set(utteranceId, { kind, ...this.place });
    if (!isAnswer) this.#asides.add(utteranceId);
  }

  spoken(text: string): void {
    const { voice } = this;
    const known = this.#spoken.find((each) => each.voice === voice);
    if (known === undefined) this.#spoken.push({ voice, characters: text.length });
    else known.characters += text.length;
  }

  /** Notes that the first frame of an utterance was sent: the caller's last turn is answered. */
  answered(times: AnswerTimes & { utteranceId: number }): void {
    this.#heard.add(times.utteranceId);
    this.#runLog.emitLive('rtf-bot-started-speaking');
    if (this.#turn === undefined || this.#asides.has(times.utteranceId)) return;
    const parts = turnLatencyOf(this.#turn, times);
    this.#turn = undefined;
    observe(parts);
    this.note({ type: 'turn.latency', parts });
  }

  /** The log entry of an utterance that is over; undefined if nothing of it was heard. */
  agentSaid(report: UtteranceReport): NotedInput | undefined {
    // An utterance that never began was not heard.
    if (this.#heard.delete(report.utteranceId)) this.#runLog.emitLive('rtf-bot-stopped-speaking');
    const spoken = this.#utterances.get(report.utteranceId);
    this.#utterances.delete(report.utteranceId);
    this.#asides.delete(report.utteranceId);
    if (spoken === undefined || report.heardText === '') return undefined;
    return {
      type: 'agent.said',
      utteranceId: report.utteranceId,
      ...spoken,
      text: report.heardText,
      ...(report.unheardText !== undefined && {
        unheard: report.unheardText.slice(0, UNHEARD_CHARACTERS_MAX),
      }),
      interrupted: report.interrupted,
      ...this.span(report),
    };
  }

  interruption(facts: InterruptionFacts): void {
    this.note({
      type: 'interruption',
      cause: facts.cause,
      decisionMs: Math.round(facts.decisionMs),
      silenceMs: Math.round(facts.silenceMs),
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

/** Splits an answer's latency. All times are monotonic milliseconds. Parts are never negative; `gatewayMs` is the
 *  rest. */
export function turnLatencyOf(turn: TurnTimes, answer: AnswerTimes): TurnLatency {
  const endpointingMs = gap(turn.lastSpeechAt, turn.decidedAt);
  const recognitionMs = gap(turn.decidedAt, turn.finalAt);
  const modelMs = gap(turn.finalAt, answer.firstTextAt);
  const speechMs = gap(Math.max(turn.finalAt, answer.firstTextAt), answer.firstAudioAt);
  const totalMs = gap(turn.lastSpeechAt, answer.firstFrameAt);
  const services = endpointingMs + recognitionMs + modelMs + speechMs;
  return {
    endpointingMs,
    recognitionMs,
    modelMs,
    speechMs,
    totalMs,
    gatewayMs: Math.max(0, rounded(totalMs - services)),
  };
}

function gap(from: number, to: number): number {
  return rounded(Math.max(0, to - from));
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
