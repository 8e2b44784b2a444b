// Calls of one PBX in the call workers of two gateways: what ends one of them, or what is between them, ends no call of the
// other, and those of the dead one go on.

import type { ApiClient } from '../../demo/api-client.ts';
import { type FakeAsterisk, startAsterisk } from '../../fakes/asterisk/fake-asterisk.ts';
import type { HeardFrame, Phone } from '../../fakes/asterisk/phone.ts';
import type { GatewayCluster } from '../cluster.ts';
import { ALWAYS, type ClusterCase, type Stage } from '../cluster-case.ts';
import type { ClusterGateway } from '../cluster-gateway.ts';
import { Ledger, msUntil, pause } from '../ledger.ts';
import { OWN_NUMBER, PERSON } from '../telephones.ts';

const CALLS = 12;
const DIALS = 4;
/** Load reports of other gateways are that old. */
const CALL_EVERY_MS = 400;
/** Calls that are in the gateway with fewer of them, of 16. */
const SHARE_MIN = 5;
const CONNECT_MS_MAX = 30_000;
const AWAY_MS = 6_000;
const TALK_MS = 3_000;
/** A key, the decision that no other follows, and the end. */
const EVENT_MS_MAX = 8_000;
/** The pauses between sentences are shorter. */
const SILENCE_MS_MAX = 2_500;
const TAKEN_OVER_MS_MAX = 8_000;
/** Death is certain after ten seconds, and is looked for every two. */
const GOES_ON_MS_MAX = 15_000;
const ENDED_MS_MAX = 25_000;
const FRAME_MS = 20;
const LOUD = 500;

export const pbxSpread: readonly ClusterCase[] = [
  {
    name: 'pbx-spread',
    title: 'calls of one PBX are in both gateways, and outlive Redis and either gateway',
    needs: ALWAYS,
    run: spread,
  },
];

interface Talk {
  phone: Phone;
  runId: string;
  owner: string;
}

interface Stand {
  cluster: GatewayCluster;
  asterisk: FakeAsterisk;
  ledger: Ledger;
  api: ApiClient;
  agent: { id: string; uuid: string };
  app: string;
  calls: Talk[];
}

