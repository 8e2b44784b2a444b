// Calls of each hosted provider whose media break off, by FIN and by RST, at a far end that is simulated from the provider's
// documentation. The call worker is killed: the kernel sends FIN, or RST if audio waits that nobody has read, and the call
// goes on in the other worker. Or the provider loses its media socket, and the call goes on where it was.

import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ApiClient } from '../demo/api-client.ts';
import { GatewayRig } from '../demo/gateway-rig.ts';
import { LookingUp } from '../demo/looking-up.ts';
import { machine } from '../demo/machine-pace.ts';
import { ResumedCall } from '../demo/resumed-call.ts';
import type { HostedFake } from '../fakes/hosted/hosted-fake.ts';
import { hostedRow, hostedRows } from '../fakes/hosted/hosted-rows.ts';
import type { TcpEnd } from '../fakes/hosted/media-line.ts';
import { databaseOf } from '../store/databases.ts';

const POLL = { timeout: 60_000, interval: 100 };
const CALLER = '+14155550100';
/** Longer than the test: the function has no result when the process dies. */
const ANSWER_MS = 120_000;
/** What is on its way comes, and what is not read waits. */
const SETTLED_MS = 300;
/** From the end of the media, when the provider asks, to the agent's first words. */
const SPEECH_MS_MAX = 5_000;

const rig = new GatewayRig('resumed');
const figures: string[] = [];
let looking: LookingUp;
let api: ApiClient;
let database: Client;

beforeAll(async () => {
  machine.watch();
  looking = await LookingUp.start({ answerMs: ANSWER_MS });
  api = await rig.start({ PATCHBAY_WORKERS: '2', ...looking.env });
  database = await databaseOf(rig.dataFolder, undefined).connect();
}, 180_000);

afterAll(async () => {
  process.stdout.write(`${figures.join('\n')}\n`);
  await database?.end();
  await rig.end();
  await looking?.close();
}, 60_000);

describe.each(hostedRows.map(({ name }, nth) => [name, nth] as const))(
  'a call of %s',
  (provider, nth) => {
    const number = `+1500555${1_000 + nth}`;
    let fake: HostedFake;
    let agentId = '';

    beforeAll(async () => {
      const row = hostedRow(provider);
      fake = await row.startFake({ gatewayUrl: rig.gateway.url, numbers: [number] });
      agentId = await looking.createAgent(api);
      const configurationId = await api.createConfiguration(
        provider,
        row.configuration(fake.baseUrl),
      );
      await api.addNumber(configurationId, { address: number, inbound_workflow_id: agentId });
    }, 60_000);

    afterAll(() => fake?.close());

    async function begin(): Promise<ResumedCall> {
      looking.forget();
      await untilBothServe();
      const runIdsBefore = await api.runIds(agentId);
      const call = await fake.placeInboundCall({ from: CALLER, to: number });
      const query = async <Row extends object>(text: string, values: unknown[]): Promise<Row[]> =>
        (await database.query<Row>(text, values)).rows;
      const means = { api, query, looking, agentId, runIdsBefore, isElsewhere: false };
      return await ResumedCall.begin(call, means);
    }

    it.each(['FIN', 'RST'] as const)(
      'goes on in the other worker when its own is killed, which ends its media by %s',
      async (tcpEnd) => {
        const begun = await begin();
        const owner = await begun.owner();
        await kill(begun, tcpEnd);
        const gone = await begun.goesOn();
        expect(gone.tcpEnd).toBe(tcpEnd);
        note(`${provider}, worker killed, ${tcpEnd}`, gone.speechMs);
        expect(await begun.owner()).not.toBe(owner);
        await begun.finish();
        await begun.check();
        expect(gone.speechMs).toBeLessThan(machine.scaled(SPEECH_MS_MAX));
      },
      180_000,
    );

    it.each(['FIN', 'RST'] as const)(
      'goes on in its worker when the provider loses its media, by %s',
      async (tcpEnd) => {
        const begun = await begin();
        const owner = await begun.owner();
        begun.call.loseMedia(tcpEnd);
        const { speechMs } = await begun.goesOn();
        note(`${provider}, media lost, ${tcpEnd}`, speechMs);
        expect(await begun.owner()).toBe(owner);
        await begun.finish();
        await begun.check();
        expect(speechMs).toBeLessThan(machine.scaled(SPEECH_MS_MAX));
      },
      180_000,
    );
  },
);

/** Ends its worker's process: its media socket ends by FIN if nothing in it waits to be read, by RST otherwise. */
async function kill(begun: ResumedCall, tcpEnd: TcpEnd): Promise<void> {
  const pid = rig.pidOf(workerOf(await begun.owner()));
  if (tcpEnd === 'FIN') begun.call.standStill();
  else process.kill(pid, 'SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
  process.kill(pid, 'SIGKILL');
}

function note(what: string, ms: number): void {
  const pace =
    machine.slowness > 1 ? `, the machine ${machine.slowness.toFixed(1)} times slower` : '';
  figures.push(`${what}: first words after ${Math.round(ms)} ms${pace}`);
}

function workerOf(owner: string): string {
  return /#(\d+)$/.exec(owner)?.[1] ?? '';
}

/** Each worker as a process that runs. */
async function untilBothServe(): Promise<void> {
  await vi.waitFor(async () => {
    const text = await (await fetch(`${rig.gateway.url}/metrics`)).text();
    const workers = [...text.matchAll(/^patchbay_build_info\{.*worker="(\d)"\} 1$/gm)];
    expect(workers.map(([, worker]) => worker).sort()).toEqual(['1', '2']);
  }, POLL);
}
