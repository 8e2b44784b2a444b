// Worker thread of json-thread.ts: reads one body after the other and answers with its value.

import { parentPort } from 'node:worker_threads';
import { lowerThreadPriority } from '../../runtime/thread-priority.ts';
import { readJson } from './json-body.ts';
import type { JsonAnswer, JsonTask } from './json-thread.ts';

lowerThreadPriority();
parentPort?.on('message', ({ id, bytes, valuesMax }: JsonTask) => {
  const answer: JsonAnswer = { id, reading: readJson(bytes, valuesMax) };
  parentPort?.postMessage(answer);
});