async function spread({ start, atEnd, findings, say }: Stage): Promise<void> {
  const cluster = await start({ gateways: 2 });
  const asterisk = await startAsterisk();
  atEnd(() => asterisk.stop());
  const at = await stand(cluster, asterisk);
  const [holder, far] = await holderAndFar(cluster);

  say('calls in and out');
  for (let nth = 0; nth < CALLS; nth++) await callIn(at);
  for (let nth = 0; nth < DIALS; nth++) await callOut(at, cluster.api(nth % 2 === 0 ? 1 : 2));
  findings.exactly('calls that talk', at.calls.length, CALLS + DIALS);
  findings.atLeast('of them in the holder', of(at, holder).length, SHARE_MIN);
  findings.atLeast('of them in the other gateway', of(at, far).length, SHARE_MIN);

  say('Redis away');
  const awaySince = now(at);
  await cluster.redis.kill();
  await pause(AWAY_MS / 2);
  const taken = await callIn(at);
  findings.exactly('a call without Redis is in', taken.owner, holder.name);
  await pause(AWAY_MS / 2);
  await cluster.redis.start();
  await pause(AWAY_MS);
  findings.exactly('calls cut by that', at.calls.filter(({ phone }) => phone.isOver).length, 0);
  findings.atMost('longest silence (ms)', longestSilence(at.calls, awaySince), SILENCE_MS_MAX);
  findings.atMost(
    'then an event reaches the other gateway (ms)',
    await endByKey(at, far),
    EVENT_MS_MAX,
  );

  say('the other gateway dies');
  const deadSince = now(at);
  const left = of(at, far);
  await far.kill();
  const goesOnMs = await msUntil(async () => {
    await lookUpOwners(at);
    return of(at, far).length === 0;
  }, ENDED_MS_MAX);
  findings.atMost('its calls are in the holder after (ms)', goesOnMs, GOES_ON_MS_MAX);
  const speechSince = now(at);
  await pause(TALK_MS);
  findings.exactly('its calls that are over', left.filter(isOver).length, 0);
  const silent = left.filter(({ phone }) => !isHeard(phone.heard, speechSince));
  findings.exactly('its calls that hear nothing', silent.length, 0);
  const own = of(at, holder).filter((call) => !left.includes(call));
  findings.exactly('calls of the holder cut by that', own.filter(isOver).length, 0);
  findings.atMost('their longest silence (ms)', longestSilence(own, deadSince), SILENCE_MS_MAX);

  say('the holder dies');
  await far.start();
  await pause(TALK_MS);
  for (let nth = 0; nth < CALLS; nth++) await callIn(at);
  const theirs = of(at, far);
  findings.atLeast('calls in the gateway that came back', theirs.length, SHARE_MIN);
  const lostSince = now(at);
  await holder.kill();
  await msUntil(() => asterisk.openEventSockets === 0, TAKEN_OVER_MS_MAX);
  const takenMs = await msUntil(() => asterisk.openEventSockets === 1, ENDED_MS_MAX);
  findings.atMost('kill to the new connection (ms)', takenMs, TAKEN_OVER_MS_MAX);
  await pause(TALK_MS);
  findings.exactly('calls cut by that', theirs.filter(isOver).length, 0);
  findings.atMost('longest silence then (ms)', longestSilence(theirs, lostSince), SILENCE_MS_MAX);
  findings.atMost('an event reaches them after (ms)', await endByKey(at, far), EVENT_MS_MAX);

  for (const { phone } of at.calls) if (!phone.isOver) phone.hangUp();
  const isEmpty = () => asterisk.channels.length === 0 && asterisk.bridgeIds.length === 0;
  const emptyMs = await msUntil(isEmpty, ENDED_MS_MAX);
  findings.atMost('nothing is left at the PBX after (ms)', emptyMs, ENDED_MS_MAX);
  findings.exactly('complaints of the PBX', asterisk.complaints.join('; '), '');
}

/** An agent that speaks without end, and ends the call at a 9. */
async function stand(cluster: GatewayCluster, asterisk: FakeAsterisk): Promise<Stand> {
  const api = cluster.api(1);
  asterisk.answerNumber(PERSON.slice(1), 'instant');
  const configuration = await api.createConfiguration('the PBX', {
    provider: 'ari',
    ari_endpoint: asterisk.url,
    app_name: 'gw',
    app_password: 'gwsecret',
    dial_template: 'PJSIP/{number}',
  });
  const agent = await api.createWorkflow('Announcements', AGENT);
  await api.configureWorkflow(agent.id, { max_call_duration: 1_200, max_user_idle_timeout: 600 });
  await api.addNumber(configuration, {
    address: OWN_NUMBER,
    inbound_workflow_id: agent.id,
    is_default_caller_id: true,
  });
  const app = await api.stasisApp(configuration);
  await msUntil(() => asterisk.openEventSockets === 1, CONNECT_MS_MAX);
  await pause(TALK_MS); // The other gateway has been asked.
  return { cluster, asterisk, ledger: new Ledger(cluster.database), api, agent, app, calls: [] };
}

/** The gateway with the connection, and the other one. */
async function holderAndFar(cluster: GatewayCluster): Promise<[ClusterGateway, ClusterGateway]> {
  const [lease] = await cluster.database.query<{ owner: string }>(
    `select split_part(node, '#', 1) as owner from configuration_leases`,
  );
  const holder = cluster.gateways.find(({ name }) => name === lease?.owner);
  const far = cluster.gateways.find(({ name }) => name !== lease?.owner);
  if (holder === undefined || far === undefined) throw new Error('nobody has the connection');
  return [holder, far];
}

async function callIn(at: Stand): Promise<Talk> {
  const { asterisk, app } = at;
  return await connected(at, async () =>
    asterisk.placeCall({ from: PERSON, to: OWN_NUMBER.slice(1), app, script: 'quiet' }),
  );
}

