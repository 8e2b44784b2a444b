// Two gateways on one PostgreSQL server, each a process of its own: whatever the second is called and whatever
// its clock says, the calls of the first go on.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { ApiClient } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { OWN_NUMBER } from '../demo/scenario.ts';
import { setUp } from '../demo/two-calls.ts';
import { freePort } from '../fakes/free-port.ts';
import { type FakeTwilio, startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';
import { ACCOUNT_SID, AUTH_TOKEN } from '../fakes/twilio/row.ts';
import { engines, startServer, type TestServer } from '../store/databases.ts';
import { onDatabase } from './database-gateway.ts';
import { PlacedCalls } from './placed-calls.ts';

const CALLS = 20;
const POLL = { timeout: 30_000, interval: 100 };
/** A process looks for the runs of dead ones every half minute. */
const LOOK_MS = 30_000;
/** Its socket answers or refuses: no beat is waited for. */
const AT_ONCE_MS_MAX = 1_000;
/** Two beats, and the last look on a busy machine. */
const HEIR_MS_MAX = 7_000;
const SKEW_MS = 90_000;

const takeover = z.object({
  msg: z.literal('the name of a dead process is taken over'),
  waitedMs: z.number(),
});

/** How long a process waited before it took its name, by its log. */
function waited(logFile: string): number | undefined {
  const lines = readFileSync(logFile, 'utf8').split('\n');
  const found = lines.flatMap((line) => {
    const parsed = takeover.safeParse(line.startsWith('{') ? JSON.parse(line) : undefined);
    return parsed.success ? [parsed.data.waitedMs] : [];
  });
  return found.at(-1);
}

// 0: one process; else a supervisor with processes of its own.
describe.runIf(engines().includes('server')).each([0, 2])('beside a gateway of %i workers', (n) => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-names-'));
  const started: Gateway[] = [];
  let server: TestServer;
  let database: Client;
  let first: Gateway;
  let twilio: FakeTwilio;
  let calls: PlacedCalls;

  const options = (name: string, env: Record<string, string> = {}) =>
    onDatabase({
      databaseUrl: server.url,
      folder,
      name,
      env: { PATCHBAY_WORKERS: String(n), ...env },
    });
  let firstOptions: Awaited<ReturnType<typeof options>>;

  beforeAll(async () => {
    server = await startServer();
    firstOptions = await options('first');
    first = await Gateway.start(firstOptions);
    twilio = await startFakeTwilio({
      publicWebhookBase: first.url,
      accountSid: ACCOUNT_SID,
      authToken: AUTH_TOKEN,
      numbers: [OWN_NUMBER],
    });
    const api = new ApiClient(first.url, await first.firstKey());
    const { receiving } = await setUp(api, twilio.baseUrl);
    await api.configureWorkflow(receiving.id, {
      max_call_duration: 1_200,
      max_user_idle_timeout: 600,
    });
    database = new Client({ connectionString: server.url });
    await database.connect();
    calls = new PlacedCalls({ twilio, database });
  }, 120_000);

  afterAll(async () => {
    await first?.kill();
    await twilio?.close();
    await database?.end();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function leave(): Promise<void> {
    await Promise.all(started.splice(0).map((each) => each.kill()));
    calls.hangUp();
  }

  async function nameOfFirst(): Promise<string> {
    const { rows } = await database.query<{ name: string }>(
      `select name from nodes where name like '%/first'`,
    );
    return String(rows[0]?.name);
  }

  async function rowsOf(name: string): Promise<{ epoch: string; seen_at: Date }[]> {
    return (await database.query('select epoch, seen_at from nodes where name = $1', [name])).rows;
  }

  async function expectAllLive(): Promise<void> {
    expect(await calls.runs()).toEqual({ running: CALLS });
    expect(calls.open).toHaveLength(CALLS);
    const heardMs = calls.all.map(({ mediaMs }) => mediaMs);
    await expect
      .poll(() => calls.all.every(({ mediaMs }, index) => mediaMs > (heardMs[index] ?? 0)), POLL)
      .toBe(true);
  }

  /** The error of a gateway that does not start. */
  async function refusal(of: Awaited<ReturnType<typeof options>>): Promise<string> {
    const gateway = await Gateway.start(of).catch(() => undefined);
    if (gateway !== undefined) started.push(gateway);
    expect(gateway).toBeUndefined();
    return readFileSync(of.logFile, 'utf8');
  }

  describe('whose calls go on', () => {
    let aheadSinceMs = 0;

    beforeAll(async () => {
      await calls.place(CALLS);
      const preload = pathToFileURL('test/e2e/skewed-clock.mjs').href;
      const skewed = { NODE_OPTIONS: `--import ${preload}`, SKEW_MS: String(SKEW_MS) };
      started.push(await Gateway.start(await options('ahead', skewed)));
      aheadSinceMs = performance.now();
    }, 180_000);
    afterAll(leave);

    it('one whose clock is 90 s ahead closes nothing at its start', expectAllLive, 60_000);

    it('one with its name and its data folder is refused', async () => {
      const logFile = join(folder, 'second.log');
      const said = await refusal({ ...firstOptions, logFile, port: await freePort() });
      expect(said).toContain('NODE_NAME_TAKEN: ');
      expect(said).toContain('its process holds the data folder');
      await expectAllLive();
    }, 60_000);

    it('one with its name on another machine is refused when the first has beaten again', async () => {
      const name = await nameOfFirst();
      const said = await refusal(await options('elsewhere', { PATCHBAY_NODE: name }));
      expect(said).toContain('NODE_NAME_TAKEN: ');
      expect(said).toContain('it reports to the database');
      await expectAllLive();
    }, 60_000);

    // With several workers the looks are the same.
    it.runIf(n === 0)(
      'one whose clock is 90 s ahead closes nothing when it checks for dead nodes',
      async () => {
        const leftMs = aheadSinceMs + LOOK_MS + 3_000 - performance.now();
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, leftMs)));
        await expectAllLive();
      },
      120_000,
    );
  });

  describe('that is suspended, dies or is replaced', () => {
    beforeEach(() => calls.place(CALLS), 60_000);
    afterEach(leave);

    it.runIf(n > 1)(
      'one with its name is refused while its first process is suspended',
      async () => {
        const name = await nameOfFirst();
        const pid = first.pid ?? 0;
        process.kill(pid, 'SIGSTOP');
        const said = await refusal(await options('third', { PATCHBAY_NODE: name }));
        process.kill(pid, 'SIGCONT');
        expect(said).toContain('NODE_NAME_TAKEN: ');
        await expectAllLive();
      },
      60_000,
    );

    it('it is not refused after a kill, starts without a wait, and closes the runs that it left', async () => {
      await first.kill();
      first = await Gateway.start(firstOptions);
      expect(waited(firstOptions.logFile)).toBeLessThan(AT_ONCE_MS_MAX);
      expect(await calls.runs()).toEqual({ unexpected_error: CALLS });
      await expect.poll(() => calls.open, POLL).toEqual([]);
    }, 60_000);

    it.runIf(n === 0)(
      'it ends when it was replaced while it was suspended, and logs it',
      async () => {
        const name = await nameOfFirst();
        const pid = first.pid ?? 0;
        process.kill(pid, 'SIGSTOP');
        const heir = await options('substitute', { PATCHBAY_NODE: name });
        started.push(await Gateway.start(heir));
        const [before] = await rowsOf(name);
        process.kill(pid, 'SIGCONT');
        expect(await first.exited).toBe(1);
        expect(readFileSync(firstOptions.logFile, 'utf8')).toContain('NODE_REPLACED: ');
        await vi.waitFor(async () => {
          const [after] = await rowsOf(name);
          expect(after?.epoch).toBe(before?.epoch);
          expect(after?.seen_at).not.toEqual(before?.seen_at);
        }, POLL);
        expect(await calls.runs()).toEqual({ unexpected_error: CALLS });
        await Promise.all(started.splice(0).map((each) => each.stop()));
        first = await Gateway.start(firstOptions);
      },
      60_000,
    );

    it('one with its name on another machine takes over when it is dead, after two beats', async () => {
      await first.kill();
      const elsewhere = await options('heir', { PATCHBAY_NODE: await nameOfFirst() });
      first = await Gateway.start(elsewhere);
      expect(waited(elsewhere.logFile)).toBeLessThanOrEqual(HEIR_MS_MAX);
      expect(await calls.runs()).toEqual({ unexpected_error: CALLS });
      await expect.poll(() => calls.open, POLL).toEqual([]);
    }, 60_000);
  });
});
