// What a call's audio tells: the caller's turns and keys, what became of each utterance, what failed.

import type { GatewayError } from '../errors/gateway-error.ts';

export interface CallerTurnFacts {
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
  interruptible: boolean;
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
  onTurn(turn: CallerTurnFacts): void;
  /** Heard while the agent spoke and no reason to stop, or wholly inside uninterruptible speech. */
  onBackchannel(text: string): void;
  /** Each key, for the log; the entry itself comes as a turn. */
  onDigit(digit: string): void;
  onUtteranceStarted(facts: UtteranceStart): void;
  /** Exactly once per utterance, in order. `heardText` is empty if it never began. */
  onUtteranceFinished(report: UtteranceReport): void;
  /** A service or the recording failed; the call goes on as far as it can. */
  onFault(error: GatewayError): void;
  /** Our own code failed: the call must end. At most once; must not throw. */
  onBroken(error: unknown): void;
}

/** One utterance, as its text comes. */
export interface UtteranceText {
  text(delta: string): void;
  end(): void;
  cancel(): void;
}

/** An utterance that is recorded. */
export interface SpokenClip {
  utteranceId: number;
  interruptible: boolean;
  /** What is said in it. */
  text: string;
  /** Borrowed for good. */
  samples: Int16Array;
}
