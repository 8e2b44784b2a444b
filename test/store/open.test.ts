// The store as a whole: opening, closing, upkeep, rotation of keys.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Clock, systemClock } from '../../src/std/clock.ts';
import { systemRandom } from '../../src/std/random.ts';
import { DatabaseMaintenance } from '../../src/store/db/maintenance.ts';
import { openStore } from '../../src/store/open.ts';
import { nodeName } from '../../src/store/open-node.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { engines, startDatabase, TEST_CACHE } from './databases.ts';
import { withStore } from './engines.ts';
import { ground, openRun } from './runs/completed-runs.ts';

const OLD_KEY = '11'.repeat(32);
const NEW_KEY = '22'.repeat(32);
/** For a machine that is busy with other things. */
const POLL = { timeout: 10_000 };

const withHeader = {
  name: 'Look up',
  description: null,
  category: 'http_api',
  icon: null,
  iconColor: null,
  definition: { type: 'http_api', config: { headers: { 'X-Key': 'of the CRM' } } },
} as const;

describe('the embedded store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-open-'));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const open = (keys: string | undefined, more: Partial<Parameters<typeof openStore>[0]> = {}) =>
    openStore({
      ...more,
      dataFolder: join(folder, 'data'),
      databaseUrl: undefined,
      secrets: { keys },
      callLimit: 10,
      clock: systemClock,
      random: systemRandom,
      log: quietLog().log,
      cacheFolder: TEST_CACHE,
    });

  it('is there again after a close, secrets rotated, runs of the former process open', async () => {
    const first = await open(OLD_KEY);
    expect(await first.alive()).toBe(true);
    const made = await first.accounts.ensureFirst();
    const principal = await first.accounts.authenticate(made?.apiKey ?? '');
    const organizationId = principal?.organizationId ?? '';
    const { id } = await first.telephony.createConfiguration(organizationId, {
      name: 'Main',
      provider: 'twilio',
      isDefaultOutbound: true,
      credentials: { auth_token: 'secret', account_sid: 'AC1' },
      accountId: 'AC1',
      secretFields: ['auth_token'],
    });
    const owner = { organizationId, userId: principal?.userId ?? '' };
    const { uuid } = await first.credentials.create(owner, {
      name: 'CRM',
      description: null,
      type: 'bearer_token',
      data: { token: 'for the CRM' },
    });
    const tool = await first.tools.create(owner, withHeader);
    const [replaced] = await first.signingSecrets.inForce(organizationId);
    const { secret } = await first.signingSecrets.rotate(organizationId, 86_400_000);
    const qa = { id: 'q', type: 'qa', data: { name: 'Q', qa_api_key: 'sk-1' } };
    const settings = { voicemail_detection: { api_key: 'sk-2' } };
    const { workflow } = await first.workflows.create(
      { organizationId, userId: principal?.userId ?? '' },
      {
        name: 'Desk',
        triggerPaths: [],
        definition: { nodes: [qa], edges: [] },
        configurations: settings,
        templateContextVariables: {},
      },
    );
    const models = { version: 2, byok: { pipeline: { llm: { api_key: 'sk-3' } } } };
    await first.modelConfigurations.save({ organizationId, userId: null }, models);
    await first.close();
    expect(await first.alive()).toBe(false);
    expect(statSync(join(folder, 'data')).mode & 0o077).toBe(0);
    expect(openToOthers(join(folder, 'data'))).toEqual([]);

    const second = await open(`${NEW_KEY},${OLD_KEY}`);
    expect(await second.accounts.ensureFirst()).toBeUndefined();
    expect(await second.accounts.authenticate(made?.apiKey ?? '')).toEqual(principal);
    expect(await second.resealSecrets()).toBe(6);
    const stored = await second.telephony.getConfiguration(organizationId, id);
    expect(stored?.credentials).toEqual({ auth_token: 'secret', account_sid: 'AC1' });
    expect(await second.resealSecrets()).toBe(0);
    await second.close();

    const third = await open(NEW_KEY);
    const read = await third.telephony.getConfiguration(organizationId, id);
    expect(read?.credentials).toEqual({ auth_token: 'secret', account_sid: 'AC1' });
    expect(await third.workflows.published(workflow.id)).toMatchObject({
      definition: { nodes: [qa] },
      configurations: settings,
    });
    expect(await third.signingSecrets.inForce(organizationId)).toEqual([secret, replaced]);
    expect((await third.credentials.open(organizationId, uuid))?.data).toEqual({
      token: 'for the CRM',
    });
    expect(await third.tools.get(organizationId, tool.uuid)).toEqual(tool);
    expect(await third.modelConfigurations.forCalls(organizationId)).toEqual({
      organization: models,
    });
    await third.close();

    const fourth = await open(OLD_KEY);
    await expect(fourth.telephony.getConfiguration(organizationId, id)).rejects.toMatchObject({
      code: 'SECRET_KEY_MISSING',
    });
    await expect(fourth.modelConfigurations.forCalls(organizationId)).rejects.toMatchObject({
      code: 'SECRET_KEY_MISSING',
    });
    await fourth.close();
  }, 90_000); // It may be the first to make a database with the newest migrations.

  it('is shared with other processes of its gateway, which wait while it starts again', async () => {
    const first = await open(OLD_KEY);
    const made = await first.accounts.ensureFirst();
    const gateway = { node: first.node, epoch: first.epoch };
    const shared = await open(OLD_KEY, { isShared: true, node: `${first.node}#2`, gateway });
    expect(shared.node).toBe(`${nodeName(join(folder, 'data'))}#2`);
    const known = await shared.accounts.authenticate(made?.apiKey ?? '');
    expect(known).toEqual(await first.accounts.authenticate(made?.apiKey ?? ''));
    process.kill(enginePid(join(folder, 'data')), 'SIGKILL');
    // Connections that have just been lost may be found out by use; the next ones wait, each for some
    // seconds: a slow machine takes longer than that to start an engine.
    const again = async () => expect(await shared.accounts.ensureFirst()).toBeUndefined();
    await vi.waitFor(again, { interval: 50, timeout: 45_000 });
    await shared.close();
    expect(await first.alive()).toBe(true);
    await first.close();
  }, 60_000);
});

