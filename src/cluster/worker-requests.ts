// Requests to a call worker, of this gateway or of another one: topics, deadlines, and the schemas of the answers.

import { z } from 'zod';
import {
  accountEventRun,
  fate,
  findings,
  lineTest,
  placed,
  startedCall,
  startedWebCall,
  type WorkerTopic,
  webhookReply,
} from './worker-calls.ts';
import { ASK_MS_MAX, type PooledWorker } from './worker-pool.ts';

/** Deadline of a repeated answer: a look-up at the provider, a plan, and the wait for the command. */
const ANSWER_AGAIN_MS_MAX = 8_000;
/** Deadline of a hang-up at the provider and the storing of the outcome. */
const HANG_UP_MS_MAX = 8_000;
/** Deadline of digits that the provider sends; its own limit is shorter. */
const DIGITS_MS_MAX = 6_000;
/** Deadline of a dial: a provider answers within 15 s, the store around it within less. */
const DIAL_MS_MAX = 25_000;
/** Deadline of an outcome's look-up: two requests to a provider. */
const FATE_MS_MAX = 25_000;
/** Deadline of a check: its own limit, and a margin. */
const EXAMINE_MS_MAX = 58_000;

/** The longest of these deadlines. */
export const WORKER_MS_MAX = EXAMINE_MS_MAX;

/** The worker that `ask` sends requests to. */
export function workerBehind(
  ask: (topic: WorkerTopic, body: unknown, ms: number) => Promise<unknown>,
): PooledWorker {
  const webhook = async (topic: WorkerTopic, body: unknown) =>
    webhookReply.parse(await ask(topic, body, ASK_MS_MAX));
  return {
    start: async (wanted) => startedCall.parse(await ask('start', wanted, DIAL_MS_MAX)),
    startTest: async (wanted) => startedCall.parse(await ask('start-test', wanted, DIAL_MS_MAX)),
    startWeb: async (wanted) => startedWebCall.parse(await ask('start-web', wanted, DIAL_MS_MAX)),
    inbound: (request, workflowId) => webhook('inbound', { request, workflowId }),
    answerAgain: async (runId) =>
      z.boolean().parse(await ask('answer-again', { runId }, ANSWER_AGAIN_MS_MAX)),
    answer: (name, runId, request) => webhook('answer', { name, runId, request }),
    resume: (name, runId, request) => webhook('resume', { name, runId, request }),
    wait: (name, runId, request) => webhook('wait', { name, runId, request }),
    resumeLeft: async (runId) =>
      z.boolean().parse(await ask('resume-left', { runId }, ANSWER_AGAIN_MS_MAX)),
    event: (name, runId, request) => webhook('event', { name, runId, request }),
    accountEvent: (name, request) => webhook('account-event', { name, request }),
    runOfAccountEvent: async (name, request) =>
      accountEventRun.parse(await ask('account-event-run', { name, request }, ASK_MS_MAX)),
    sendDigits: async (wanted) => {
      await ask('digits', wanted, DIGITS_MS_MAX);
    },
    hangUp: async (wanted) => {
      await ask('hang-up', wanted, HANG_UP_MS_MAX);
    },
    place: async (dial) => placed.parse(await ask('place', dial, DIAL_MS_MAX)),
    outcomeAfterCrash: async (runId) => fate.parse(await ask('fate', { runId }, FATE_MS_MAX)),
    examine: async (wanted) => findings.parse(await ask('examine', wanted, EXAMINE_MS_MAX)),
    testLine: async (wanted) => lineTest.parse(await ask('test-line', wanted, EXAMINE_MS_MAX)),
  };
}
