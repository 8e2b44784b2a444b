// Generated tones: DTMF digits, ring-back. Detection is dtmf-detector's.
// Source: ITU-T Q.23 (DTMF frequencies), Q.24 (levels and times), E.180 supplement 2 and Telcordia GR-506 (North
// America's ring-back).

import { fadeIn, fadeOut, gainOfDb } from '../gain.ts';
import { msToSamples, RATE_HZ } from '../pcm.ts';
import { DTMF_DIGITS, DTMF_HIGH_HZ, DTMF_LOW_HZ } from './dtmf-frequencies.ts';

/** An endless tone, read frame by frame. */
export interface ToneSamples {
  /** Overwrites `pcm` with the next samples. */
  fill(pcm: Int16Array): void;
}

/** Peaks of the two tones: -7 and -5 dBm0, a twist of 2 dB (0 dBm0 is a sine of -3.17 dBFS). */
const DTMF_LOW_DBFS = -10.17;
const DTMF_HIGH_DBFS = -8.17;
const DTMF_TONE_MS = 100;
const DTMF_PAUSE_MS = 100;
/** Length of the pause `w`. */
const DTMF_WAIT = 'w';
const DTMF_WAIT_MS = 500;
/** A tone fades in and out over this time; without it, its click is in all bands. */
const DTMF_EDGE_MS = 4;
/** Longer than any number, card or code; 13 s of tones, or 32 s of pauses. */
export const DTMF_DIGITS_MAX = 64;

export function isDtmfDigit(digit: string): boolean {
  return digit.length === 1 && DTMF_DIGITS.includes(digit);
}

/** The digits' tones at 8 kHz, 100 ms each, followed by 100 ms of silence; `w` is half a second of silence.
 *  Throws RangeError for more than DTMF_DIGITS_MAX digits and for anything but 0-9, *, #, A-D, w. */
export function dtmfTones(digits: string): Int16Array {
  if (digits.length > DTMF_DIGITS_MAX) throw new RangeError('too many DTMF digits');
  const toneSamples = msToSamples(DTMF_TONE_MS);
  const digitSamples = toneSamples + msToSamples(DTMF_PAUSE_MS);
  const waitSamples = msToSamples(DTMF_WAIT_MS);
  const waits = digits.split(DTMF_WAIT).length - 1;
  const pcm = new Int16Array((digits.length - waits) * digitSamples + waits * waitSamples);
  let at = 0;
  for (const digit of digits) {
    if (digit !== DTMF_WAIT) fillDigit(pcm.subarray(at, at + toneSamples), digit);
    at += digit === DTMF_WAIT ? waitSamples : digitSamples;
  }
  return pcm;
}

function fillDigit(pcm: Int16Array, digit: string): void {
  if (!isDtmfDigit(digit)) throw new RangeError('not a DTMF digit');
  const key = DTMF_DIGITS.indexOf(digit);
  const low = (2 * Math.PI * (DTMF_LOW_HZ[key >> 2] as number)) / RATE_HZ;
  const high = (2 * Math.PI * (DTMF_HIGH_HZ[key & 3] as number)) / RATE_HZ;
  const lowPeak = 32_768 * gainOfDb(DTMF_LOW_DBFS);
  const highPeak = 32_768 * gainOfDb(DTMF_HIGH_DBFS);
  for (let i = 0; i < pcm.length; i++) {
    pcm[i] = Math.round(lowPeak * Math.sin(low * i) + highPeak * Math.sin(high * i));
  }
  const edge = msToSamples(DTMF_EDGE_MS);
  fadeIn(pcm.subarray(0, edge));
  fadeOut(pcm.subarray(pcm.length - edge));
}

/** Frequencies of the two tones, each at -19 dBm0. */
const RING_HZ = [440, 480];
const RING_DBFS = -22.17;
const RING_ON_SAMPLES = 2 * RATE_HZ;
const RING_CYCLE_SAMPLES = 6 * RATE_HZ;
/** Lower than a DTMF tone: no detector has to find it. */
const RING_EDGE_MS = 10;

/** Ring-back tone at 8 kHz: two seconds of tone, then four of silence, repeated for ever. */
export function ringbackTone(): ToneSamples {
  const sounding = ringSound();
  let at = 0;
  return {
    fill(pcm) {
      for (let i = 0; i < pcm.length; i++) {
        pcm[i] = at < RING_ON_SAMPLES ? (sounding[at] as number) : 0;
        at = (at + 1) % RING_CYCLE_SAMPLES;
      }
    },
  };
}

let ring: Int16Array | undefined;

/** One cycle of the tone, computed once for all calls. */
function ringSound(): Int16Array {
  if (ring !== undefined) return ring;
  const peak = 32_768 * gainOfDb(RING_DBFS);
  const steps = RING_HZ.map((hz) => (2 * Math.PI * hz) / RATE_HZ);
  ring = Int16Array.from({ length: RING_ON_SAMPLES }, (_, i) =>
    Math.round(peak * steps.reduce((sum, step) => sum + Math.sin(step * i), 0)),
  );
  const edge = msToSamples(RING_EDGE_MS);
  fadeIn(ring.subarray(0, edge));
  fadeOut(ring.subarray(RING_ON_SAMPLES - edge));
  return ring;
}

/** Two soft notes, well below speech and below the frequencies of answering machines' beeps and of most call progress
 *  tones' detectors. */
const WAITING_HZ = [392, 494];
const WAITING_DBFS = -32;
const WAITING_NOTE_SAMPLES = msToSamples(140);
/** Silence before the first note: the voice has just ended. */
const WAITING_LEAD_SAMPLES = msToSamples(600);
const WAITING_CYCLE_SAMPLES = msToSamples(2_000);
const WAITING_EDGE_MS = 50;

/** Waiting tone at 8 kHz: 600 ms of silence, two soft notes, silence, repeated every two seconds for ever. */
export function waitingTone(): ToneSamples {
  const notes = waitingSound();
  let at = 0;
  return {
    fill(pcm) {
      for (let i = 0; i < pcm.length; i++) {
        pcm[i] = notes[at - WAITING_LEAD_SAMPLES] ?? 0;
        at = (at + 1) % WAITING_CYCLE_SAMPLES;
      }
    },
  };
}

let waiting: Int16Array | undefined;

/** One cycle of the tone, computed once for all calls. */
function waitingSound(): Int16Array {
  if (waiting !== undefined) return waiting;
  const peak = 32_768 * gainOfDb(WAITING_DBFS);
  const edge = msToSamples(WAITING_EDGE_MS);
  waiting = new Int16Array(WAITING_HZ.length * WAITING_NOTE_SAMPLES);
  for (const [nth, hz] of WAITING_HZ.entries()) {
    const step = (2 * Math.PI * hz) / RATE_HZ;
    const note = waiting.subarray(nth * WAITING_NOTE_SAMPLES, (nth + 1) * WAITING_NOTE_SAMPLES);
    for (let i = 0; i < note.length; i++) note[i] = Math.round(peak * Math.sin(step * i));
    fadeIn(note.subarray(0, edge));
    fadeOut(note.subarray(note.length - edge));
  }
  return waiting;
}
