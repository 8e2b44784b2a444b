// A gateway that dies, or seems dead: how soon its runs are closed, and what becomes of everybody else's calls.

import type { FakeCall } from '../../fakes/twilio/fake-call.ts';
import { Bystanders } from '../bystanders.ts';
import type { GatewayCluster } from '../cluster.ts';
import { ALWAYS, type ClusterCase, type Stage } from '../cluster-case.ts';
import { Ledger, pause, recordingsOf, type StoredRun } from '../ledger.ts';
import { LoadedCalls } from '../loaded-calls.ts';
import { type Begun, Telephones } from '../telephones.ts';

const CALLS = 40;
const WORKER_CALLS = 10;
/** From the end of the media, when the provider asks. */
const SPEECH_MS_MAX = 5_000;
const TALK_MS = 5_000;
/** By heartbeats of 2 s, and a look. */
const CLOSED_MS_MAX = 12_000;
/** Patience for a gateway that does not hold that. */
const WAIT_MS_MAX = 150_000;
const AWAY_MS = 20_000;
/** After its return: longer than what it may still have to write. */
const RETURNED_MS = 15_000;

export const deaths: readonly ClusterCase[] = [
  {
    name: 'kill',
    title:
      "a killed gateway's runs are closed and its places free within 12 s, and no other call is lost",
    needs: ALWAYS,
    run: kill,
  },
  {
    name: 'kill-recordings',
    title: 'recordings of a killed gateway are attached when it is started again',
    needs: [...ALWAYS, 'object store'],
    run: killWithRecordings,
  },
  {
    name: 'zombie',
    title: 'a gateway that is suspended for 20 s changes nothing when it goes on',
    needs: ALWAYS,
    run: (stage) => vanish(stage, { isLastApart: false }),
  },
  {
    name: 'packets-lost',
    title: 'a gateway whose packets are dropped for 20 s changes nothing when they come back',
    needs: [...ALWAYS, 'pgbouncer', 'network'],
    run: (stage) => vanish(stage, { isLastApart: true }),
  },
  {
    name: 'worker-killed',
    title: 'the calls of a killed call worker go on at another worker',
    needs: ALWAYS,
    run: killWorker,
  },
];

interface Scene {
  cluster: GatewayCluster;
  ledger: Ledger;
  calls: LoadedCalls;
}

async function callsUp(
  { start, atEnd }: Stage,
  wishes: Parameters<Stage['start']>[0],
  calls = CALLS,
): Promise<Scene> {
  const cluster = await start(wishes);
  const ledger = new Ledger(cluster.database);
  const loaded = await LoadedCalls.up(cluster, ledger, { calls, callsPerSecond: 10 });
  atEnd(() => loaded.end());
  await pause(TALK_MS);
  return { cluster, ledger, calls: loaded };
}

async function kill(stage: Stage): Promise<void> {
  const { findings } = stage;
  const limit = { PATCHBAY_CALL_LIMIT: String(CALLS) };
  const { cluster, ledger, calls } = await callsUp(stage, { gateways: 2, env: limit });
  const dead = await runsOf(ledger, 'gw1');
  const bystanders = await Bystanders.of(ledger, 'gw1');
  findings.note('calls of the killed gateway', dead.length);
  await cluster.gateway(1).kill();
  const closedMs = await ledger.msUntilClosed(dead, WAIT_MS_MAX);
  findings.atMost('kill to closed runs (ms)', closedMs, CLOSED_MS_MAX);
  await bystanders.check(findings);
  const more = await LoadedCalls.begin(cluster, { calls: dead.length, callsPerSecond: 20 });
  stage.atEnd(() => more.end());
  await more.placed();
  findings.exactly('calls refused in the places that are free', (await more.finish()).refused, 0);
  const { lostFrames, dropped } = await calls.finish();
  findings.atMost('calls broken off', dropped, dead.length);
  findings.exactly('lost frames of the others', lostFrames, 0);
  findings.exactly('runs with gaps in their numbers', (await ledger.runsWithGaps()).length, 0);
}

async function killWithRecordings(stage: Stage): Promise<void> {
  const { findings } = stage;
  const { cluster, ledger } = await callsUp(
    stage,
    { gateways: 2, hasObjectStore: true },
    CALLS / 2,
  );
  const dead = await runsOf(ledger, 'gw1');
  await cluster.gateway(1).kill();
  await ledger.msUntilClosed(dead, WAIT_MS_MAX);
  await cluster.gateway(1).start();
  const sinceMs = performance.now();
  let attachedRuns: StoredRun[] = [];
  while (attachedRuns.length < dead.length && performance.now() - sinceMs < ATTACHED_MS_MAX) {
    await pause(500);
    attachedRuns = (await ledger.of(dead)).filter(({ recordingKey }) => recordingKey !== null);
  }
  findings.atLeast('calls of the killed gateway', dead.length, 1);
  findings.exactly('recordings attached after its start', attachedRuns.length, dead.length);
  findings.note('after its start (ms)', performance.now() - sinceMs);
  await pause(STORED_MS_MAX);
  const stored = await cluster.objectStore.count(recordingsOf(attachedRuns));
  findings.exactly('recordings in the S3', stored, dead.length);
}

