// Checks a contact file in a thread of its own, which ends with the file: 200,000 rows take seconds of computing, too
// long for the event loop. Small files are read on the event loop.

import { Worker } from 'node:worker_threads';
import { GatewayError } from '../errors/gateway-error.ts';
import { workerEntry } from '../runtime/entry-point.ts';
import type { Clock } from '../std/clock.ts';
import { type ContactReport, reportOf } from './contact-report.ts';
import type { SourceRules } from './contact-rows.ts';

/** Largest small file: about 800 rows, 20 ms in pieces of one. A thread takes longer to start. */
const INLINE_BYTES_MAX = 32_768;
/** Deadline of a check. The largest file takes four seconds of a processor; the thread gets the time that others
 *  leave. */
const CHECK_MS_MAX = 120_000;
/** Heap of the thread: the numbers of 200,000 rows take about 20 MB. */
const HEAP_MB_MAX = 256;

/** Input of the thread. */
export interface ContactCheck {
  bytes: Uint8Array<ArrayBuffer>;
  rules: SourceRules;
}

/** The report of a file. Throws API_BUSY if the thread gets no processor time. `entry`: for tests. */
export async function checkContacts(
  bytes: Uint8Array,
  rules: SourceRules,
  {
    clock,
    entry = workerEntry('./contact-check-worker.ts', import.meta.url),
  }: { clock: Clock; entry?: URL },
): Promise<ContactReport> {
  if (bytes.length <= INLINE_BYTES_MAX) return reportOf([bytes], rules);
  return inThread({ bytes: new Uint8Array(bytes), rules }, clock, entry);
}

function inThread(check: ContactCheck, clock: Clock, entry: URL): Promise<ContactReport> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(entry, {
      workerData: check,
      transferList: [check.bytes.buffer],
      name: 'contacts',
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    });
    const fail = (error?: unknown): void => {
      end();
      reject(new GatewayError('API_BUSY', {}, error));
    };
    const deadline = clock.after(CHECK_MS_MAX, fail);
    const end = (): void => {
      deadline.cancel();
      void worker.terminate();
    };
    worker.once('message', (report: ContactReport) => {
      end();
      resolve(report);
    });
    worker.once('error', fail);
    worker.once('exit', () => fail());
  });
}
