// Opus, mono, in packets of 20 ms at a constant bit rate, by the optional package @evan/opus (MIT; its libopus is
// BSD): its addon where the machine has one, else its WebAssembly. Both directions keep state. No loss concealment:
// the package refuses an empty packet, so the pipeline fills gaps as it does for all codecs.
// Source: RFC 6716 (3.1, 3.2: what a packet holds), RFC 7587 (RTP).

import { createRequire } from 'node:module';
import type { SampleRateHz } from '../audio/pcm.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Codec } from './codec.ts';

const PACKAGE = '@evan/opus';
/** Bits per second for clear speech at each bandwidth (RFC 7587, 3.1.1). Constant, so that the length of a frame
 *  is known: 40, 60, 80 and 100 bytes. */
const BITRATE: Readonly<Record<SampleRateHz, number>> = {
  8000: 16_000,
  16000: 24_000,
  24000: 32_000,
  48000: 40_000,
};
/** Encoder complexity, 0..10. Above 5 there is no audible difference in speech. */
const COMPLEXITY = 5;
const FRAMES_A_SECOND = 50;
/** A packet of three 20 ms frames, the longest that is accepted, and their headers; the package takes twice
 *  that. */
const PACKET_BYTES_MAX = 3 * 1_275 + 7;
const PACKET_MS_MAX = 120;

interface OpusEncoder {
  vbr: boolean;
  bitrate: number | 'max' | 'auto';
  complexity: number;
  signal: string;
  encode(pcm: Int16Array): Uint8Array;
}

interface OpusDecoder {
  decode(packet: Uint8Array): Uint8Array;
}

interface OpusPackage {
  // biome-ignore lint/style/useNamingConvention: the package's name.
  Encoder: new (options: {
    channels: 1;
    sample_rate: number;
    application: 'voip';
  }) => OpusEncoder;
  // biome-ignore lint/style/useNamingConvention: the package's name.
  Decoder: new (options: {
    channels: 1;
    sample_rate: number;
  }) => OpusDecoder;
}

/** A codec with its own state. It encodes frames of 20 ms, one packet each, and decodes packets of any length.
 *  Throws CODEC_MISSING if the package is missing or has another interface. */
export function createOpus(rateHz: SampleRateHz): Codec {
  const { Encoder, Decoder } = opusPackage();
  const encoder = new Encoder({ channels: 1, sample_rate: rateHz, application: 'voip' });
  encoder.vbr = false;
  encoder.bitrate = BITRATE[rateHz];
  encoder.complexity = COMPLEXITY;
  encoder.signal = 'voice';
  const decoder = new Decoder({ channels: 1, sample_rate: rateHz });
  const samplesIn = (packet: Uint8Array): number => (opusPacketMs(packet) * rateHz) / 1_000;
  return {
    name: rateHz === 8_000 ? 'OPUS' : `OPUS/${rateHz}`,
    rateHz,
    frameBytes: BITRATE[rateHz] / 8 / FRAMES_A_SECOND,
    samplesIn,
    decode(packet, pcm) {
      const count = samplesIn(packet);
      if (count > 0 && !decodeInto(decoder, packet, pcm.subarray(0, count))) pcm.fill(0, 0, count);
      return count;
    },
    encode(pcm, packet) {
      const bytes = encoder.encode(pcm);
      packet.set(bytes);
      return bytes.length;
    },
  };
}

/** Whether `createOpus` works on this machine. */
export function hasOpus(): boolean {
  try {
    opusPackage();
    return true;
  } catch {
    return false; // `createOpus` reports the error when the codec is needed.
  }
}

/** The audio in a packet by its header, in milliseconds: 2.5 to 120, or 0 if the header is invalid. */
export function opusPacketMs(packet: Uint8Array): number {
  const [first, second = 0] = packet;
  if (first === undefined || packet.length > PACKET_BYTES_MAX) return 0;
  const frames = FRAMES_BY_CODE[first & 3] ?? second & 63;
  const ms = frames * frameMs(first >> 3);
  return ms > PACKET_MS_MAX ? 0 : ms;
}

/** Code 3: the number of frames is in the next byte. */
const FRAMES_BY_CODE = [1, 2, 2];

function frameMs(configuration: number): number {
  if (configuration < 12) return [10, 20, 40, 60][configuration & 3] as number;
  if (configuration < 16) return [10, 20][configuration & 1] as number;
  return [2.5, 5, 10, 20][configuration & 3] as number;
}

/** False if the packet's content does not match its header. */
function decodeInto(decoder: OpusDecoder, packet: Uint8Array, pcm: Int16Array): boolean {
  try {
    const bytes = decoder.decode(packet);
    if (bytes.length !== 2 * pcm.length) return false;
    for (let i = 0; i < pcm.length; i++) {
      pcm[i] = (bytes[2 * i] as number) | ((bytes[2 * i + 1] as number) << 8);
    }
    return true;
  } catch {
    return false; // A malformed packet from the far end becomes silence, as a lost one does.
  }
}

let loaded: OpusPackage | undefined;

/** Loads the package at its first use. */
function opusPackage(): OpusPackage {
  if (loaded !== undefined) return loaded;
  let found: unknown;
  try {
    found = createRequire(import.meta.url)(PACKAGE);
  } catch (cause) {
    throw new GatewayError('CODEC_MISSING', { name: 'opus', package: PACKAGE }, cause);
  }
  if (!isOpus(found)) throw new GatewayError('CODEC_MISSING', { name: 'opus', package: PACKAGE });
  loaded = found;
  return loaded;
}

function isOpus(found: unknown): found is OpusPackage {
  const has = (name: string): boolean =>
    typeof found === 'object' &&
    found !== null &&
    name in found &&
    typeof Reflect.get(found, name) === 'function';
  return has('Encoder') && has('Decoder');
}