const ATTACHED_MS_MAX = 60_000;
/** From there to S3. */
const STORED_MS_MAX = 15_000;

/** The last gateway stands still, or its packets are dropped, and comes back. */
async function vanish(stage: Stage, { isLastApart }: { isLastApart: boolean }): Promise<void> {
  const { findings } = stage;
  const { cluster, ledger, calls } = await callsUp(stage, { gateways: 2, isLastApart });
  const gone = await runsOf(ledger, 'gw2');
  const bystanders = await Bystanders.of(ledger, 'gw2');
  findings.atLeast('calls of the gateway that vanishes', gone.length, 1);
  const gateway = cluster.gateway(2);
  const sinceMs = performance.now();
  if (isLastApart) cluster.network.cut();
  else gateway.suspend();
  findings.atMost('to closed runs (ms)', await ledger.msUntilClosed(gone, AWAY_MS), CLOSED_MS_MAX);
  await pause(Math.max(0, AWAY_MS - (performance.now() - sinceMs)));
  const before = await ledger.of(gone);
  if (isLastApart) cluster.network.join();
  else gateway.resume();
  await pause(RETURNED_MS);
  const after = await ledger.of(gone);
  findings.exactly('runs that it changes after its return', changed(before, after), 0);
  // What was recorded until then is no loss.
  findings.note('recordings that it attaches', attached(after) - attached(before));
  await bystanders.check(findings);
  await calls.finish();
  await ledger.msUntilClosed(
    (await ledger.open()).map(({ id }) => id),
    CLOSED_MS_MAX,
  );
  findings.exactly('runs with gaps in their numbers', (await ledger.runsWithGaps()).length, 0);
  findings.exactly(
    'runs that ended other than once',
    (await ledger.runsEndedOtherThanOnce()).length,
    0,
  );
}

/** Calls of a provider that asks what to do when the media of a call end. */
async function killWorker(stage: Stage): Promise<void> {
  const { findings } = stage;
  const cluster = await stage.start({ gateways: 1, hasRedis: false, workers: 2 });
  const ledger = new Ledger(cluster.database);
  const telephones = await Telephones.connect(cluster);
  stage.atEnd(() => telephones.close());
  const begun: Begun[] = [];
  while (begun.length < WORKER_CALLS) begun.push(await telephones.callIn(cluster.gateway(1)));
  cluster.gateway(1).killWorker();
  await pause(CLOSED_MS_MAX);
  const runs = await ledger.of(begun.map(({ run }) => run.id));
  findings.exactly('calls whose runs go on', openIn(runs), WORKER_CALLS);
  findings.exactly('calls that are over', begun.filter(({ call }) => call.isOver).length, 0);
  const cut = begun.filter(({ call }) => eventsOf(call, 'stream-stopped').length > 0);
  findings.atLeast('calls of the killed worker', cut.length, 1);
  findings.exactly('calls whose log says so', (await ledger.resumed()).length, cut.length);
  const speechMs = await Promise.all(cut.map(({ call }) => msUntilSpeech(call)));
  findings.atMost('end of the media to speech (ms)', Math.max(...speechMs), SPEECH_MS_MAX);
}

/** From the end of a call's first media to the first words over the second; infinite if there are none. */
async function msUntilSpeech(call: FakeCall): Promise<number> {
  const [stopped] = eventsOf(call, 'stream-stopped');
  const [, started] = eventsOf(call, 'stream-started');
  if (stopped === undefined || started === undefined) return Number.POSITIVE_INFINITY;
  const fromMs = Number(stopped.detail['mediaMs']);
  const heardMs = await call.waitForSpeech({ fromMs, withinMs: SPEECH_MS_MAX });
  return started.at + (heardMs - fromMs) - stopped.at;
}

function eventsOf({ events }: FakeCall, type: string): FakeCall['events'] {
  return events.filter((event) => event.type === type);
}

function openIn(runs: readonly StoredRun[]): number {
  return runs.filter(({ state }) => state === 'running').length;
}

async function runsOf(ledger: Ledger, gateway: string): Promise<string[]> {
  return (await ledger.openByOwner()).get(gateway) ?? [];
}

/** Runs with another end, or another owner. */
function changed(before: readonly StoredRun[], after: readonly StoredRun[]): number {
  const endOf = ({ state, disposition, endedAt, owner }: StoredRun): string =>
    JSON.stringify([state, disposition, endedAt, owner]);
  const known = new Map(before.map((run) => [run.id, endOf(run)]));
  return after.filter((run) => known.get(run.id) !== endOf(run)).length;
}

function attached(runs: readonly StoredRun[]): number {
  return recordingsOf(runs).length;
}
