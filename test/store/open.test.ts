// The store as a whole: opening, closing, presence of nodes, upkeep, rotation of keys.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/std/clock.ts';
import { systemRandom } from '../../src/std/random.ts';
import { openDatabase } from '../../src/store/connections.ts';
import { NodePresence } from '../../src/store/nodes.ts';
import { nodeName, openStore } from '../../src/store/open.ts';
import { Upkeep } from '../../src/store/upkeep.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { engines, startDatabase, TEST_CACHE } from './databases.ts';
import { steeredTime, type TestStore, withStore } from './engines.ts';

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
    await first.close();
    expect(await first.alive()).toBe(false);
    expect(statSync(join(folder, 'data')).mode & 0o077).toBe(0);

    const second = await open(`${NEW_KEY},${OLD_KEY}`);
    expect(await second.accounts.ensureFirst()).toBeUndefined();
    expect(await second.accounts.authenticate(made?.apiKey ?? '')).toEqual(principal);
    expect(await second.resealSecrets()).toBe(5);
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
    await third.close();

    const fourth = await open(OLD_KEY);
    await expect(fourth.telephony.getConfiguration(organizationId, id)).rejects.toMatchObject({
      code: 'SECRET_KEY_MISSING',
    });
    await fourth.close();
  }, 30_000);

  it('is shared with other processes of its gateway, which wait while it starts again', async () => {
    const first = await open(OLD_KEY);
    const made = await first.accounts.ensureFirst();
    const shared = await open(OLD_KEY, { isShared: true, node: `${first.node}#2` });
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

/** Of the process that serves the database in `folder`. */
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

function connections(at: TestStore): ReturnType<typeof openDatabase> {
  const ready = (): Promise<void> => Promise.resolve();
  return openDatabase(at.target(), { ready, clock: systemClock, log: at.log });
}

describe.each(engines())('nodes on %s', (engine) => {
  const at = withStore(engine);

  it('say every fifteen seconds that they live, and goodbye', async () => {
    const clock = new FakeClock();
    const { log } = quietLog();
    const db = connections(at);
    const presence = new NodePresence(
      { db, clock, time: steeredTime(() => clock), node: 'n1' },
      log,
    );
    const seen = async (): Promise<unknown> =>
      (await at.sql("select seen_at from nodes where name = 'n1'"))[0]?.['seen_at'];
    await presence.enter(false);
    expect(await seen()).toEqual(new Date(clock.now()));
    clock.advance(15_000);
    await expect.poll(seen, POLL).toEqual(new Date(clock.now()));
    await expect.poll(() => clock.timers, POLL).toBe(1);
    await presence.leave();
    expect(await seen()).toBeUndefined();
    expect(clock.timers).toBe(0);
    await db.destroy();
  });

  it('are all dead but one where no other process can be', async () => {
    await at.sql("insert into nodes values ('ghost', now(), now())");
    const names = async (): Promise<unknown[]> =>
      (await at.sql('select name from nodes')).map(({ name }) => name);
    const db = connections(at);
    const clock = new FakeClock();
    const context = { db, clock, time: steeredTime(() => clock), node: at.store.node };
    await new NodePresence(context, quietLog().log).enter(true);
    expect(await names()).toEqual([at.store.node]);
    await db.destroy();
  });
});

describe('upkeep of the embedded engine', () => {
  const at = withStore();

  it('makes a checkpoint for much log and vacuums what changed most, one step at a time', async () => {
    const upkeep = new Upkeep(at.target(), { clock: new FakeClock(), log: at.log });
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
    const upkeep = new Upkeep(at.target(), { clock, log: at.log });
    upkeep.start();
    clock.advance(60_000);
    await expect.poll(() => clock.timers, POLL).toBe(1);
    await upkeep.stop();
    expect(clock.timers).toBe(0);
  });
});

describe.runIf(engines().includes('server'))('a server that goes away', () => {
  it('is STORE_UNAVAILABLE and not alive', async () => {
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
