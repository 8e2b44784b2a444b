// Converts WAV files that audio/wav cannot read (IMA ADPCM, RIFX, RF64 and others) to 16-bit PCM, with the package
// wavefile in a thread for each file. A file that breaks the package does not affect calls.

import { Worker } from 'node:worker_threads';
import { GatewayError } from '../../errors/gateway-error.ts';
import { workerEntry } from '../../runtime/entry-point.ts';
import type { Clock } from '../../std/clock.ts';
import { SerialQueue } from '../../std/serial-queue.ts';
import { openWav } from '../wav.ts';

/** Largest file: the limit of an upload. */
const FILE_BYTES_MAX = 10_485_760;
/** Deadline of a conversion: a hundred times that of the largest file. */
const CONVERT_MS_MAX = 10_000;
/** Files that wait. Further uploads are refused and can be repeated. */
const WAITING_MAX = 20;
/** Heap of the thread without the samples, which the thread limits itself. */
const HEAP_MB_MAX = 128;

/** Answer of the thread: a WAV file of 16-bit PCM, or the reason why there is none. */
export type Converted = { wav: Uint8Array<ArrayBuffer> } | { reason: string };

export class WavConverter {
  readonly #clock: Clock;
  readonly #entry: URL;
  readonly #files = new SerialQueue('WAV files', WAITING_MAX);

  /** `entry`: program of the thread, for tests. */
  constructor(
    clock: Clock,
    entry: URL = workerEntry('./wav-conversion-worker.ts', import.meta.url),
  ) {
    this.#clock = clock;
    this.#entry = entry;
  }

  /** Returns a file that audio/wav can read: `bytes` itself if possible. Throws WAV_UNREADABLE, or QUEUE_FULL. */
  async readable(bytes: Uint8Array): Promise<Uint8Array> {
    if (isReadable(bytes)) return bytes;
    if (bytes.length > FILE_BYTES_MAX) throw unreadable('it is too large');
    return this.#files.run(() => this.#convert(bytes));
  }

  #convert(bytes: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      // Copied once; the copy is transferred to the thread.
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
