// The agent's first words: when they may begin while the caller makes a sound. A greeting of the caller is heard out, and
// the agent's own answers it; a sound without words is noise soon. Voice and words in, a decision out; a classifier of
// what has answered (music, a machine) may stand in front of it.

/** Longest sound of a caller that may be a greeting. */
export const GREETING_MS_MAX = 1_500;
/** Length of a sound without interim words from a recogniser that has them, after which it is none. */
const WORDLESS_MS_MAX = 1_200;
/** Shortest wait for a sound that has gone on for long: the agent does not begin in the middle of a first word. */
const WAIT_MS_MIN = 400;
/** Silence behind a sound without words after which it was a greeting, or nothing. */
const PAUSE_MS = 400;
/** Longest wait of words that cannot be interrupted for the end of the caller's: both are heard out. */
const UNINTERRUPTIBLE_MS_MAX = 2_000;

export interface OpeningSound {
  /** Since when the agent's words wait. All times are media time in milliseconds. */
  sinceMs: number;
  nowMs: number;
  /** Start of the caller's sound. */
  onsetMs: number;
  /** End of the caller's voice; Infinity while it goes on. */
  silentMs: number;
  hasWords: boolean;
  /** Whether the recogniser has words while the caller speaks. */
  interimWords: boolean;
  interruptible: boolean;
}

/** Whether the agent's first words may begin beside this sound of the caller. */
export function mayOpen(sound: OpeningSound): boolean {
  const { nowMs, sinceMs, onsetMs, silentMs, hasWords } = sound;
  const waitedMs = nowMs - sinceMs;
  if (!sound.interruptible && waitedMs >= UNINTERRUPTIBLE_MS_MAX) return true;
  if (hasWords) return false;
  if (nowMs - silentMs >= PAUSE_MS) return true;
  const soundMsMax = sound.interimWords ? WORDLESS_MS_MAX : GREETING_MS_MAX;
  return nowMs - onsetMs >= soundMsMax && waitedMs >= WAIT_MS_MIN;
}
