// The connection to a PBX when its owner dies.

import { setUp } from '../../demo/two-calls.ts';
import { type FakeAsterisk, startAsterisk } from '../../fakes/asterisk/fake-asterisk.ts';
import type { Phone } from '../../fakes/asterisk/phone.ts';
import type { GatewayCluster } from '../cluster.ts';
import { ALWAYS, type ClusterCase, type Stage } from '../cluster-case.ts';
import type { ClusterGateway } from '../cluster-gateway.ts';
import { Ledger, msUntil, pause } from '../ledger.ts';
import { OWN_NUMBER, PERSON } from '../telephones.ts';

const TAKEN_OVER_MS_MAX = 8_000;
/** A gateway is declared dead after 10 s, and the others look every two. */
const GOES_ON_MS_MAX = 15_000;
const CLOSED_MS_MAX = 12_000;
const EMPTY_MS_MAX = 15_000;
/** Patience for what does not hold that. */
const WAIT_MS_MAX = 120_000;
/** The PBX notices that its connection is closed. */
const LOST_MS_MAX = 5_000;
const TALK_MS = 3_000;

export const pbxTakeover: readonly ClusterCase[] = [
  {
    name: 'kill-pbx',
    title:
      'another gateway takes the connection to a PBX over within 8 s, takes its calls, and goes on with those that talk',
    needs: ALWAYS,
    run: takeOver,
  },
];

async function takeOver({ start, atEnd, findings }: Stage): Promise<void> {
  const cluster = await start({ gateways: 2 });
  const ledger = new Ledger(cluster.database);
  const asterisk = await startAsterisk();
  atEnd(() => asterisk.stop());
  const { app } = await setUp(
    cluster.api(1),
    asterisk.url.replace('://', '://gw:gwsecret@'),
    'ari',
  );
  const first = await callIn({ asterisk, ledger, app });
  const owner = await connectionOwner(cluster);
  await owner.kill();
  await msUntil(() => asterisk.openEventSockets === 0, LOST_MS_MAX);
  const takenMs = await msUntil(() => asterisk.openEventSockets === 1, WAIT_MS_MAX);
  findings.atMost('kill to the new connection (ms)', takenMs, TAKEN_OVER_MS_MAX);
  const second = await callIn({ asterisk, ledger, app });
  findings.atMost('the next call is taken after (ms)', second.ms, TAKEN_OVER_MS_MAX);
  await pause(TALK_MS);
  findings.works('the next call goes on', !second.phone.isOver);
  second.phone.hangUp();
  const goesOnMs = await msUntil(async () => {
    const [run] = await ledger.of([first.runId]);
    return run !== undefined && run.owner !== owner.name;
  }, WAIT_MS_MAX);
  findings.atMost('then the first call has another gateway after (ms)', goesOnMs, GOES_ON_MS_MAX);
  await pause(TALK_MS);
  findings.works('the first call goes on', !first.phone.isOver);
  first.phone.hangUp();
  const closedMs = await ledger.msUntilClosed([first.runId], WAIT_MS_MAX);
  findings.atMost('then its run is closed after (ms)', closedMs, CLOSED_MS_MAX);
  const isEmpty = () => asterisk.channels.length === 0 && asterisk.bridgeIds.length === 0;
  const emptyMs = await msUntil(isEmpty, WAIT_MS_MAX);
  findings.atMost('nothing is left at the PBX after (ms)', emptyMs, EMPTY_MS_MAX);
  findings.exactly('complaints of the PBX', asterisk.complaints.join('; '), '');
}

interface Begun {
  phone: Phone;
  runId: string;
  /** From its ring. */
  ms: number;
}

/** A call that talks. */
async function callIn(of: { asterisk: FakeAsterisk; ledger: Ledger; app: string }): Promise<Begun> {
  const { asterisk, ledger, app } = of;
  const before = new Set((await ledger.open()).map(({ id }) => id));
  const phone = asterisk.placeCall({ from: PERSON, to: OWN_NUMBER.slice(1), app });
  let runId = '';
  const ms = await msUntil(async () => {
    const run = (await ledger.open()).find(
      ({ id, state }) => !before.has(id) && state === 'running',
    );
    runId = run?.id ?? '';
    return run !== undefined;
  }, WAIT_MS_MAX);
  return { phone, runId, ms };
}

async function connectionOwner({ database, gateways }: GatewayCluster): Promise<ClusterGateway> {
  const [lease] = await database.query<{ owner: string }>(
    `select split_part(node, '#', 1) as owner from configuration_leases`,
  );
  const owner = gateways.find(({ name }) => name === lease?.owner);
  if (owner === undefined) throw new Error(`nobody has the connection: ${lease?.owner}`);
  return owner;
}