async function callOut(at: Stand, api: ApiClient): Promise<Talk> {
  return await connected(at, async () => {
    const before = at.asterisk.phones.length;
    await api.startCall(at.agent.uuid, { phone_number: PERSON });
    await msUntil(() => at.asterisk.phones.length > before, CONNECT_MS_MAX);
    return at.asterisk.phone('instant');
  });
}

/** A call whose person hears the agent. */
async function connected(at: Stand, begin: () => Promise<Phone>): Promise<Talk> {
  const before = new Set((await at.ledger.open()).map(({ id }) => id));
  const phone = await begin();
  const isNew = ({ id, state }: { id: string; state: string }) =>
    !before.has(id) && state === 'running';
  await msUntil(
    async () => phone.heard.some(isLoud) && (await at.ledger.open()).some(isNew),
    CONNECT_MS_MAX,
  );
  const run = (await at.ledger.open()).find(isNew);
  if (run === undefined) throw new Error('a call is not connected');
  const call = { phone, runId: run.id, owner: run.owner };
  at.calls.push(call);
  await pause(CALL_EVERY_MS);
  return call;
}

/** Calls that are not over, in that gateway. */
function of({ calls }: Stand, { name }: ClusterGateway): Talk[] {
  return calls.filter(({ phone, owner }) => owner === name && !phone.isOver);
}

/** Notes in which gateways the calls are now. */
async function lookUpOwners({ ledger, calls }: Stand): Promise<void> {
  const runs = await ledger.of(calls.map(({ runId }) => runId));
  for (const call of calls) {
    call.owner = runs.find(({ id }) => id === call.runId)?.owner ?? call.owner;
  }
}

function isOver({ phone }: Talk): boolean {
  return phone.isOver;
}

/** Milliseconds until the agent of one of its calls has ended it because a key was pressed. */
async function endByKey(at: Stand, gateway: ClusterGateway): Promise<number> {
  const [call] = of(at, gateway);
  if (call === undefined) return Number.POSITIVE_INFINITY;
  call.phone.press('9');
  return await msUntil(() => call.phone.isOver, CONNECT_MS_MAX);
}

function now({ calls }: Stand): number {
  return Math.max(0, ...calls.map(({ phone }) => phone.heard.at(-1)?.atMs ?? 0));
}

/** The longest time since then in which one of them heard nothing. */
function longestSilence(calls: readonly Talk[], sinceMs: number): number {
  return Math.max(0, ...calls.map(({ phone }) => silenceIn(phone.heard, sinceMs)));
}

function silenceIn(heard: readonly HeardFrame[], sinceMs: number): number {
  let [frames, most] = [0, 0];
  for (const frame of heard) {
    if (frame.atMs < sinceMs) continue;
    frames = isLoud(frame) ? 0 : frames + 1;
    most = Math.max(most, frames);
  }
  return most * FRAME_MS;
}

function isHeard(heard: readonly HeardFrame[], sinceMs: number): boolean {
  return heard.some((frame) => frame.atMs >= sinceMs && isLoud(frame));
}

function isLoud({ pcm }: HeardFrame): boolean {
  return pcm.some((sample) => Math.abs(sample) > LOUD);
}

const SENTENCE = 'This is a long announcement, which is spoken without any haste, to its end. ';
const position = { x: 0, y: 0 };
const AGENT = {
  nodes: [
    {
      id: '1',
      type: 'startCall',
      position,
      data: {
        name: 'Speaks',
        prompt: 'Talk.',
        greeting_type: 'text',
        greeting: SENTENCE.repeat(60),
        allow_interrupt: true,
      },
    },
    { id: '2', type: 'endCall', position, data: { name: 'Ends', prompt: 'End.', say: '' } },
  ],
  edges: [
    {
      id: '1-2',
      source: '1',
      target: '2',
      data: { label: 'to the end', condition: 'The caller wants to end.', dtmf: '9' },
    },
  ],
};
