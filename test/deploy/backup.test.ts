// Backup and restore as docs/operations.md has them: a copy by pg_dump and one by pg_basebackup, each taken beside a
// running gateway, with its data folder copied after it. A gateway that starts on either has the calls and their
// recordings.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ApiClient, download } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { freePort } from '../fakes/free-port.ts';
import { type FakeTwilio, startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';
import { engines, startServer, type TestServer, UNPRIVILEGED_ID } from '../store/databases.ts';

const ACCOUNT_SID = `AC${'3'.repeat(32)}`;
const AUTH_TOKEN = 'backup-token';
const NUMBER = '+14155550100';
const TALK_MS = 1_500;
const POLL = { timeout: 30_000, interval: 200 };

const agent = {
  nodes: [
    {
      id: '1',
      type: 'startCall',
      position: { x: 0, y: 0 },
      data: { name: 'A', prompt: 'Hi', greeting: 'Hello.' },
    },
    { id: '2', type: 'endCall', position: { x: 0, y: 9 }, data: { name: 'B', prompt: 'Bye' } },
  ],
  edges: [{ id: '1-2', source: '1', target: '2', data: { label: 'end', condition: 'always' } }],
};

function run(program: string, args: readonly string[]): void {
  const ended = spawnSync(program, args, { encoding: 'utf8' });
  expect(ended.status, `${program}: ${ended.error ?? ended.stderr}`).toBe(0);
}

/** By tar, which leaves out the gateway's sockets. */
function copyFolder(from: string, to: string): void {
  mkdirSync(to);
  run('bash', ['-o', 'pipefail', '-c', 'tar -C "$0" -c . | tar -C "$1" -x', from, to]);
}

const hasTools = !spawnSync('pg_dump', ['--version']).error;
if (!hasTools) process.stderr.write('Backups are not tried: pg_dump is not installed.\n');

describe.runIf(engines().includes('server') && hasTools)(
  'a backup beside a running gateway',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'patchbay-backup-'));
    const stops: (() => Promise<unknown>)[] = [];
    let server: TestServer;
    let twilio: FakeTwilio;
    let gateway: Gateway;
    let apiKey: string;
    let workflowId: string;

    async function startGateway(dataFolder: string, databaseUrl: string, port: number) {
      const made = await Gateway.start({
        dataFolder,
        logFile: join(folder, `${port}.log`),
        port,
        env: {
          DATABASE_URL: databaseUrl,
          PATCHBAY_NODE: 'gw1',
          PATCHBAY_SECRET_KEYS: '7e'.repeat(32),
          PATCHBAY_STT: 'none',
        },
      });
      stops.push(() => made.kill());
      return made;
    }

    async function call(): Promise<void> {
      const made = await twilio.placeInboundCall({ from: '+14155560001', to: NUMBER });
      setTimeout(() => made.hangUp(), TALK_MS);
      await made.ended;
    }

    /** The calls of the agent that are over, each with the hash of its recording. */
    async function recordingsOf(url: string): Promise<Map<string, string>> {
      const api = new ApiClient(url, apiKey);
      const found = new Map<string, string>();
      for (const id of await api.runIds(workflowId)) {
        const { recording_url: recordingUrl } = await api.run(workflowId, id);
        if (recordingUrl == null) continue;
        const { pathname, search } = new URL(recordingUrl);
        const bytes = await download(`${url}${pathname}${search}`);
        found.set(id, createHash('sha256').update(bytes).digest('hex'));
      }
      return found;
    }

    beforeAll(async () => {
      chmodSync(folder, 0o755); // A server runs as nobody in it.
      server = await startServer();
      stops.push(() => server.stop());
      const port = await freePort();
      twilio = await startFakeTwilio({
        accountSid: ACCOUNT_SID,
        authToken: AUTH_TOKEN,
        publicWebhookBase: `http://127.0.0.1:${port}`,
        numbers: [NUMBER],
      });
      stops.push(() => twilio.close());
      gateway = await startGateway(join(folder, 'data'), server.url, port);
      apiKey = await gateway.firstKey();
      const api = new ApiClient(gateway.url, apiKey);
      const configurationId = await api.createConfiguration('Backup', {
        provider: 'twilio',
        account_sid: ACCOUNT_SID,
        auth_token: AUTH_TOKEN,
        api_base_url: twilio.baseUrl,
      });
      ({ id: workflowId } = await api.createWorkflow('Backup', agent));
      const number = { address: NUMBER, inbound_workflow_id: workflowId };
      await api.addNumber(configurationId, number);
      for (let nth = 0; nth < 3; nth++) await call();
      await vi.waitFor(async () => expect((await recordingsOf(gateway.url)).size).toBe(3), POLL);
    }, 180_000);

    afterAll(async () => {
      for (const stop of stops.toReversed()) await stop();
      rmSync(folder, { recursive: true, force: true });
    }, 60_000);

    /** A gateway of the same name on the copies has what the first had when they were made, and takes calls. */
    async function expectRestored(data: string, databaseUrl: string, before: Map<string, string>) {
      const restored = await startGateway(data, databaseUrl, await freePort());
      expect(await recordingsOf(restored.url)).toEqual(before);
      const credentials = new ApiClient(restored.url, apiKey);
      expect(await credentials.countRuns(workflowId, false)).toBe(
        await credentials.countRuns(workflowId, true),
      );
      await restored.stop();
    }

    it('by pg_dump is restored by pg_restore into an empty database', async () => {
      const before = await recordingsOf(gateway.url);
      const dump = join(folder, 'database.dump');
      run('pg_dump', ['-Fc', '-d', server.url, '-f', dump]);
      const ringing = call(); // Only the files know it, if anything does.
      copyFolder(join(folder, 'data'), join(folder, 'dumped'));
      await ringing;
      const empty = await startServer();
      stops.push(() => empty.stop());
      run('pg_restore', ['--exit-on-error', '--no-owner', '-d', empty.url, dump]);
      await expectRestored(join(folder, 'dumped'), empty.url, before);
    }, 180_000);

    it('by pg_basebackup is a server that starts at once', async () => {
      await vi.waitFor(async () => expect((await recordingsOf(gateway.url)).size).toBe(4), POLL);
      const before = await recordingsOf(gateway.url);
      const kept = join(folder, 'base');
      const copy = join(kept, 'pg', 'data');
      mkdirSync(join(kept, 'pg'), { recursive: true });
      run('pg_basebackup', ['-d', server.url, '-D', copy, '-X', 'stream', '-c', 'fast']);
      copyFolder(join(folder, 'data'), join(folder, 'based'));
      // Root made the copy; PostgreSQL refuses to run as root.
      if (process.getuid?.() === 0) run('chown', ['-R', `${UNPRIVILEGED_ID}`, join(kept, 'pg')]);
      expect(existsSync(join(copy, 'backup_label'))).toBe(true);
      const copied = await startServer(kept);
      stops.push(() => copied.stop());
      await expectRestored(join(folder, 'based'), copied.url, before);
    }, 180_000);
  },
);
