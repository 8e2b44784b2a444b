// Messages between the gateway and a PocketSphinx thread, in both directions. They are processed in order.

import type { ExpectedInput } from '../../../model/expected-input.ts';
import type { GrammarWarning } from './jsgf.ts';

/** Indexes of shared counters: processed audio messages, posted audio messages, all processed messages, and the
 *  kernel's id of the thread (0: not known). */
export const TAKEN = 0;
export const POSTED = 1;
export const HANDLED = 2;
export const THREAD = 3;

/** Index of the first call's slot after the counters. Each slot has the number of the last utterance whose words the
 *  call no longer needs. */
export const GIVEN_UP = 4;

export interface SphinxData {
  /** Counters of 32 bits at the indexes above. */
  counts: SharedArrayBuffer;
}

export type SphinxRequest =
  | { kind: 'expect'; id: number; expectation: ExpectedInput }
  /** An utterance begins. */
  | { kind: 'start'; id: number }
  /** Audio, 8 kHz; ownership is transferred. */
  | { kind: 'audio'; id: number; samples: Int16Array<ArrayBuffer> }
  /** The utterance is probably over: decode its words ahead. */
  | { kind: 'prepare'; id: number }
  /** The utterance is over; the answer is one `final`. `nth` numbers the utterances of all calls of the thread.
   *  `isPrepared`: whether no speech was detected since `prepare`. */
  | { kind: 'finish'; id: number; slot: number; nth: number; isPrepared: boolean }
  | { kind: 'close'; id: number };

export type SphinxReport =
  | { kind: 'ready' }
  /** The library or its model is missing. */
  | { kind: 'missing'; reason: string }
  | { kind: 'partial'; id: number; text: string }
  | { kind: 'final'; id: number; text: string; confidence: number | null }
  | { kind: 'warned'; id: number; warnings: GrammarWarning[] }
  /** This call's recogniser has failed permanently. */
  | { kind: 'failed'; id: number; reason: string };
