// `patchbay keys`, on a data folder whose gateway does not run, on one whose database runs, and on a server.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runCli } from '../../src/cli/cli.ts';
import { systemClock as clock } from '../../src/std/clock.ts';
import { systemRandom as random } from '../../src/std/random.ts';
import { openStore, type StoreHandle } from '../../src/store/open.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { TEST_CACHE } from '../store/databases.ts';

const BOOTSTRAP = 'a-key-of-forty-characters-for-the-first-1';
const KEY = /^pbk_[\w-]{43}\n$/;
const folder = mkdtempSync(join(tmpdir(), 'patchbay-keys-'));
const dataFolder = join(folder, 'data');
let store: StoreHandle | undefined;

const open = () =>
  openStore({
    dataFolder,
    databaseUrl: undefined,
    secrets: { keys: undefined },
    callLimit: 10,
    clock,
    random,
    log: quietLog().log,
    cacheFolder: TEST_CACHE,
  });

beforeAll(async () => {
  store = await open();
  await store.accounts.ensureFirst(BOOTSTRAP);
}, 120_000);

afterAll(async () => {
  await store?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function keys(...args: string[]) {
  const shown = { out: '', error: '' };
  const code = await runCli(['keys', ...args], {
    env: { PATCHBAY_DATA: dataFolder },
    out: (text) => {
      shown.out += text;
    },
    error: (text) => {
      shown.error += text;
    },
  });
  return { code, ...shown };
}

describe('the first key', () => {
  it('is the one that was given', async () => {
    expect(await store?.accounts.authenticate(BOOTSTRAP)).toMatchObject({ organizationId: '1' });
  });

  it('is kept by later starts, whatever they are given', async () => {
    expect(await store?.accounts.ensureFirst(`${BOOTSTRAP}-another`)).toBeUndefined();
    expect(await store?.accounts.authenticate(`${BOOTSTRAP}-another`)).toBeUndefined();
    expect(await store?.accounts.authenticate(BOOTSTRAP)).toBeDefined();
  });
});

describe('patchbay keys', () => {
  it('makes a key beside a running gateway, lists it without its text, and archives it', async () => {
    const made = await keys('create', '--name', 'Back again');
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(KEY) });
    const key = made.out.trim();
    expect(await store?.accounts.authenticate(key)).toMatchObject({ organizationId: '1' });
    const { out } = await keys('list');
    expect(out).toContain('Back again');
    expect(out).toContain(`${key.slice(0, 8)}...`);
    expect(out).not.toContain(key);
    expect(out).not.toContain(BOOTSTRAP);
    const id = /^(\d+).*Back again$/m.exec(out)?.[1] ?? '';
    expect(await keys('archive', '--id', id)).toMatchObject({ code: 0 });
    await vi.waitFor(async () => {
      expect(await store?.accounts.authenticate(key)).toBeUndefined();
    });
    expect((await keys('list')).out).toMatch(/archived +Back again$/m);
  }, 60_000);

  it.each([
    [['list', '--data', '/nowhere'], 1, 'There is no gateway data in the folder /nowhere'],
    [['create'], 2, 'say what the key is for: --name NAME'],
    [['create', '--name', 'x', '--organization', '99'], 2, 'there is no such organization'],
    [['create', '--name', 'x', '--organization', 'mine'], 2, '--organization is the number'],
    [['archive'], 2, 'say which key: --id ID (a number)'],
    [['archive', '--id', '99'], 2, 'there is no key 99'],
    [['revoke'], 2, 'say what: keys list, keys create or keys archive'],
  ])('%j ends with %d: %s', async (args, code, words) => {
    const shown = await keys(...args);
    expect(shown).toMatchObject({ code, error: expect.stringContaining(words) });
  });

  it('works while no gateway runs, and leaves the folder to the next one', async () => {
    await store?.close();
    store = undefined;
    const made = await keys('create', '--name', 'Alone');
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(KEY) });
    store = await open();
    expect(await store.accounts.authenticate(made.out.trim())).toBeDefined();
  }, 120_000);
});
