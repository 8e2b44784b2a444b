// Calls of hosted providers on other workers: what the front asks of them (worker-directory.ts), and how they
// answer.

import { z } from 'zod';
import type { CallService } from '../call/call-service.ts';
import { providerName } from '../model/provider.ts';
import type { Clock } from '../std/clock.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { FRONT } from './ipc-message.ts';

/** How often a worker says how many calls it has. */
export const LOAD_MS = 500;

const request = z.object({
  method: z.string(),
  url: z.string(),
  headers: z.record(z.string(), z.string().optional()),
  rawBody: z.instanceof(Buffer),
  form: z.record(z.string(), z.string()),
  formAll: z.record(z.string(), z.array(z.string())),
  json: z.unknown(),
});
const inbound = z.object({ request, workflowId: z.string().nullable() });
const ofRun = z.object({ name: providerName, runId: z.string(), request });
const digits = z.object({ organizationId: z.string(), runId: z.string(), digits: z.string() });
const hangUp = z.object({ organizationId: z.string(), runId: z.string() });

export const webhookReply = z.object({
  status: z.int(),
  contentType: z.string(),
  body: z.string(),
});
export const load = z.object({
  /** Those that talk. */
  active: z.int().nonnegative(),
  /** Those that ring, wait for their media or talk. */
  calls: z.int().nonnegative(),
});

/** What a worker's calls are asked of. */
export interface CallWorker
  extends Pick<
    CallService,
    'inbound' | 'answer' | 'event' | 'hangUp' | 'sendDigits' | 'activeCalls'
  > {
  readonly calls: number;
}

/** Answers what the front asks, and says how many calls there are, until `stop`. */
export function serveWorkerCalls(
  link: IpcChannel,
  worker: CallWorker,
  clock: Clock,
): { stop(): void } {
  link.onRequest('inbound', (body) => {
    const { request, workflowId } = inbound.parse(body);
    return worker.inbound(request, workflowId);
  });
  link.onRequest('answer', (body) => {
    const { name, runId, request } = ofRun.parse(body);
    return worker.answer(name, runId, request);
  });
  link.onRequest('event', (body) => {
    const { name, runId, request } = ofRun.parse(body);
    return worker.event(name, runId, request);
  });
  link.onRequest('digits', (body) => worker.sendDigits(digits.parse(body)));
  link.onRequest('hang-up', async (body) => {
    await worker.hangUp(hangUp.parse(body));
  });
  let timer = clock.after(0, tell);
  function tell(): void {
    link.notify(FRONT, 'load', { active: worker.activeCalls, calls: worker.calls });
    timer = clock.after(LOAD_MS, tell);
  }
  return { stop: () => timer.cancel() };
}
