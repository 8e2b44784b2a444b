// One call's audio: joins decode, listen, turn, interrupt, speak, playout, digits and record. It knows
// no provider, no socket and no workflow; whatever happens goes to the listener, synchronously.

import type { Codec } from '../codec/codec.ts';
import type { GatewayError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Expectation } from '../model/expectation.ts';
import type { SpeechToText } from '../speech/stt/stt.ts';
import type { TextToSpeech } from '../speech/tts/tts.ts';
import type { Clock } from '../std/clock.ts';
import type { VadModel } from './listen.ts';
import type { MediaClock } from './media-clock.ts';
import type { RecordingFile, RecordingSummary } from './record.ts';
import type { TurnTuning } from './tuning.ts';

/** The way out to the caller, in the provider's terms. */
export interface AudioWire {
  /** One encoded 20 ms frame; borrowed until the call returns. */
  audio(payload: Uint8Array): void;
  mark(name: string): void;
  /** Drops what the far end has buffered. */
  clear(): void;
  /** Bytes accepted and not yet on their way. */
  readonly bufferedBytes: number;
}

export interface CallerTurn {
  text: string;
  /** 0..1, or null where the recogniser gives none. Keys are certain: 1. */
  confidence: number | null;
  source: 'speech' | 'dtmf';
  /** Media time of the first and the last speech (or key). */
  startMs: number;
  endMs: number;
  /** Monotonic milliseconds: the last speech, the decision that it was the last, its final words. */
  lastSpeechAt: number;
  decidedAt: number;
  finalAt: number;
}

export interface UtteranceReport {
  utteranceId: number;
  /** Only words that the caller heard. */
  heardText: string;
  interrupted: boolean;
  /** Media time of the first and the last audio; both the time of the report if none was sent. */
  startMs: number;
  endMs: number;
}

export interface UtteranceStart {
  utteranceId: number;
  /** Monotonic milliseconds: first text given, first audio synthesised, first frame on the wire. */
  firstTextAt: number;
  firstAudioAt: number;
  firstFrameAt: number;
  /** Media time of the first frame. */
  mediaMs: number;
}

/** Milliseconds from the caller's real onset to the decision, and to silence on the wire. */
export interface InterruptionFacts {
  cause: 'speech' | 'dtmf';
  decisionMs: number;
  silenceMs: number;
}

/** Called synchronously, in order, never from within another callback of the same call. */
export interface CallAudioListener {
  /** The caller certainly began to speak (idle timers). */
  onCallerSpeech(): void;
  onPartial(text: string): void;
  /** Confirmed. The utterances in flight are finished as interrupted right after. */
  onInterruption(facts: InterruptionFacts): void;
  onTurn(turn: CallerTurn): void;
  /** Heard while the agent spoke and no reason to stop, or wholly inside uninterruptible speech. */
  onBackchannel(text: string): void;
  /** Each key, for the log; the entry itself comes as a turn. */
  onDigit(digit: string): void;
  onUtteranceStarted(facts: UtteranceStart): void;
  /** Exactly once per utterance, in order. `heardText` is empty if it never began. */
  onUtteranceFinished(report: UtteranceReport): void;
  /** A service or the recording failed; the call goes on as far as it can. */
  onFault(error: GatewayError): void;
}

/** One utterance, as its text comes. */
export interface Speech {
  text(delta: string): void;
  end(): void;
  cancel(): void;
}

export interface CallAudioOptions {
  clock: Clock;
  mediaClock: MediaClock;
  codecIn: Codec;
  codecOut: Codec;
  wire: AudioWire;
  /** Audio sent ahead of real time: aim, and the most ever. */
  lead: { aimMs: number; maxMs: number };
  /** What the provider does with marks (providers.md §7.2). */
  marks: 'none' | 'echo-on-clear' | 'drop-on-clear';
  vad: VadModel;
  /** Undefined: the caller has the keypad only. */
  stt: SpeechToText | undefined;
  tts: TextToSpeech;
  voice: string | undefined;
  recording: RecordingFile | undefined;
  tuning: TurnTuning;
  listener: CallAudioListener;
  log: Log;
}

export declare class CallAudio {
  constructor(options: CallAudioOptions);
  /** Provider media. `timestampMs` counts from the start of the stream; NaN if there is none. */
  audioIn(payload: Uint8Array, timestampMs: number): void;
  digit(digit: string): void;
  mark(name: string): void;
  /** Queued in order behind what is being said. */
  speak(options: { utteranceId: number; interruptible: boolean }): Speech;
  expect(expectation: Expectation): void;
  /** Media time: milliseconds since the call's audio began. */
  readonly mediaMs: number;
  readonly speaking: boolean;
  readonly callerSpeaking: boolean;
  /** Drops everything queued; silence. */
  stop(): void;
  /** Ends the services and finishes the recording. Undefined without a recording. */
  close(): Promise<RecordingSummary | undefined>;
}
