// Events of turn-taking: speech, interim words, barge-in, backchannels and whole turns of the caller.

export interface CallerTurn {
  text: string;
  /** 0..1, or null where the recogniser has none. Keys are certain: 1. */
  confidence: number | null;
  source: 'speech' | 'dtmf';
  /** Media time of the first and the last speech (or key). */
  startMs: number;
  endMs: number;
  /** Monotonic milliseconds: end of speech (or of the agent's words, for which a doubted answer waited), decision that
   *  it was the end, final words. */
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
  /** The caller has certainly begun to speak (for idle timers). */
  | { type: 'caller-speech' }
  /** Interim words of the turn so far. */
  | { type: 'partial'; text: string }
  /** The turn has probably ended, with these words. A `turn` with the same words follows, or another event. */
  | { type: 'early-end'; text: string; confidence: number | null }
  /** The turn that had probably ended continues, or was no turn. */
  | { type: 'turn-resumed' }
  /** A confirmed interruption. The events that end the interrupted utterances follow at once. */
  | { type: 'interruption'; facts: InterruptionFacts }
  | { type: 'turn'; turn: CallerTurn }
  /** Words of an earlier turn that came while it was being answered, or later: no answer follows. */
  | { type: 'late-turn'; turn: CallerTurn }
  /** The caller spoke to the silent agent, or has silenced it, and no word was recognised. */
  | { type: 'unrecognized' }
  /** Words that did not stop the agent, or were entirely within uninterruptible speech. */
  | {
      type: 'backchannel';
      text: string;
      confidence: number | null;
      /** Whether they were entirely within uninterruptible speech. */
      isMuted: boolean;
      startMs: number;
      endMs: number;
    };
