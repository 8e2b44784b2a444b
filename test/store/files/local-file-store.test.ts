// Files on the local disk: keys, whole files, and files that grow.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { checkFileKey, LocalFileStore } from '../../../src/store/files/local-file-store.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { codeFrom, isFileStore, pieces } from './file-store-contract.ts';

let folder = '';
let clock = new FakeClock();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchbay-files-'));
  clock = new FakeClock();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const store = (): LocalFileStore => new LocalFileStore(folder, { clock, random: systemRandom });

describe('a folder', () => isFileStore(store));

describe('file keys', () => {
  it.each(['recordings/42.wav', 'recordings/42/user.wav', 'campaigns/7/a b (1) ä.csv', 'a'])(
    'takes %j',
    (key) => expect(() => checkFileKey(key)).not.toThrow(),
  );

  it.each(
    [
      ['', '/etc/passwd', '../x', 'a/../b', 'a/..', './a', 'a//b', 'a/', 'a\\b', 'a\0b', '.hidden'],
      ['a/.part', 'a\nb', 'x'.repeat(301), Array(9).fill('a').join('/'), 'C:/x', '%2e%2e/x', '~/x'],
    ].flat(),
  )('refuses %j', async (key) => {
    const files = store();
    for (const work of [
      files.create(key),
      files.write(key, Buffer.alloc(1)),
      files.receive(key, pieces('x'), 1),
      files.stat(key),
      files.read(key),
      files.readAll(key),
      files.remove(key),
    ]) {
      expect(await codeFrom(work)).toBe('FILE_KEY_INVALID');
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  it('never leaves the folder', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('.', '/', 'a', '\\', '\0', '~') }), (key) => {
        try {
          checkFileKey(key);
        } catch (error) {
          expect(codeOf(error)).toBe('FILE_KEY_INVALID');
          return;
        }
        expect(join('/data/files', key).startsWith('/data/files/')).toBe(true);
        expect(join('/data/files', key)).toBe(`/data/files/${key}`);
      }),
    );
  });
});

describe('whole files', () => {
  it('are of the gateway alone', async () => {
    await store().write('transcripts/1.txt', Buffer.from('hello world'));
    expect(statSync(join(folder, 'transcripts/1.txt')).mode & 0o777).toBe(0o600);
  });

  it('replaces a file at once and leaves nothing half written', async () => {
    const files = store();
    await files.write('a.txt', Buffer.from('one'));
    await Promise.all([
      files.write('a.txt', Buffer.from('two')),
      files.write('a.txt', Buffer.from('two')),
    ]);
    expect((await files.readAll('a.txt')).toString()).toBe('two');
    expect(readdirSync(folder).sort()).toEqual(['.unfinished', 'a.txt']);
    expect(unfinished()).toEqual([]);
  });

  it('continues a growing file at a size, with zeros before it', async () => {
    const files = store();
    const former = await files.create('recordings/1.wav');
    former.append(Buffer.from('abc'));
    await former.close();
    const next = await files.create('recordings/1.wav', 5);
    next.append(Buffer.from('xyz'));
    next.patch(0, Buffer.from('A'));
    expect(next.size).toBe(8);
    await next.close();
    expect((await files.readAll('recordings/1.wav')).toString()).toBe('Abc\0\0xyz');
    const missing = await files.create('recordings/2.wav', 2);
    missing.append(Buffer.from('x'));
    await missing.close(Buffer.from('H'));
    expect((await files.readAll('recordings/2.wav')).toString()).toBe('H\0x');
  });

  it('are not folders', async () => {
    const files = store();
    mkdirSync(join(folder, 'dir'));
    for (const key of ['none', 'none/none', 'dir']) {
      expect(await files.stat(key)).toBeUndefined();
      expect(await codeFrom(files.readAll(key))).toBe('FILE_NOT_FOUND');
    }
  });
});

/** What is on its way in. */
const unfinished = (): string[] => readdirSync(join(folder, '.unfinished'));

