// Composition root of a call worker: calls, and nothing else that could delay their audio. The first worker also holds
// the connections to PBXs, with AudioSocket.

import type { CallControl } from '../call/call-control.ts';
import { API, PBX_WORKER } from '../cluster/ipc-message.ts';
import { relayTo } from '../cluster/live-relay.ts';
import { WorkerPbxProcesses } from '../cluster/pbx-processes.ts';
import { shareServiceNotes } from '../cluster/service-notes.ts';
import { acceptHandedOffSocket } from '../cluster/socket-handoff.ts';
import { type CallWorker, serveWorkerCalls } from '../cluster/worker-calls.ts';
import type { Drainable } from '../cluster/worker-commands.ts';
import type { LineTestWanted, PbxExamination } from '../cluster/worker-pool.ts';
import type { Config } from '../config.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import type { LineTest } from '../model/line-watch.ts';
import { serviceStates } from '../speech/service/service-states.ts';
import { systemClock as clock } from '../std/clock.ts';
import { deadlineSignal, withDeadline } from '../std/deadline.ts';
import type { ExaminedAccount, Finding, Pbx } from '../telephony/provider/pbx.ts';
import { createCallControl } from './call-parts.ts';
import { openGatewayParts, openMediaEndpoints } from './gateway-parts.ts';
import { type ForkedProcess, gatewayNode } from './node-options.ts';
import { STOP_MS_MAX } from './node-parts.ts';
import { takeUpgrades } from './upgrades.ts';

/** Deadline of an examination, the same as in the API process. */
const EXAMINATION_MS_MAX = 55_000;

export async function startCallWorker(
  config: Config,
  log: Log,
  forked: ForkedProcess,
): Promise<Drainable> {
  const { link } = forked;
  const open = await openGatewayParts(config, log, forked);
  const { store } = open;
  const pbxProcesses = new WorkerPbxProcesses(link, {
    workers: config.workers,
    gateway: gatewayNode(config),
    hasBus: config.redisUrl !== undefined,
    clock,
    log,
  });
  const callDeps = { ...open.calls, pbxProcesses };
  callDeps.closing.onCompleted = (completed) => void link.notify(API, 'completed', completed);
  const control = createCallControl(callDeps);
  const media = await openMediaEndpoints(open, control, log);
  acceptHandedOffSocket(link, takeUpgrades(open, media));
  pbxProcesses.serve(control.pbxShares);
  shareServiceNotes(link, serviceStates);
  store.onReentered = () => void control.endTakenCalls(store);
  relayTo(link, callDeps.events.live, { clock });
  control.onAdopted = (adopted) => void link.notify(API, 'adopted', adopted);
  const isShared = config.databaseUrl !== undefined;
  await control.startJobs({ hasPbxs: link.address === PBX_WORKER, isShared });
  const serving = serveWorkerCalls(link, workerOf(open, control, log), clock);
  return {
    drain: () => control.drain(config.drainMs),
    close: () => withDeadline(clock, STOP_MS_MAX, 'stop', closeAll()),
  };

  async function closeAll(): Promise<void> {
    serving.stop();
    await open.closeMedia(media);
    await open.close();
  }
}

type Open = Pick<Awaited<ReturnType<typeof openGatewayParts>>, 'store' | 'providers' | 'speech'>;

/** Requests that this process answers for the API process. */
function workerOf(open: Open, control: CallControl, log: Log): CallWorker {
  const { campaignCalls, pbxLines, pbxShares } = control;
  return {
    start: (wanted) => control.start(wanted),
    startTest: (wanted) => control.startTest(wanted),
    startWeb: (wanted) => control.startWeb(wanted),
    inbound: (...of) => control.inbound(...of),
    answerAgain: (runId) => control.answerAgain(runId),
    answer: (...of) => control.answer(...of),
    resume: (...of) => control.resume(...of),
    wait: (...of) => control.wait(...of),
    resumeLeft: (runId) => control.resumeLeft(runId),
    event: (...of) => control.event(...of),
    accountEvent: (...of) => control.accountEvent(...of),
    runOfAccountEvent: (...of) => control.runOfAccountEvent(...of),
    hangUp: (wanted) => control.hangUp(wanted),
    sendDigits: (wanted) => control.sendDigits(wanted),
    place: (dial) => campaignCalls.placeClaimed(dial),
    async outcomeAfterCrash(runId) {
      const run = await open.store.runs.find(runId);
      return run === undefined ? 'unknowable' : campaignCalls.outcomeAfterCrash(run);
    },
    examine: (wanted) => examine(open, wanted, log),
    testLine: (wanted) => testLine(open, wanted, log),
    wakePbxs: () => void pbxLines.wake(),
    noteAdopted: (runId) => control.noteAdopted(runId),
    stt: open.speech.stt?.name ?? null,
    get activeCalls() {
      return control.activeCalls;
    },
    get calls() {
      return control.calls;
    },
    get takesCalls() {
      return campaignCalls.takesCalls;
    },
    get applications() {
      return open.providers.pbx.flatMap(({ pbx }) => pbx.applications);
    },
    get pbxs() {
      return [...pbxLines.configurations, ...pbxShares.configurations];
    },
  };
}

type OpenTelephony = Pick<Open, 'store' | 'providers'>;

async function examine(
  open: OpenTelephony,
  { provider, organizationId, configurationId, ...facts }: PbxExamination,
  log: Log,
): Promise<Finding[]> {
  const { pbx, account } = await accountOf(open, { provider, organizationId, configurationId });
  const deadline = deadlineSignal(clock, EXAMINATION_MS_MAX, 'examination');
  try {
    return await pbx.examine(account, { ...facts, log }, deadline.signal);
  } finally {
    deadline.done();
  }
}

async function testLine(
  open: OpenTelephony,
  { provider, organizationId, configurationId, line, publicUrl }: LineTestWanted,
  log: Log,
): Promise<LineTest> {
  const { pbx, account } = await accountOf(open, { provider, organizationId, configurationId });
  const deadline = deadlineSignal(clock, EXAMINATION_MS_MAX, 'test call');
  try {
    return await pbx.testLine(account, { line, publicUrl, log }, deadline.signal);
  } finally {
    deadline.done();
  }
}

async function accountOf(
  { store, providers }: OpenTelephony,
  of: Pick<PbxExamination, 'provider' | 'organizationId' | 'configurationId'>,
): Promise<{ pbx: Pbx; account: ExaminedAccount }> {
  const { provider: name, organizationId, configurationId } = of;
  const provider = providers.pbx.find((each) => each.name === name);
  if (provider === undefined) throw new GatewayError('PROVIDER_NOT_BUILT', { provider: name });
  const stored = await store.telephony.getConfiguration(organizationId, configurationId);
  if (stored === undefined) throw new GatewayError('CONFIGURATION_NOT_FOUND');
  const { credentials } = stored;
  return { pbx: provider.pbx, account: { organizationId, configurationId, credentials } };
}
