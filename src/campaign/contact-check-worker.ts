// Worker thread of contact-check-thread: one file in, one result out. It may be terminated at any moment, and works
// only in the time that other threads leave.

import { parentPort, workerData } from 'node:worker_threads';
import { yieldToAllThreads } from '../runtime/thread-priority.ts';
import type { ContactCheck } from './contact-check-thread.ts';
import { reportOf } from './contact-report.ts';

yieldToAllThreads();
// The sender is of the same build.
const { bytes, rules } = workerData as ContactCheck;
parentPort?.postMessage(await reportOf([bytes], rules));
