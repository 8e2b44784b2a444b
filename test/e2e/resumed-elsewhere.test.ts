// Two gateways on one PostgreSQL server with Redis, behind HAProxy with the file of deploy/cluster. One is killed with all its
// processes: Twilio asks what to do with its calls, reaches the other one, and they go on there.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { LookingUp } from '../demo/looking-up.ts';
import { machine } from '../demo/machine-pace.ts';
import { ResumedCall } from '../demo/resumed-call.ts';
import { OWN_NUMBER } from '../demo/scenario.ts';
import type { HostedFake } from '../fakes/hosted/hosted-fake.ts';
import { twilioRow } from '../fakes/twilio/row.ts';
import { GatewayCluster } from '../several-gateways/cluster.ts';
import { ALWAYS } from '../several-gateways/cluster-case.ts';
import { missing } from '../several-gateways/needs.ts';

const CALLER = '+14155550100';
/** Longer than the test: the function has no result when the gateway dies. */
const ANSWER_MS = 120_000;
/** From the end of the media, when Twilio asks, to the agent's first words. */
const SPEECH_MS_MAX = 5_000;

const reason = missing(ALWAYS);
if (reason !== undefined) process.stderr.write(`No several gateways: ${reason}.\n`);

let looking: LookingUp;
let cluster: GatewayCluster;
let twilio: HostedFake;

beforeAll(async () => {
  if (reason !== undefined) return;
  machine.watch();
  looking = await LookingUp.start({ answerMs: ANSWER_MS });
  cluster = await GatewayCluster.start({ gateways: 2, env: looking.env });
  twilio = await twilioRow.startFake({ gatewayUrl: cluster.url, numbers: [OWN_NUMBER] });
}, 300_000);

afterAll(async () => {
  await twilio?.close();
  await cluster?.end();
  await looking?.close();
}, 60_000);

it.skipIf(reason !== undefined)(
  'a call of Twilio goes on at the other gateway when its own is killed',
  async () => {
    const api = cluster.api(1);
    const agentId = await looking.createAgent(api);
    const fields = twilioRow.configuration(twilio.baseUrl);
    const configurationId = await api.createConfiguration('Twilio', fields);
    await api.addNumber(configurationId, { address: OWN_NUMBER, inbound_workflow_id: agentId });
    const call = await twilio.placeInboundCall({ from: CALLER, to: OWN_NUMBER });
    let [left, dead] = [cluster.gateway(1), cluster.gateway(2)];
    const begun = await ResumedCall.begin(call, {
      api: {
        runIds: (id) => left.api(cluster.apiKey).runIds(id),
        run: (id, runId) => left.api(cluster.apiKey).run(id, runId),
      },
      query: (text, values) => cluster.database.query(text, values),
      looking,
      agentId,
      runIdsBefore: [],
      isElsewhere: true,
    });
    if ((await begun.owner()).startsWith(left.name)) [left, dead] = [dead, left];
    await dead.kill();
    const { speechMs } = await begun.goesOn();
    process.stdout.write(`twilio, gateway killed: first words after ${Math.round(speechMs)} ms\n`);
    expect(await begun.owner()).toMatch(new RegExp(`^${left.name}#`));
    await begun.finish();
    await begun.check();
    expect(speechMs).toBeLessThan(machine.scaled(SPEECH_MS_MAX));
  },
  300_000,
);
