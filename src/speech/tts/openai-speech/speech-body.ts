// Decodes the audio of an answer in chunks of any size: PCM at a known rate, or a WAV file with a header. Servers may
// ignore the requested format, so each answer is checked for a header.
// Source: RIFF as in Microsoft/IBM, Multimedia Programming Interface 1.0 (1991).

import { RESAMPLED_RATES } from '../../../audio/resample/resampler.ts';
import { SpeechDecoder } from '../speech-decoder.ts';

/** Largest header: a format and a comment. It is parsed again with each chunk before the samples. */
const HEADER_BYTES_MAX = 16 * 1024;
const RIFF_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
const FORMAT_PCM = 1;
const FORMAT_EXTENSIBLE = 0xfffe;

export class SpeechBody {
  readonly #rateHz: number;
  #decoder: SpeechDecoder | undefined;
  /** Bytes received before the start of the samples is known. */
  #head: Buffer = Buffer.alloc(0);

  /** `rateHz`: rate of samples without a header. */
  constructor(rateHz: number) {
    this.#rateHz = rateHz;
  }

  /** Decodes to samples at 8 kHz, which belong to the caller. Throws a RangeError with the reason for audio that is not
   *  mono PCM. */
  push(chunk: Buffer): Int16Array {
    const bytes = this.#decoder === undefined ? this.#begin(chunk) : chunk;
    return this.#decode(bytes);
  }

  /** Returns the samples that were held back because they could have been a header. */
  end(): Int16Array {
    if (this.#decoder !== undefined || isRiff(this.#head)) return new Int16Array();
    this.#decoder = new SpeechDecoder(`s16@${this.#rateHz}`);
    return this.#decode(this.#head);
  }

  #decode(bytes: Buffer): Int16Array {
    return this.#decoder?.decode(bytes) ?? new Int16Array();
  }

  /** Bytes of samples, once their start is known. */
  #begin(chunk: Buffer): Buffer {
    this.#head = Buffer.concat([this.#head, chunk]);
    const head = this.#head;
    if (head.length < RIFF_BYTES) return Buffer.alloc(0);
    const found = isRiff(head) ? dataOf(head) : { rateHz: this.#rateHz, at: 0 };
    if (found === undefined) {
      if (head.length > HEADER_BYTES_MAX) throw new RangeError('a WAV file without samples');
      return Buffer.alloc(0);
    }
    if (!RESAMPLED_RATES.includes(found.rateHz)) {
      throw new RangeError(`audio at ${found.rateHz} Hz`);
    }
    this.#decoder = new SpeechDecoder(`s16@${found.rateHz}`);
    this.#head = Buffer.alloc(0);
    return head.subarray(found.at);
  }
}

function isRiff(head: Buffer): boolean {
  return head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WAVE';
}

/** Start of the samples. Undefined until the header is complete. The size in the header is ignored: it is unknown
 *  during synthesis. */
function dataOf(file: Buffer): { rateHz: number; at: number } | undefined {
  let rateHz: number | undefined;
  for (let at = RIFF_BYTES; at + CHUNK_HEADER_BYTES <= file.length; ) {
    const name = file.toString('latin1', at, at + 4);
    const bytes = file.readUInt32LE(at + 4);
    const body = at + CHUNK_HEADER_BYTES;
    if (name === 'data') {
      if (rateHz === undefined) throw new RangeError('a WAV file without a format');
      return { rateHz, at: body };
    }
    if (name === 'fmt ' && body + 16 <= file.length) rateHz = rateOf(file.subarray(body));
    at = body + bytes + (bytes % 2);
  }
  return undefined;
}

function rateOf(format: Buffer): number {
  const tag = format.readUInt16LE(0);
  const isPcm = tag === FORMAT_PCM || tag === FORMAT_EXTENSIBLE;
  if (!isPcm || format.readUInt16LE(2) !== 1 || format.readUInt16LE(14) !== 16) {
    throw new RangeError('audio that is not 16-bit mono');
  }
  return format.readUInt32LE(4);
}
