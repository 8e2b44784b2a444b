// Two gateways on one PostgreSQL server with one Asterisk: the gateway with the connection is killed, and the other one goes
// on with its calls.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ApiClient } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { machine } from '../demo/machine-pace.ts';
import { inbound, OWN_NUMBER } from '../demo/scenario.ts';
import { type Agents, setUp } from '../demo/two-calls.ts';
import { type FakeAsterisk, startAsterisk } from '../fakes/asterisk/fake-asterisk.ts';
import type { Phone } from '../fakes/asterisk/phone.ts';
import { engines, startServer, type TestServer } from '../store/databases.ts';
import { onDatabase } from './database-gateway.ts';
import { hasHeardOut, speechAfter } from './left-asterisk-calls.ts';

const CALLS = 3;
/** The processes of a gateway declare nobody dead in their first seconds. */
const CALM_MS = 16_000;
/** From the death in the store to the first words. */
const SPEECH_MS_MAX = 5_000;
const POLL = { timeout: 60_000, interval: 100 };
const NAMES = ['first', 'second'] as const;

describe.runIf(engines().includes('server'))('one of two gateways with a PBX', () => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-pbx-death-'));
  const gateways = new Map<string, Gateway>();
  let server: TestServer;
  let database: Client;
  let asterisk: FakeAsterisk;
  let agents: Agents;

  const logFileOf = (name: string) => join(folder, `${name}.log`);

  async function start(name: string): Promise<Gateway> {
    const env = { PATCHBAY_NODE: name, PATCHBAY_WORKERS: '1' };
    return Gateway.start(await onDatabase({ databaseUrl: server.url, folder, name, env }));
  }

  beforeAll(async () => {
    machine.watch();
    server = await startServer();
    // One after the other: both would wait for the migrations of the first one.
    for (const name of NAMES) gateways.set(name, await start(name));
    const first = gateways.get('first');
    if (first === undefined) throw new Error('no gateway');
    asterisk = await startAsterisk();
    const api = new ApiClient(first.url, await first.firstKey());
    agents = await setUp(api, asterisk.url.replace('://', '://gw:gwsecret@'), 'ari');
    database = new Client({ connectionString: server.url });
    await database.connect();
    await until(() => asterisk.openEventSockets === 1);
    await new Promise((resolve) => setTimeout(resolve, CALM_MS));
  }, 240_000);

  afterAll(async () => {
    await Promise.all([...gateways.values()].map(killAll));
    await asterisk?.stop();
    await database?.end();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  const until = (condition: () => boolean) =>
    vi.waitFor(() => expect(condition()).toBe(true), POLL);

  async function holder(): Promise<string> {
    const { rows } = await database.query<{ node: string }>(
      'select node from configuration_leases',
    );
    return rows[0]?.node.replace(/#.*/, '') ?? '';
  }

  /** When a gateway's processes are declared dead, in milliseconds since 1970. */
  async function declaredDead(name: string): Promise<number> {
    const living = async () => {
      const sql = 'select count(*)::int as count from nodes where starts_with(name, $1)';
      return (await database.query<{ count: number }>(sql, [`${name}#`])).rows[0]?.count;
    };
    await vi.waitFor(async () => expect(await living()).toBe(0), { timeout: 60_000, interval: 20 });
    return Date.now();
  }

  async function callIn(): Promise<Phone> {
    const to = OWN_NUMBER.slice(1);
    const phone = asterisk.placeCall({ from: inbound.callerNumber, to, app: agents.app });
    await until(() => hasHeardOut(phone));
    return phone;
  }

  it('that is killed leaves its calls to the other one, which goes on with them', async () => {
    const phones = await Promise.all(Array.from({ length: CALLS }, callIn));
    const dying = await holder();
    const other = NAMES.find((name) => name !== dying) ?? '';
    const gateway = gateways.get(dying);
    if (gateway === undefined) throw new Error('nobody has the PBX');
    const heard = Promise.all(phones.map((phone) => speechAfter(phone, logFileOf(other))));
    const dead = declaredDead(dying);
    const killedMs = Date.now();
    await killAll(gateway);
    const speech = await heard;
    const deadMs = (await dead) - killedMs;
    const afterMs = speech.map((each) => each.killedMs);
    const worstMs = Math.max(...afterMs) - deadMs;
    process.stderr.write(
      `declared dead after ${deadMs} ms, speech after ${afterMs.join(', ')} ms: ${worstMs} ms later\n`,
    );
    expect(worstMs).toBeLessThan(machine.scaled(SPEECH_MS_MAX));
    expect(phones.filter(({ isOver }) => isOver)).toEqual([]);
    expect(await holder()).toBe(other);

    for (const phone of phones) phone.hangUp();
    await until(() => asterisk.channels.length === 0 && asterisk.bridgeIds.length === 0);
    const runs = async () =>
      (await database.query('select disposition, owner_node from runs')).rows;
    const closed = { disposition: 'user_hangup', owner_node: `${other}#1` };
    await expect.poll(runs, POLL).toEqual(phones.map(() => closed));
    const { rows } = await database.query(
      `select count(*)::int as events, max(seq)::int as last,
         count(*) filter (where body ->> 'type' = 'call.resumed')::int as resumed,
         count(*) filter (where body ->> 'type' = 'call.ended')::int as ends
       from run_events group by run_id`,
    );
    expect(rows).toHaveLength(CALLS);
    for (const { events, last, resumed, ends } of rows) {
      expect([events, resumed, ends]).toEqual([last, 1, 1]);
    }
    expect(asterisk.complaints).toEqual([]);
  }, 240_000);
});

function processesOf(gateway: Gateway): number[] {
  const pid = gateway.pid ?? 0;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...children.split(' ').filter(Boolean).map(Number)];
}

/** As if its machine had lost its power. */
async function killAll(gateway: Gateway): Promise<void> {
  if (gateway.hasExited) return;
  for (const pid of processesOf(gateway)) process.kill(pid, 'SIGKILL');
  await gateway.exited;
}
