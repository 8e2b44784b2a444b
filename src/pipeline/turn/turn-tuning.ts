// Settings of turns and interruptions that an agent's author may change (contract §5.5). Their behaviour is in
// turn-detector.ts and barge-in.ts.

export interface TurnTuning {
  /** The caller's turn ends at the latest this long after the last new word. */
  turnMaxMs: number;
  /** What counts as an interruption while the agent speaks. */
  start: {
    /** `default`: words or sustained voice. `min_words`: words alone, at least `wordsMin`.
     *  `provisional_vad`: any voice pauses the agent for `pauseMs`, only words stop it. */
    strategy: 'default' | 'min_words' | 'provisional_vad';
    wordsMin: number;
    pauseMs: number;
  };
}

export const defaultTuning: TurnTuning = {
  turnMaxMs: 5_000,
  start: { strategy: 'default', wordsMin: 3, pauseMs: 1_500 },
};
