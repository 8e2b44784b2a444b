// WAV files of kinds that audio/wav does not read (IMA ADPCM, RIFX, RF64 and the like), made 16-bit PCM by the
// package wavefile in a thread of its own, which ends with the file. Whatever a file does to the package, calls do
// not notice.

import { Worker } from 'node:worker_threads';
import { GatewayError } from '../../errors/gateway-error.ts';
import { workerEntry } from '../../runtime/entry-point.ts';
import type { Clock } from '../../std/clock.ts';
import { SerialQueue } from '../../std/serial-queue.ts';
import { openWav } from '../wav.ts';

/** As large as an upload may be. */
const FILE_BYTES_MAX = 10_485_760;
/** A hundred times what the largest file takes. */
const CONVERT_MS_MAX = 10_000;
/** Files are sent by people; those beyond are sent again. */
const WAITING_MAX = 20;
/** Beside the samples, which are counted by the thread. */
const HEAP_MB_MAX = 128;

/** What the thread answers: a WAV file of 16-bit PCM, or why there is none. */
export type Converted = { wav: Uint8Array<ArrayBuffer> } | { reason: string };

export class WavConverter {
  readonly #clock: Clock;
  readonly #entry: URL;
  readonly #files = new SerialQueue('WAV files', WAITING_MAX);

  /** `entry`: for tests. */
  constructor(
    clock: Clock,
    entry: URL = workerEntry('./wav-conversion-worker.ts', import.meta.url),
  ) {
    this.#clock = clock;
    this.#entry = entry;
  }

  /** A file that audio/wav reads: `bytes` themselves, if it reads them. Throws WAV_UNREADABLE, and what a full queue
   *  throws. */
  async readable(bytes: Uint8Array): Promise<Uint8Array> {
    if (isReadable(bytes)) return bytes;
    if (bytes.length > FILE_BYTES_MAX) throw unreadable('it is too large');
    return this.#files.run(() => this.#convert(bytes));
  }

  #convert(bytes: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      // A copy, to be handed over without another.
      const copy = new Uint8Array(bytes);
      const worker = new Worker(this.#entry, {
        workerData: copy,
        transferList: [copy.buffer],
        name: 'wav',
        resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
      });
      const deadline = this.#clock.after(CONVERT_MS_MAX, () => fail('reading it takes too long'));
      const end = (): void => {
        deadline.cancel();
        void worker.terminate();
      };
      const fail = (reason: string): void => {
        end();
        reject(unreadable(reason));
      };
      worker.once('message', (converted: Converted) => {
        if ('reason' in converted) return fail(converted.reason);
        end();
        resolve(converted.wav);
      });
      worker.once('error', () => fail('it cannot be read'));
      worker.once('exit', () => fail('it cannot be read'));
    });
  }
}

function isReadable(bytes: Uint8Array): boolean {
  try {
    openWav(bytes);
    return true;
  } catch (error) {
    if (error instanceof GatewayError) return false;
    throw error;
  }
}

function unreadable(reason: string): GatewayError {
  return new GatewayError('WAV_UNREADABLE', { reason });
}
