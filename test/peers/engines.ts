// What really recognises and speaks behind the peers: PocketSphinx with a closed grammar, and Flite. The peers put a
// protocol of others before them; they share no code with the gateway's clients of those protocols.

import { type ExpectedInput, OPEN_SPEECH } from '../../src/model/expected-input.ts';
import type { SpeechToText } from '../../src/speech/stt/stt.ts';
import { createFlite } from '../../src/speech/tts/flite/flite.ts';
import { openSpeechToText } from '../../src/speech/vendors/stt-registry.ts';
import { systemClock } from '../../src/std/clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';

const FRAME_SAMPLES = 160;

/** What the first argument of a peer's process says. */
export interface PeerSettings {
  /** All that its recogniser knows. */
  phrases: string[];
  slots: ExpectedInput['slots'][number][];
}

export function settingsOf(argument: string | undefined): PeerSettings {
  return { phrases: [], slots: [], ...JSON.parse(argument ?? '{}') };
}

/** One stream of 8 kHz, cut into utterances by whoever feeds it. */
export interface Listening {
  push(samples: Int16Array): void;
  /** The words since the last call, and whether the stream goes on is the caller's matter. */
  finish(): Promise<string>;
  /** The words so far. */
  partial(): string;
  close(): void;
}

/** Throws if PocketSphinx is not installed. */
export async function openEars(): Promise<{ listen(of: PeerSettings): Listening }> {
  const stt = await openSpeechToText(
    { service: 'pocketsphinx' },
    { clock: systemClock, log: quietLog().log },
  );
  if (stt === undefined) throw new Error('PocketSphinx is not installed');
  // The first words load the model, which takes seconds on a small machine.
  const first = listen(stt, { phrases: ['yes'], slots: [] });
  first.push(new Int16Array(4_000));
  await first.finish();
  first.close();
  return { listen: (of) => listen(stt, of) };
}

function listen(stt: SpeechToText, { phrases, slots }: PeerSettings): Listening {
  const due: ((text: string) => void)[] = [];
  let partial = '';
  let isBegun = false;
  const recognizer = stt.open(
    { ...OPEN_SPEECH, closed: true, phrases, slots },
    {
      onPartial: ({ text }) => {
        partial = text;
      },
      onFinal: ({ text }) => due.shift()?.(text),
      onError: (error) => {
        throw error;
      },
    },
  );
  return {
    push(samples) {
      if (!isBegun) recognizer.speechStarted();
      isBegun = true;
      for (let at = 0; at < samples.length; at += FRAME_SAMPLES) {
        recognizer.push(samples.subarray(at, at + FRAME_SAMPLES));
      }
    },
    partial: () => partial,
    finish() {
      isBegun = false;
      partial = '';
      return new Promise((resolve) => {
        due.push(resolve);
        recognizer.finalize();
      });
    },
    close: () => recognizer.close(),
  };
}

/** Speaks a text at 8 kHz. */
export async function openMouth(): Promise<(text: string) => Promise<Int16Array>> {
  const flite = await createFlite({ clock: systemClock, log: quietLog().log, workers: 1 });
  const { signal } = new AbortController();
  return async (text) => {
    const pieces: number[] = [];
    const listener = {
      onAudio: (samples: Int16Array) => {
        for (const sample of samples) pieces.push(sample);
      },
      onWords: () => undefined,
    };
    await flite.synthesize({ text, voice: undefined }, listener, signal);
    return Int16Array.from(pieces);
  };
}

/** Samples on either side of which the new ones between are made. */
const REACH = 12;

/** `times` as many samples, by a windowed sinc: lines between samples would dull the voice. */
export function stretched(samples: Int16Array, times: number): Int16Array {
  return Int16Array.from({ length: samples.length * times }, (_, i) => {
    const at = Math.floor(i / times);
    if (i % times === 0) return samples[at] ?? 0;
    let sum = 0;
    for (let k = at - REACH + 1; k <= at + REACH; k++) {
      const x = Math.PI * (i / times - k);
      const window = 0.5 + 0.5 * Math.cos(x / REACH);
      sum += (samples[k] ?? 0) * (Math.sin(x) / x) * window;
    }
    return Math.max(-32_768, Math.min(32_767, Math.round(sum)));
  });
}

/** Every `times` samples as their mean. */
export function shrunk(samples: Int16Array, times: number): Int16Array {
  return Int16Array.from({ length: Math.floor(samples.length / times) }, (_, i) => {
    let sum = 0;
    for (let j = 0; j < times; j++) sum += samples[i * times + j] ?? 0;
    return Math.round(sum / times);
  });
}

/** Signed 16-bit samples, little-endian. */
export function samplesOf(bytes: Uint8Array): Int16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Int16Array.from({ length: bytes.length >> 1 }, (_, i) => view.getInt16(2 * i, true));
}

export function bytesOf(samples: Int16Array): Buffer {
  const bytes = Buffer.alloc(samples.length * 2);
  for (const [i, sample] of samples.entries()) bytes.writeInt16LE(sample, 2 * i);
  return bytes;
}

/** The line that says where the peer listens. */
export function announce(port: number): void {
  process.stdout.write(`listening on ${port}\n`);
  process.stdin.on('end', () => process.exit(0)).resume();
}
