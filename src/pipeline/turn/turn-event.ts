// What turn-taking reports of the caller: speech, interim words, barge-in, backchannels and whole turns.

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

/** Milliseconds from the caller's real onset to the decision, and to silence on the wire. */
export interface InterruptionFacts {
  cause: 'speech' | 'dtmf';
  decisionMs: number;
  silenceMs: number;
}

export type TurnEvent =
  /** The caller certainly began to speak (idle timers). */
  | { type: 'caller-speech' }
  /** Interim words of the turn so far. */
  | { type: 'partial'; text: string }
  /** Confirmed. The utterances in flight are finished as interrupted right after. */
  | { type: 'interruption'; facts: InterruptionFacts }
  | { type: 'turn'; turn: CallerTurn }
  /** Said while the agent spoke and no reason to stop, or wholly inside uninterruptible speech. */
  | { type: 'backchannel'; text: string };
