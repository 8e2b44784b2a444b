// What happens to audio on its way between the two channels of a call: trunks, networks and gains that are wrong.

import { FRAME_SAMPLES, RATE_HZ } from '../../../../src/audio/pcm.ts';
import { codecByName } from '../../../../src/codec/registry.ts';
import type { Frame } from './frame.ts';

export interface AudioFault {
  /** Nothing passes: a firewall, NAT. */
  isMute?: boolean;
  /** So many of a hundred frames are lost. */
  lostPercent?: number;
  delayMs?: number;
  /** Factor of the samples. */
  gain?: number;
  /** One end encodes A-law, the other decodes mu-law. */
  isMisread?: boolean;
  /** So many frames come at once, after as much time. */
  burstFrames?: number;
}

export class AudioWay {
  readonly #later: (ms: number, run: () => void) => void;
  readonly #deliver: (frame: Frame) => void;
  #count = 0;
  #held: Frame[] = [];

  constructor(later: (ms: number, run: () => void) => void, deliver: (frame: Frame) => void) {
    this.#later = later;
    this.#deliver = deliver;
  }

  pass(frame: Frame, fault: AudioFault | undefined): void {
    if (fault === undefined) {
      this.#deliver(frame);
      return;
    }
    const { isMute, lostPercent = 0, delayMs = 0, burstFrames = 1 } = fault;
    this.#count += 1;
    if (isMute === true) return;
    // Spread evenly: 7 % loses each 14th or 15th.
    if (
      Math.floor((this.#count * lostPercent) / 100) >
      Math.floor(((this.#count - 1) * lostPercent) / 100)
    )
      return;
    const changed = { rateHz: frame.rateHz, pcm: changedBy(fault, frame) };
    if (delayMs > 0) {
      this.#later(delayMs, () => this.#deliver(changed));
      return;
    }
    this.#held.push(changed);
    if (this.#held.length < burstFrames) return;
    for (const each of this.#held.splice(0)) this.#deliver(each);
  }
}

function changedBy(
  { gain = 1, isMisread = false }: AudioFault,
  { pcm, rateHz }: Frame,
): Int16Array {
  const changed = pcm.map((sample) => Math.round(sample * gain));
  if (!isMisread || rateHz !== RATE_HZ || pcm.length !== FRAME_SAMPLES) return changed;
  const payload = new Uint8Array(FRAME_SAMPLES);
  codecByName('PCMA').encode(changed, payload);
  codecByName('PCMU').decode(payload, changed);
  return changed;
}
