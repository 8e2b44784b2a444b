// The API process's requests to a call worker over the inter-process channel, and the worker's answers. The worker
// reports its load; the other end is worker-directory.ts.

import { z } from 'zod';
import type { CallService } from '../call/call-service.ts';
import type { ClaimedDial, Placed } from '../call/start/outbound/campaign-calls.ts';
import type { Fate } from '../call/start/outbound/campaign-plans.ts';
import { LEAD_MS_MAX } from '../call/start/outbound/dial-pace.ts';
import { WEB_CALL_ITEMS } from '../call/start/setup/web-call.ts';
import { lineFaultCodes } from '../model/line-fault.ts';
import { type LineTest, lineKinds } from '../model/line-watch.ts';
import { callStatus, type ProviderName, providerName } from '../model/provider.ts';
import type { Clock } from '../std/clock.ts';
import type { Finding } from '../telephony/provider/pbx.ts';
import type { ProviderRequest } from '../telephony/provider/provider.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { API } from './ipc-message.ts';
import type { LineTestWanted, PbxExamination } from './worker-pool.ts';

/** Interval of a worker's load reports. */
export const LOAD_MS = 500;
/** Number of reports after which the applications are repeated: a new API process does not have them. */
const APPLICATIONS_EVERY = 10;

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
const ofAccount = z.object({ name: providerName, request });
const digits = z.object({ organizationId: z.string(), runId: z.string(), digits: z.string() });
const hangUp = z.object({ organizationId: z.string(), runId: z.string() });
const byClient = {
  organizationId: z.string(),
  apiKeyId: z.string().nullable(),
  apiKeyCreatedBy: z.string(),
  configurationId: z.string().nullable(),
  fromPhoneNumberId: z.string().nullable(),
  idempotencyKey: z.string().nullable(),
};
const startCall = z.object({
  ...byClient,
  agent: z.object({ type: z.enum(['workflow_uuid', 'trigger_path']), identifier: z.string() }),
  mode: z.enum(['production', 'test']),
  phoneNumber: z.string(),
  initialContext: z.record(z.string(), z.unknown()),
});
const testCall = z.object({
  ...byClient,
  workflowId: z.string(),
  runId: z.string().nullable(),
  phoneNumber: z.string().nullable(),
});
const webCall = z.object({
  organizationId: z.string(),
  apiKeyId: z.string().nullable(),
  apiKeyCreatedBy: z.string(),
  workflowId: z.string(),
  isDraft: z.boolean(),
  initialContext: z.record(z.string(), z.unknown()),
  items: z.enum(WEB_CALL_ITEMS),
  origin: z.string().nullable(),
});
const claimedDial = z.object({
  attemptId: z.string(),
  runId: z.string(),
  organizationId: z.string(),
  configurationId: z.string(),
  from: z.string().nullable(),
  to: z.string(),
  campaignId: z.string(),
  ratePerSecond: z.number().positive(),
  waitMs: z.number().min(0).max(LEAD_MS_MAX),
});
const runWanted = z.object({ runId: z.string() });
const examination = z.object({
  provider: providerName,
  organizationId: z.string(),
  configurationId: z.string(),
  numbers: z.array(z.string()),
  publicUrl: z.string(),
  calls: z.object({ context: z.string().nullable() }).optional(),
});

const lineTestWanted = z.object({
  provider: providerName,
  organizationId: z.string(),
  configurationId: z.string(),
  publicUrl: z.string(),
  line: z.object({
    name: z.string(),
    kind: z.enum(lineKinds),
    number: z.string().nullable(),
    context: z.string().nullable(),
    isEnabled: z.boolean(),
    intervalMinutes: z.number(),
    places: z.number().nullable(),
    testsKeys: z.boolean(),
  }),
});

export const startedCall = z.object({ runId: z.string(), runName: z.string() });
export const startedWebCall = startedCall.extend({ token: z.string() });
export const accountEventRun = z.object({ runId: z.string() });
export const webhookReply = z.object({
  status: z.int(),
  contentType: z.string(),
  body: z.string(),
});
export const placed = z.enum(['placed', 'put-off', 'fault', 'in-doubt', 'refused', 'closed']);
export const fate = z.union([callStatus, z.enum(['there', 'none', 'unknowable'])]);
export const lineTest = z.object({
  fault: z.enum(lineFaultCodes).nullable(),
  message: z.string(),
  delayMs: z.number().nullable(),
  lossShare: z.number().nullable(),
  codec: z.string().nullable(),
});
export const findings = z.array(
  z.object({
    key: z.string(),
    title: z.string(),
    verdict: z.enum(['pass', 'warn', 'fail', 'skip']),
    message: z.string(),
    advice: z.string().nullable(),
  }),
);
export const load = z.object({
  /** Number of connected calls. */
  active: z.int().nonnegative(),
  /** Number of calls that ring, wait for their media or are connected. */
  calls: z.int().nonnegative(),
  /** Whether the worker accepts one more call. */
  takesCalls: z.boolean(),
  /** Name of the recogniser of its calls. */
  stt: z.string().nullable(),
  /** Applications of the PBXs whose connection it has; absent if unchanged. */
  applications: z.array(z.string()).optional(),
  /** Configurations over whose PBX it may dial; absent if unchanged. */
  pbxs: z.array(z.string()).optional(),
});

