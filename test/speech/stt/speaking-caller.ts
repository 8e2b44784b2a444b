// A caller who speaks words into a recogniser on a rig, in the fake clock's time.

import { framesOf, silentFrames, wordOf } from '../../fakes/call/spoken-words.ts';
import type { RecognizerRig } from './recognizer-rig.ts';

export class SpeakingCaller {
  readonly rig: RecognizerRig;

  constructor(rig: RecognizerRig) {
    this.rig = rig;
  }

  readonly hear = (frames: readonly Int16Array[]): void => {
    for (const frame of frames) {
      this.rig.clock.advance(20);
      this.rig.recognizer.push(frame);
    }
  };

  readonly silence = (ms: number): void => this.hear(silentFrames(ms));

  readonly says = (text: string): void => {
    this.rig.recognizer.speechStarted();
    this.hear(framesOf(text));
    this.rig.recognizer.speechStopped?.();
  };

  readonly turn = (text: string): void => {
    this.says(text);
    this.silence(300);
    this.rig.recognizer.finalize();
  };
}

/** So many words, from one of them on. */
export function many(count: number, from = 0): string {
  return Array.from({ length: count }, (_, nth) => wordOf(from + nth)).join(' ');
}