describe('files that are sent', () => {
  it('appear when they are whole', async () => {
    const files = store();
    async function* watched(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('one,');
      expect(await files.stat('a/b.csv')).toBeUndefined();
      yield Buffer.from('two');
    }
    await files.receive('a/b.csv', watched(), 7);
    expect((await files.readAll('a/b.csv')).toString()).toBe('one,two');
    expect(unfinished()).toEqual([]);
    expect(statSync(join(folder, 'a/b.csv')).mode & 0o777).toBe(0o600);
  });

  it('leave nothing if they are longer than announced or break off', async () => {
    const files = store();
    expect(await codeFrom(files.receive('a.csv', pieces('12345', '67'), 6))).toBe('FILE_OVERSIZED');
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half');
      throw new Error('the line is dead');
    }
    expect(await codeFrom(files.receive('new.csv', broken(), 100))).toMatch(/the line is dead/);
    expect(await codeFrom(files.stage(broken(), 100, async () => undefined))).toMatch(/dead/);
    for (const key of ['a.csv', 'new.csv']) expect(await files.stat(key)).toBeUndefined();
    expect(unfinished()).toEqual([]);
  });

  it.each([
    ['sent', "await files.receive('a/b.csv', half(), 100)"],
    ['written', "await files.write('a/b.csv', Buffer.from('whole'))"],
  ])(
    'leave nothing under their key when the process is killed while they are %s, and nothing at all an hour later',
    async (_how, call) => {
      const script = `
      import promises from 'node:fs/promises';
      import { syncBuiltinESMExports } from 'node:module';
      const die = () => process.kill(process.pid, 'SIGKILL');
      promises.rename = die;
      syncBuiltinESMExports();
      const { LocalFileStore } = await import('./src/store/files/local-file-store.ts');
      const { systemClock } = await import('./src/std/clock.ts');
      const { systemRandom } = await import('./src/std/random.ts');
      const files = new LocalFileStore(process.argv[1], { clock: systemClock, random: systemRandom });
      async function* half() {
        yield Buffer.from('half');
        die();
        yield Buffer.from('never');
      }
      ${call};`;
      const options = ['--import', 'tsx', '--input-type=module', '--eval', script, folder];
      const killed = spawnSync(process.execPath, options, { cwd: process.cwd() });
      expect(killed.signal).toBe('SIGKILL');
      const files = store();
      expect(await files.stat('a/b.csv')).toBeUndefined();
      expect(unfinished()).toHaveLength(1);
      const { mtimeMs } = statSync(join(folder, '.unfinished', unfinished()[0] ?? ''));
      clock.advance(mtimeMs - clock.now() + 3_600_000);
      await files.removeUnfinished();
      expect(unfinished()).toHaveLength(1);
      clock.advance(1_000);
      await files.removeUnfinished();
      expect(unfinished()).toEqual([]);
    },
  );

  it('may not have been sent ever', async () => {
    await expect(store().removeUnfinished()).resolves.toBeUndefined();
  });
});

describe('a file that grows', () => {
  it('is a real file', async () => {
    const files = store();
    const writer = await files.create('recordings/42.wav');
    writer.append(Buffer.from('RIFF----WAVE'));
    writer.patch(4, Buffer.from('size'));
    await writer.close();
    expect((await files.readAll('recordings/42.wav')).toString()).toBe('RIFFsizeWAVE');
  });
});

/** Mounting needs root; an injected disk (file-writer.test) covers the rest. */
const mayMount = (): boolean => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const probe = mkdtempSync(join(tmpdir(), 'patchbay-mount-'));
  try {
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', probe], {
      stdio: 'ignore',
    });
    execFileSync('/bin/umount', [probe]);
    return true;
  } catch {
    process.stderr.write('No tmpfs can be mounted: the full disk is only simulated.\n');
    return false;
  } finally {
    rmSync(probe, { recursive: true, force: true });
  }
};

describe.runIf(mayMount())('a disk that is really full', () => {
  beforeEach(() => {
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder]);
  });
  afterEach(() => execFileSync('/bin/umount', [folder]));

  it('ends a growing file with STORE_FULL and keeps what fitted', async () => {
    const writer = await store().create('recordings/1.wav');
    writer.append(Buffer.alloc(1_000_000, 7));
    expect(await codeFrom(writer.close())).toBe('STORE_FULL');
    expect((await store().stat('recordings/1.wav'))?.size).toBeGreaterThan(100_000);
  });

  it('refuses a whole file with STORE_FULL and leaves the older one', async () => {
    const files = store();
    await files.write('a', Buffer.from('old'));
    expect(await codeFrom(files.write('a', Buffer.alloc(1_000_000)))).toBe('STORE_FULL');
    expect((await files.readAll('a')).toString()).toBe('old');
    expect(readdirSync(folder).sort()).toEqual(['.unfinished', 'a']);
    expect(unfinished()).toEqual([]);
  });
});
