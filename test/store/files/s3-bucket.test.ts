// S3 by the fake: the common rules, and what happens while it is away.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { S3Bucket } from '../../../src/store/files/s3-bucket.ts';
import { S3Signer } from '../../../src/store/files/s3-signer.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { type FakeS3, startFakeS3 } from '../../fakes/s3/fake-s3.ts';
import { SimulatedClock } from '../../fakes/simulated-clock.ts';
import { codeFrom } from './file-store-contract.ts';
import { followsS3Rules } from './s3-rules.ts';

let s3: FakeS3;
const folder = mkdtempSync(join(tmpdir(), 'patchbay-bucket-'));
beforeAll(async () => {
  s3 = await startFakeS3();
});
afterAll(async () => {
  await s3.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('the fake of S3', () => {
  followsS3Rules(() => s3.settings);
});

describe('S3 with a fault', () => {
  let bucket: S3Bucket;
  let lines: ReturnType<typeof quietLog>;
  beforeEach(() => {
    s3.fault = undefined;
    lines = quietLog();
    bucket = bucketBy(systemClock);
  });
  const bucketBy = (clock: Clock): S3Bucket =>
    new S3Bucket(s3.settings, { clock, random: systemRandom, log: lines.log });

  it.each([
    ['500', { status: 500, code: 'InternalError' }],
    ['503', { status: 503, code: 'SlowDown' }],
    ['429', { status: 429, code: 'TooManyRequests' }],
    ['a broken connection', 'broken'],
  ] as const)('is asked three times after %s', async (_what, fault) => {
    s3.fault = fault;
    s3.requests.length = 0;
    expect(await codeFrom(bucket.stat('a'))).toBe('FILES_UNAVAILABLE');
    expect(s3.requests).toHaveLength(3);
    await bucket.close();
  });

  it('is given up after three times without an answer', async () => {
    s3.fault = 'silent';
    const clock = new SimulatedClock();
    const silent = bucketBy(clock);
    expect(await codeFrom(silent.stat('a'))).toBe('FILES_UNAVAILABLE');
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(15_000);
    expect(clock.monotonicMs()).toBeLessThan(20_000);
    await silent.close();
  });

  it('is asked once after a refusal', async () => {
    s3.fault = { status: 403, code: 'AccessDenied' };
    s3.requests.length = 0;
    expect(await codeFrom(bucket.write('a', Buffer.from('x')))).toBe('FILES_UNAVAILABLE');
    expect(s3.requests).toHaveLength(1);
    await bucket.close();
  });

  it('does not prevent the start: its absence is no fault of the settings', async () => {
    s3.fault = 'broken';
    expect(await codeFrom(bucket.check())).toBe('FILES_UNAVAILABLE');
    s3.fault = { status: 403, code: 'RequestTimeTooSkewed' };
    expect(await codeFrom(bucket.check())).toBe('FILES_UNAVAILABLE');
    await bucket.close();
  });

  it('is one line in the log, and its return another', async () => {
    s3.fault = 'broken';
    for (let times = 0; times < 3; times++) await codeFrom(bucket.stat('a'));
    s3.fault = undefined;
    for (let times = 0; times < 3; times++) await bucket.stat('a');
    expect(lines.lines().map(({ msg }) => msg)).toEqual([
      'S3 cannot be used: files of calls wait on the disk',
      'S3 can be used again',
    ]);
    await bucket.close();
  });

  it('gives up downloads that nobody reads: others get their connections', async () => {
    const clock = new FakeClock(Date.now());
    const own = bucketBy(clock);
    await own.write('a/read.wav', Buffer.alloc(1_000_000));
    const unread = await Promise.all(Array.from({ length: 128 }, () => own.read('a/read.wav')));
    expect(await codeFrom(own.read('a/read.wav'))).toBe('QUEUE_FULL');
    clock.advance(60_000);
    expect(unread.some(({ destroyed }) => destroyed)).toBe(false);
    clock.advance(62_500); // A million bytes, 16 in a millisecond.
    await Promise.allSettled(unread.map((stream) => finished(stream)));
    expect(unread[0]?.errored).toMatchObject({ code: 'TIMED_OUT' });
    expect((await buffer(await own.read('a/read.wav'))).length).toBe(1_000_000);
    await own.close();
  });

  it('leaves no parts of a file that could not be stored', async () => {
    const path = join(folder, 'long.wav');
    writeFileSync(path, Buffer.alloc(20_000_000));
    const storing = codeFrom(bucket.writeFile('a/long.wav', path));
    while (s3.uploads.size === 0) await new Promise((resolve) => setImmediate(resolve));
    for (const upload of s3.uploads.values()) upload.key = 'gone';
    expect(await storing).toBe('FILE_NOT_FOUND');
    expect(s3.objects.has('a/long.wav')).toBe(false);
    await bucket.close();
  });
});

describe('the address of an object', () => {
  it('has the bucket in the host name where S3 wants it there', async () => {
    const settings = { ...s3.settings, endpoint: 'https://s3.example.com', isPathStyle: false };
    const signer = new S3Signer(settings, Date);
    const { url } = await signer.sign({ method: 'GET', key: 'a/1 ü.txt' });
    expect(url).toBe('https://files-of-calls.s3.example.com/a/1%20%C3%BC.txt');
    const { url: root } = await signer.sign({ method: 'GET', key: '' });
    expect(root).toBe('https://files-of-calls.s3.example.com/');
  });
});

describe('an answer without an end', () => {
  it('is given up, and does not fill the memory', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200);
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        if (!response.destroyed) response.once('drain', write);
      };
      write();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const endpoint = `http://127.0.0.1:${port}`;
    const means = { clock: systemClock, random: systemRandom, log: quietLog().log };
    const bucket = new S3Bucket({ ...s3.settings, endpoint }, means);
    expect(await codeFrom(bucket.check())).toBe('FILES_UNAVAILABLE');
    await bucket.close();
    server.closeAllConnections();
    server.close();
  });
});
