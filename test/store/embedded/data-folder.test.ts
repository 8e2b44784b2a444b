// The data folder at the start. A full and a read-only disk need a tmpfs, and so root; elsewhere they are skipped.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { prepareDataFolder } from '../../../src/store/embedded/data-folder.ts';
import { openStore } from '../../../src/store/open.ts';
import { readKeyFile } from '../../../src/store/secrets/secret-keys.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

const parent = mkdtempSync(join(tmpdir(), 'patchbay-folder-'));
const disk = mkdtempSync(join(tmpdir(), 'patchbay-disk-'));
let isMounted = false;

function mount(options: string): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', disk], { stdio: 'ignore' });
    isMounted = true;
  } catch {
    isMounted = false;
  }
  return isMounted;
}

afterEach(() => {
  if (isMounted) execFileSync('/bin/umount', [disk]);
  isMounted = false;
  rmSync(parent, { recursive: true, force: true });
});

const open = (dataFolder: string) =>
  openStore({
    dataFolder,
    databaseUrl: undefined,
    secrets: { keys: undefined },
    callLimit: 10,
    clock: systemClock,
    random: systemRandom,
    log: quietLog().log,
  });

describe('the data folder', () => {
  it('is made for its owner alone, and has nothing in it then', () => {
    const folder = join(parent, 'deep', 'data');
    prepareDataFolder(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(['/proc/patchbay', '/proc/patchbay/deep/data'])(
    'below /proc, where nothing can be made, is refused at once: %s',
    (folder) => {
      expect(() => prepareDataFolder(folder)).toThrow(
        `The data folder ${folder} cannot be written`,
      );
    },
  );

  it('with a database and without its key is refused, and nothing is written', async () => {
    const folder = join(parent, 'keyless');
    mkdirSync(join(folder, 'postgres'), { recursive: true });
    writeFileSync(join(folder, 'postgres', 'PG_VERSION'), '17');
    await expect(open(folder)).rejects.toMatchObject({
      code: 'SECRET_KEY_LOST',
      message: expect.stringMatching(/keyless has a database.*Put secret.key back from a backup/),
    });
    expect(readdirSync(folder)).toEqual(['postgres']);
  });

  it('refuses to be a file', () => {
    const file = join(parent, 'file');
    prepareDataFolder(parent);
    writeFileSync(file, '');
    expect(() => prepareDataFolder(file)).toThrow(`The data folder ${file} cannot be written`);
  });

  it('on a full disk says so, and what to do', async ({ skip }) => {
    if (!mount('size=64k')) return skip();
    writeFileSync(join(disk, 'filled'), Buffer.alloc(64 * 1_024));
    await expect(open(disk)).rejects.toMatchObject({
      code: 'DATA_FOLDER_FULL',
      message: `The disk of the data folder ${disk} is full. Free some space, or set PATCHBAY_DATA to a folder on another disk.`,
    });
    expect(readdirSync(disk)).toEqual(['filled']);
  });

  it('on a disk that the start itself fills says so too', async ({ skip }) => {
    if (!mount('size=64k')) return skip();
    mkdirSync(join(disk, 'postgres'));
    writeFileSync(join(disk, 'postgres', 'PG_VERSION'), '17'); // Of a database that has no more files.
    readKeyFile(join(disk, 'secret.key'), systemRandom);
    writeFileSync(join(disk, 'filled'), Buffer.alloc(48 * 1_024));
    const opening = open(disk);
    writeFileSync(join(disk, 'more'), Buffer.alloc(8 * 1_024)); // What the start writes, behind its first check.
    await expect(opening).rejects.toMatchObject({ code: 'DATA_FOLDER_FULL' });
  });

  it('on a read-only disk says so, and what to do', async ({ skip }) => {
    if (!mount('size=64k,ro')) return skip();
    await expect(open(disk)).rejects.toMatchObject({
      code: 'DATA_FOLDER_UNWRITABLE',
      message: `The data folder ${disk} cannot be written (EROFS). Mount its disk for writing and let the user ${userInfo().username} own it, or set PATCHBAY_DATA to another folder.`,
    });
  });
});
