// Worker thread of contact-check-thread: one file in, one result out. It may be terminated at any moment, and works
// only in the time that other threads leave.

import { parentPort, workerData } from 'node:worker_threads';
import { GatewayError } from '../errors/gateway-error.ts';
import { yieldToAllThreads } from '../runtime/thread-priority.ts';
import { type ContactCheck, type ContactChecked, countContacts } from './contact-check-thread.ts';

yieldToAllThreads();
// The sender is of the same build.
const { bytes, rules } = workerData as ContactCheck;
parentPort?.postMessage(await checked());

async function checked(): Promise<ContactChecked> {
  try {
    return { contacts: await countContacts(bytes, rules) };
  } catch (error) {
    const problems = error instanceof GatewayError ? error.facts['problems'] : undefined;
    if (problems === undefined) throw error;
    return { problems: String(problems) };
  }
}
