// A turn of the caller by voice. All times are media time.

export interface SpokenTurn {
  text: string;
  confidence: number | null;
  /** Language (BCP 47), if the recogniser detects it. */
  language: string | undefined;
  /** Whether these words came without detected voice. */
  unvoiced: boolean;
  startMs: number;
  endMs: number;
  /** Time of the decision that `endMs` was the end, and of the last words. */
  decidedMs: number;
  finalMs: number;
}
