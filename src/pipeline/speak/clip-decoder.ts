// Decodes recorded speech and noise for calls: one channel at the rate of a call. Decodes in pieces, so that current
// calls are processed in between.

import { RATE_HZ } from '../../audio/pcm.ts';
import { BLOCK_SAMPLES, delayMsOf, designPhases } from '../../audio/resample/resample-filter.ts';
import { portableFilter } from '../../audio/resample/resample-portable.ts';
import { openWav, type WavFile } from '../../audio/wav.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { nextTick } from '../../std/clock.ts';

/** Sample rates of usual files; any other would need a filter as large as the clip. */
const RATES_HZ = [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
/** Blocks between two yields to the event loop: 0.1 s of 48 kHz, well below a millisecond of work. */
const BLOCKS_AT_ONCE = 5;

/** Checks a WAV file by its header. Throws WAV_UNREADABLE, with the reason. */
export function inspectClip(bytes: Uint8Array): { seconds: number } {
  const { moments, rateHz } = opened(bytes);
  return { seconds: moments / rateHz };
}

/** Decodes a whole file to 8 kHz, stereo mixed to one channel; audio beyond `secondsMax` is dropped. The result is the
 *  caller's. Throws WAV_UNREADABLE. */
export async function decodeClip(bytes: Uint8Array, secondsMax: number): Promise<Int16Array> {
  const wav = opened(bytes);
  const moments = Math.min(wav.moments, secondsMax * wav.rateHz);
  const length = Math.floor((moments * RATE_HZ) / wav.rateHz);
  return wav.rateHz === RATE_HZ ? plain(wav, length) : resampled(wav, moments, length);
}

function opened(bytes: Uint8Array): WavFile {
  const wav = openWav(bytes);
  const { channels, rateHz, moments } = wav;
  const reason = (text: string) => new GatewayError('WAV_UNREADABLE', { reason: text });
  if (channels > 2) throw reason(`it has ${channels} channels; one or two are played`);
  if (!RATES_HZ.includes(rateHz)) {
    throw reason(`its sample rate is ${rateHz} Hz; these are played: ${RATES_HZ.join(', ')}`);
  }
  // Background noise would be an empty loop.
  if (moments * RATE_HZ < rateHz) throw reason('there is no audio in it');
  return wav;
}

async function plain(wav: WavFile, length: number): Promise<Int16Array> {
  const samples = new Int16Array(length);
  for (let from = 0; from < length; from += BLOCK_SAMPLES) {
    readMono(wav, from, samples.subarray(from, from + BLOCK_SAMPLES));
    await breathe(from);
  }
  return samples;
}

async function resampled(wav: WavFile, moments: number, length: number): Promise<Int16Array> {
  const phases = designPhases(wav.rateHz, RATE_HZ);
  const filter = portableFilter(phases);
  const block = new Int16Array(BLOCK_SAMPLES);
  const piece = new Int16Array(Math.ceil((BLOCK_SAMPLES * phases.up) / phases.down) + 1);
  const samples = new Int16Array(length);
  // The resampler delays its output by this much, which is dropped at the start, and silence flushes the end.
  let written = -Math.round((delayMsOf(phases, wav.rateHz) * RATE_HZ) / 1_000);
  for (let from = 0; written < length; from += BLOCK_SAMPLES) {
    const there = Math.max(0, Math.min(BLOCK_SAMPLES, Math.floor(moments) - from));
    readMono(wav, from, block.subarray(0, there));
    block.fill(0, there);
    const count = filter.run(block, 0, BLOCK_SAMPLES, piece, 0);
    const skipped = Math.min(count, Math.max(0, -written));
    const kept = Math.max(0, Math.min(count - skipped, length - Math.max(0, written)));
    samples.set(piece.subarray(skipped, skipped + kept), Math.max(0, written));
    written += count;
    await breathe(from);
  }
  return samples;
}

/** Fills `out` from sample pair `from` on. */
function readMono({ channels, sample }: WavFile, from: number, out: Int16Array): void {
  for (let i = 0; i < out.length; i++) {
    const at = from + i;
    out[i] = channels === 1 ? sample(at) : (sample(2 * at) + sample(2 * at + 1)) / 2;
  }
}

async function breathe(from: number): Promise<void> {
  if ((from / BLOCK_SAMPLES) % BLOCKS_AT_ONCE === BLOCKS_AT_ONCE - 1) await nextTick();
}
