// The sockets by which processes on one data folder know that another of them lives, or is dead for certain.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { EpochSocket } from '../../../src/store/db/epoch-socket.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

const NODE = 'gw-1';
const isLinux = process.platform === 'linux';

let root: string;
let folder: string;
const children: ChildProcess[] = [];
const sockets: EpochSocket[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'patchbay-epoch-'));
  folder = join(root, 'data');
  mkdirSync(folder);
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const socket of sockets.splice(0)) await socket.close();
  rmSync(root, { recursive: true, force: true });
});

async function open(epoch: string, node = NODE, at = folder): Promise<EpochSocket> {
  const socket = await EpochSocket.open(at, { node, epoch }, quietLog().log);
  sockets.push(socket);
  return socket;
}

/** A process of its own that has said that it lives. */
async function living(epoch: string): Promise<ChildProcess> {
  const source = pathToFileURL('src/store/db/epoch-socket.ts').href;
  const code = `
    const { EpochSocket } = await import(${JSON.stringify(source)});
    await EpochSocket.open(${JSON.stringify(folder)}, { node: '${NODE}', epoch: '${epoch}' }, console);
    process.stdout.write('lives');`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  if (child.stdout !== null) await once(child.stdout, 'data');
  return child;
}

async function killed(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

it('a process is present until it is killed, also while it is suspended', async () => {
  const child = await living('11');
  const other = await open('12');
  expect(await other.isAlive('11')).toBe(true);
  child.kill('SIGSTOP');
  expect(await other.isAlive('11')).toBe(true);
  await killed(child);
  expect(await other.isAlive('11')).toBe(isLinux ? false : undefined);
  expect(readdirSync(folder)).toHaveLength(2);
  other.forget('11');
  await other.close();
  expect(readdirSync(folder)).toEqual([]);
});

it('of a process that never was here, or ran under another name, nothing is known', async () => {
  const socket = await open('21');
  await open('22', 'gw-2');
  expect(await socket.isAlive('20')).toBeUndefined();
  expect(await socket.isAlive('22')).toBeUndefined();
});

it('what was copied with the folder proves nothing', async () => {
  await killed(await living('31'));
  const copy = join(root, 'copy');
  cpSync(folder, copy, { recursive: true, filter: (path) => path === folder });
  for (const name of readdirSync(folder)) renameSync(join(folder, name), join(copy, name));
  expect(readdirSync(copy)).toHaveLength(1);
  const socket = await open('32', NODE, copy);
  expect(await socket.isAlive('31')).toBeUndefined();
  socket.forget('31');
  expect(readdirSync(copy)).toHaveLength(1);
});

it('where no socket can be made, nothing is known and a line of the log says so', async () => {
  const deep = join(root, 'd'.repeat(100));
  mkdirSync(deep);
  const { log, lines } = quietLog();
  const socket = await EpochSocket.open(deep, { node: NODE, epoch: '41' }, log);
  expect(await socket.isAlive('40')).toBeUndefined();
  expect(lines()).toMatchObject([{ level: 'warn' }]);
  expect(readdirSync(deep)).toEqual([]);
  await socket.close();
});
