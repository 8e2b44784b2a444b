// Options of a call's playout, and its listeners.

import type { Filler } from './filler.ts';
import type { FrameBatch } from './frame-batch.ts';
import type { FrameWriter } from './frame-writer.ts';
import type { PlayedListener } from './playhead.ts';
import type { SendAheadOptions } from './send-ahead.ts';
import type { Utterance, UtteranceResult } from './utterance.ts';

export interface PlayoutListener {
  /** Whether the first frame of `utterance` may be sent. Called at each tick. */
  mayStart(utterance: Utterance, nowMs: number): boolean;
  onStarted(utterance: Utterance, nowMs: number): void;
  /** Called in queue order, once per utterance. `endMs` is where its audio ended. */
  onFinished(facts: UtteranceResult): void;
  /** A segment was sent: another one may be synthesised. */
  onRoom(): void;
}

export interface PlayoutOptions {
  writer: FrameWriter;
  wire: FrameBatch;
  lead: SendAheadOptions;
  marks: boolean;
  /** Audio in the agent's pauses. */
  pause: Filler;
  onPlayed: PlayedListener;
  listener: PlayoutListener;
}