/** Files in the folder on which other users have rights. */
function openToOthers(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return paths.filter((path) => (statSync(join(folder, path)).mode & 0o077) !== 0);
}

/** Id of the process that serves the database in `folder`. */
function enginePid(folder: string): number {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found = processes.find((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return words.includes('serve') && words.includes(folder);
    } catch {
      return false; // It has ended meanwhile.
    }
  });
  if (found === undefined) throw new Error('no process serves the database');
  return Number(found);
}

/** Fifty times as fast: two beats take a tenth of a second. */
const hurried: Clock = {
  ...systemClock,
  monotonicMs: () => systemClock.monotonicMs() * 50,
  after: (delayMs, run) => systemClock.after(delayMs / 50, run),
};

describe.each(engines())('the first start on %s after a version that knew no epochs', (engine) => {
  it('finds the runs that it left open, those of its workers too', async () => {
    const database = await startDatabase(engine);
    const clock = engine === 'server' ? hurried : systemClock;
    const options = { ...database.options(quietLog().log), clock };
    const former = await openStore(options);
    const made = await former.accounts.ensureFirst();
    const owner = await former.accounts.authenticate(made?.apiKey ?? '');
    if (owner === undefined) throw new Error('the store is not empty');
    const on = await ground({ store: former, owner });
    const left = [
      await openRun({ store: former }, on),
      await openRun({ store: former }, on),
      await openRun({ store: former }, on),
    ];
    const client = await database.connect();
    const workers = ['', '#1', '#2'].map((worker) => `${former.node}${worker}`);
    for (const [index, name] of workers.entries()) {
      await client.query('update runs set owner_node = $1, owner_epoch = null where id = $2', [
        ...[name, left[index]?.id],
      ]);
    }
    await client.end();
    await former.close();
    if (engine === 'server') {
      // As it would be had it been killed; the embedded engine has ended with it.
      const again = await database.connect();
      await again.query('insert into nodes select unnest($1::text[]), now(), now()', [workers]);
      await again.end();
    }
    const first = await openStore(options);
    expect((await first.runs.takeOrphaned()).map(({ id }) => id)).toEqual(left.map(({ id }) => id));
    await first.close();
    await database.stop();
  }, 40_000);
});

describe('upkeep of the embedded engine', () => {
  const at = withStore();

  it('makes a checkpoint for much log and vacuums what changed most, one step at a time', async () => {
    const upkeep = new DatabaseMaintenance(at.target(), { clock: new FakeClock(), log: at.log });
    const steps: string[] = [];
    while (steps.at(-1) !== 'nothing' && steps.length < 20) steps.push(await upkeep.step());
    await at.sql(
      "select pg_logical_emit_message(false, 'x', repeat('x', 1000000)) from generate_series(1, 40)",
    );
    expect(await upkeep.step()).toBe('checkpoint');
    await at.sql(
      "insert into organizations (name, created_at) select 'x', now() from generate_series(1, 1000)",
    );
    expect(await upkeep.step()).toBe('vacuum');
    expect(await upkeep.step()).toBe('nothing');
  });

  it('comes round every minute until it is stopped', async () => {
    const clock = new FakeClock();
    const upkeep = new DatabaseMaintenance(at.target(), { clock, log: at.log });
    upkeep.start();
    clock.advance(60_000);
    await expect.poll(() => clock.timers, POLL).toBe(1);
    await upkeep.stop();
    expect(clock.timers).toBe(0);
  });
});

describe.runIf(engines().includes('server'))('a server that goes away', () => {
  it('is STORE_UNAVAILABLE and not ready', async () => {
    if (process.env['TEST_DATABASE_URL'] !== undefined) return; // Not ours to stop.
    const database = await startDatabase('server');
    const store = await openStore({ ...database.options(quietLog().log), clock: systemClock });
    expect(await store.alive()).toBe(true);
    await database.stop();
    await expect(store.runs.find('1')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(await store.alive()).toBe(false);
    await store.close();
    rmSync(database.dataFolder, { recursive: true, force: true });
  }, 20_000);
});