/** Call interfaces of a worker. */
export interface CallWorker
  extends Pick<
    CallService,
    | 'start'
    | 'startTest'
    | 'startWeb'
    | 'inbound'
    | 'answer'
    | 'resume'
    | 'wait'
    | 'event'
    | 'accountEvent'
    | 'hangUp'
    | 'sendDigits'
    | 'activeCalls'
  > {
  readonly calls: number;
  readonly takesCalls: boolean;
  readonly stt: string | null;
  readonly applications: readonly string[];
  readonly pbxs: readonly string[];
  answerAgain(runId: string): Promise<boolean>;
  runOfAccountEvent(name: ProviderName, request: ProviderRequest): Promise<{ runId: string }>;
  resumeLeft(runId: string): Promise<boolean>;
  place(dial: ClaimedDial): Promise<Placed>;
  outcomeAfterCrash(runId: string): Promise<Fate>;
  examine(examination: PbxExamination): Promise<Finding[]>;
  testLine(wanted: LineTestWanted): Promise<LineTest>;
  wakePbxs(): void;
  /** Another process has adopted the call. */
  noteAdopted(runId: string): void;
}

/** Topics of the requests to a call worker, of whichever gateway: another topic is refused there. */
export const WORKER_TOPICS = [
  'start',
  'start-test',
  'start-web',
  'inbound',
  'answer-again',
  'answer',
  'resume',
  'resume-left',
  'wait',
  'event',
  'account-event',
  'account-event-run',
  'digits',
  'hang-up',
  'place',
  'fate',
  'examine',
  'test-line',
] as const;
export type WorkerTopic = (typeof WORKER_TOPICS)[number];

/** Answers the API process's requests and reports the load, until `stop`. */
export function serveWorkerCalls(
  link: IpcChannel,
  worker: CallWorker,
  clock: Clock,
): { stop(): void } {
  link.onRequest('start', (body) => worker.start(startCall.parse(body)));
  link.onRequest('start-test', (body) => worker.startTest(testCall.parse(body)));
  link.onRequest('start-web', (body) => worker.startWeb(webCall.parse(body)));
  link.onRequest('inbound', (body) => {
    const { request, workflowId } = inbound.parse(body);
    return worker.inbound(request, workflowId);
  });
  link.onRequest('answer-again', (body) => worker.answerAgain(runWanted.parse(body).runId));
  link.onRequest('answer', (body) => {
    const { name, runId, request } = ofRun.parse(body);
    return worker.answer(name, runId, request);
  });
  link.onRequest('resume', (body) => {
    const { name, runId, request } = ofRun.parse(body);
    return worker.resume(name, runId, request);
  });
  link.onRequest('wait', (body) => {
    const { name, runId, request } = ofRun.parse(body);
    return worker.wait(name, runId, request);
  });
  link.onRequest('resume-left', (body) => worker.resumeLeft(runWanted.parse(body).runId));
  link.onRequest('event', (body) => {
    const { name, runId, request } = ofRun.parse(body);
    return worker.event(name, runId, request);
  });
  link.onRequest('account-event', (body) => {
    const { name, request } = ofAccount.parse(body);
    return worker.accountEvent(name, request);
  });
  link.onRequest('account-event-run', (body) => {
    const { name, request } = ofAccount.parse(body);
    return worker.runOfAccountEvent(name, request);
  });
  link.onRequest('digits', (body) => worker.sendDigits(digits.parse(body)));
  link.onRequest('hang-up', async (body) => {
    await worker.hangUp(hangUp.parse(body));
  });
  link.onRequest('place', (body) => worker.place(claimedDial.parse(body)));
  link.onRequest('fate', (body) => worker.outcomeAfterCrash(runWanted.parse(body).runId));
  link.onRequest('examine', (body) => worker.examine(examination.parse(body)));
  link.onRequest('test-line', (body) => worker.testLine(lineTestWanted.parse(body)));
  link.onNotification('pbx-wake', () => worker.wakePbxs());
  link.onNotification('adopted-elsewhere', (body) =>
    worker.noteAdopted(runWanted.parse(body).runId),
  );
  return reportLoad(link, worker, clock);
}

function reportLoad(link: IpcChannel, worker: CallWorker, clock: Clock): { stop(): void } {
  let reports = 0;
  let reported = '';
  let timer = clock.after(0, report);
  return { stop: () => timer.cancel() };

  function report(): void {
    const { activeCalls: active, calls, takesCalls, stt, applications, pbxs } = worker;
    const now = `${applications.join(' ')}/${pbxs.join(' ')}`;
    const isDue = now !== reported || reports % APPLICATIONS_EVERY === 0;
    const facts = { active, calls, takesCalls, stt };
    link.notify(API, 'load', isDue ? { ...facts, applications, pbxs } : facts);
    reported = now;
    reports += 1;
    timer = clock.after(LOAD_MS, report);
  }
}
