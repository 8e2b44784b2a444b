// A row of the real-PBX run: one feature, tried in each mode.

import type { Stage } from '../stage.ts';

export interface Row {
  feature: string;
  /** Why it is not tried in this mode; undefined: it is. */
  skips?: (stage: Stage) => string | undefined;
  /** What was measured. Throws if the feature does not work. */
  run(stage: Stage): Promise<string>;
}

/** Throws, saying what is wrong, unless it is so. */
export function check(isSo: boolean, wrong: string): asserts isSo {
  if (!isSo) throw new Error(wrong);
}

export const decibel = (level: number): string => `${level.toFixed(2)} dB`;
export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
export const millis = (ms: number): string => `${Math.round(ms)} ms`;
