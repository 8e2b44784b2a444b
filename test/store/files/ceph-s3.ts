// A real S3 service: Ceph's radosgw from Debian's packages (radosgw ceph-mon ceph-osd ceph-common), on one machine and
// in memory, with a bucket. Its processes end with the tests. It starts in about 13 s.
// Source: Ceph Pacific, Manual Deployment.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { request } from 'undici';
import { systemClock } from '../../../src/std/clock.ts';
import type { S3Settings } from '../../../src/store/files/s3-settings.ts';
import { S3Signer } from '../../../src/store/files/s3-signer.ts';
import { freePort } from '../../fakes/free-port.ts';

const PROGRAMS = ['ceph', 'ceph-mon', 'ceph-osd', 'monmaptool', 'radosgw', 'radosgw-admin'];
const START_MS_MAX = 120_000;
const ACCESS_KEY = 'AKPATCHBAY';
const SECRET_KEY = 'secretsecretsecret';
const BUCKET = 'files-of-calls';
/**
 * Runs a program until the tests let go of its standard input, be it that they were killed. One that fails is started
 * again, at most five times: a ceph-osd now and then ends at its start with "wrong fsid".
 */
const UNTIL_STDIN_ENDS = `
  (for _ in 1 2 3 4 5 6; do
    "$@" & program=$!
    trap 'kill -KILL $program; exit' TERM
    wait $program && exit
  done) & runner=$!
  read -r _
  kill -TERM $runner
  wait $runner`;
const run = promisify(execFile);

export interface CephS3 {
  settings: S3Settings;
  /** Ends the S3 service; its files stay. */
  halt(): Promise<void>;
  /** Starts it again at the same address. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

/** Says why if it is not here. */
export function hasCeph(): boolean {
  const isHere = PROGRAMS.every((name) => existsSync(`/usr/bin/${name}`));
  if (!isHere) {
    process.stderr.write('No S3 service: install radosgw ceph-mon ceph-osd ceph-common.\n');
  }
  return isHere;
}

export async function startCephS3(): Promise<CephS3> {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-ceph-'));
  const [monitorPort, port] = [await freePort(), await freePort()];
  const file = join(folder, 'ceph.conf');
  const fsid = randomUUID();
  for (const name of ['mon', 'osd', 'rgw']) mkdirSync(join(folder, name));
  writeFileSync(file, configuration(folder, { fsid, monitorPort }));
  const processes: Started[] = [];
  const start = (name: string, ...more: string[]): Started => {
    const started = startProgram(name, ['-c', file, ...more, '-f']);
    processes.push(started);
    return started;
  };
  const tool = (name: string, ...more: string[]) =>
    run(name, ['-c', file, ...more], { timeout: START_MS_MAX });
  const monitors = join(folder, 'monmap');
  const address = `[v1:127.0.0.1:${monitorPort}]`;
  await run('monmaptool', ['--create', '--addv', 'a', address, '--fsid', fsid, monitors]);
  await tool('ceph-mon', '--mkfs', '-i', 'a', '--monmap', monitors);
  start('ceph-mon', '-i', 'a');
  // A disk whose id is not the one that the monitor knows never comes up.
  const disk = randomUUID();
  await knownToMonitor(() => tool('ceph', 'osd', 'new', disk));
  await tool('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', disk);
  start('ceph-osd', '-i', '0');
  const user = ['--uid=patchbay', '--display-name=patchbay'];
  const keys = [`--access-key=${ACCESS_KEY}`, `--secret-key=${SECRET_KEY}`];
  await tool('radosgw-admin', 'user', 'create', ...user, ...keys);
  const settings: S3Settings = {
    endpoint: `http://127.0.0.1:${port}`,
    bucket: BUCKET,
    region: 'us-east-1',
    accessKey: ACCESS_KEY,
    secretKey: SECRET_KEY,
    publicEndpoint: undefined,
    isPathStyle: true,
  };
  const frontend = `beast endpoint=127.0.0.1:${port}`;
  const service = (): Started => start('radosgw', '-n', 'client.rgw', '--rgw-frontends', frontend);
  let radosgw = service();
  await made(settings);
  return {
    settings,
    halt: () => radosgw.end(),
    resume: async () => {
      radosgw = service();
      await made(settings);
    },
    stop: async () => {
      await Promise.all(processes.map((each) => each.end()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A monitor that has just started refuses a command now and then (EPERM): it is asked again, for 20 s at most. */
async function knownToMonitor(ask: () => Promise<unknown>): Promise<void> {
  for (let times = 1; ; times++) {
    try {
      await ask();
      return;
    } catch (error) {
      if (times === 20) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}

interface Started {
  end(): Promise<void>;
}

function startProgram(name: string, options: string[]): Started {
  const child: ChildProcess = spawn('/bin/sh', ['-c', UNTIL_STDIN_ENDS, 'sh', name, ...options], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    end: () => {
      child.stdin?.end();
      return ended;
    },
  };
}

/** Waits for the service, and makes the bucket if it is not there. */
async function made(settings: S3Settings): Promise<void> {
  const signer = new S3Signer(settings, systemClock);
  const until = Date.now() + START_MS_MAX;
  while (Date.now() < until) {
    const { url, headers } = await signer.sign({ method: 'PUT', key: '' });
    const status = await request(url, { method: 'PUT', headers }).then(
      async ({ statusCode, body }) => {
        await body.dump();
        return statusCode;
      },
      () => 0,
    );
    if (status === 200 || status === 409) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('radosgw did not start');
}

function configuration(folder: string, of: { fsid: string; monitorPort: number }): string {
  return `[global]
fsid = ${of.fsid}
mon host = [v1:127.0.0.1:${of.monitorPort}]
mon initial members = a
auth cluster required = none
auth service required = none
auth client required = none
ms bind msgr2 = false
public addr = 127.0.0.1
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
mon allow pool size one = true
mon warn on pool no redundancy = false
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 1073741824
mon data = ${folder}/mon
osd data = ${folder}/osd
rgw data = ${folder}/rgw
run dir = ${folder}
admin socket =
log file = ${folder}/$name.log
pid file = ${folder}/$name.pid
mon osd full ratio = .99
rgw enable usage log = false
rgw dns name = localhost
`;
}
