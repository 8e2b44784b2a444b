// What a call's playout is made of, and whom it tells.

import type { Pause } from './filler.ts';
import type { FrameBatch } from './frame-batch.ts';
import type { FrameWriter } from './frame-writer.ts';
import type { PlayedSink } from './playhead.ts';
import type { LeadOptions } from './send-ahead.ts';
import type { FinishedUtterance, Utterance } from './utterance.ts';

export interface PlayoutListener {
  /** Whether the first frame of `utterance` may go out; asked again at each tick. */
  mayStart(utterance: Utterance, nowMs: number): boolean;
  onStarted(utterance: Utterance, nowMs: number): void;
  /** In the order of the queue, once for each utterance. `endMs` is where its audio ended. */
  onFinished(facts: FinishedUtterance): void;
  /** A segment is out: there is room for another. */
  onRoom(): void;
}

export interface PlayoutOptions {
  writer: FrameWriter;
  wire: FrameBatch;
  lead: LeadOptions;
  marks: boolean;
  /** What is sent while there is nothing to say. */
  pause: Pause;
  onPlayed: PlayedSink;
  listener: PlayoutListener;
}
