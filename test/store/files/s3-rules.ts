// What the gateway expects of S3 and of its own client, for the fake and for a real service: refusals, links, files in
// parts. Each service has one empty bucket.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GatewayError } from '../../../src/errors/gateway-error.ts';
import { type Clock, systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { LocalFileStore } from '../../../src/store/files/local-file-store.ts';
import { S3Bucket } from '../../../src/store/files/s3-bucket.ts';
import { S3FileStore } from '../../../src/store/files/s3-file-store.ts';
import type { S3Settings } from '../../../src/store/files/s3-settings.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { codeFrom, isFileStore } from './file-store-contract.ts';

const CSV = { 'content-type': 'text/csv' };
const SAVED = { contentType: 'audio/wav', disposition: 'attachment; filename="a b.wav"' };

export function openBucket(settings: S3Settings, clock: Clock = systemClock): S3Bucket {
  return new S3Bucket(settings, { clock, random: systemRandom, log: quietLog().log });
}

/** Defines the tests. `settingsOf` is called once the service runs. */
export function followsS3Rules(settingsOf: () => S3Settings): void {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-s3-'));
  const buckets: S3Bucket[] = [];
  const bucketOf = (change: Partial<S3Settings> = {}, clock?: Clock): S3Bucket => {
    const { endpoint } = settingsOf();
    const settings = { ...settingsOf(), publicEndpoint: endpoint, ...change };
    buckets.push(openBucket(settings, clock));
    return buckets.at(-1) as S3Bucket;
  };
  let bucket: S3Bucket;
  beforeAll(() => {
    bucket = bucketOf();
  });
  afterAll(async () => {
    await Promise.all(buckets.map((each) => each.close()));
    rmSync(folder, { recursive: true, force: true });
  });

  describe('a file store over it', () => {
    isFileStore(() => {
      const spool = new LocalFileStore(join(folder, 'spool'), {
        clock: systemClock,
        random: systemRandom,
      });
      return new S3FileStore(spool, bucketOf());
    });
  });

  it('lets the gateway start with the right settings', async () => {
    await expect(bucket.check()).resolves.toBeUndefined();
  });

  it.each([
    ['secretKey', 'S3_SECRET_KEY', 'wrong'],
    ['accessKey', 'S3_ACCESS_KEY', 'AKNOBODY'],
    ['bucket', 'S3_BUCKET', 'no-such-bucket'],
  ])('refuses another %s, and the error names the setting', async (name, setting, value) => {
    const refused = await bucketOf({ [name]: value })
      .check()
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'S3_REFUSED' });
    expect((refused as GatewayError).message).toContain(setting);
    expect((refused as GatewayError).message).not.toContain(settingsOf().secretKey);
  });

  it('refuses files of a wrong secret', async () => {
    const wrong = bucketOf({ secretKey: 'wrong' });
    await bucket.write('a/secret.txt', Buffer.from('x'));
    const works = [
      wrong.write('a/b.txt', Buffer.from('x')),
      wrong.readAll('a/secret.txt'),
      wrong.stat('a/secret.txt'),
    ];
    const codes = await Promise.all(works.map(codeFrom));
    expect(codes).toEqual(['FILES_UNAVAILABLE', 'FILES_UNAVAILABLE', 'FILES_UNAVAILABLE']);
  });

  it('takes a file of more than 10 MiB in parts', async () => {
    const bytes = systemRandom.bytes(10_485_760 + 8_388_608 + 5);
    const path = join(folder, 'long.wav');
    writeFileSync(path, bytes);
    await bucket.writeFile('recordings/1.wav', path);
    expect((await bucket.stat('recordings/1.wav'))?.size).toBe(bytes.length);
    const back = await buffer(await bucket.read('recordings/1.wav'));
    expect(back.equals(readFileSync(path))).toBe(true);
    const range = { start: 8_388_600, end: 8_388_615 };
    const part = await buffer(await bucket.read('recordings/1.wav', range));
    expect(part).toEqual(bytes.subarray(range.start, range.end + 1));
  });

  it('gives one of two that send a file at the same moment its place', async () => {
    const paths = ['one', 'two'].map((name) => {
      const path = join(folder, name);
      writeFileSync(path, name.repeat(1_000));
      return path;
    });
    const works = paths.map((path) => bucket.writeFile('a/race.csv', path, { isNew: true }));
    const codes = await Promise.all(works.map(codeFrom));
    expect(codes.sort()).toEqual(['FILE_EXISTS', undefined]);
  });

  describe('a link', () => {
    const Key = 'recordings/7/clip/1 a+b(ü).wav';
    const linkOf = async (work: Promise<string | undefined>): Promise<string> => (await work) ?? '';

    it('reads a file without a key, whole or a range, as the gateway sends it', async () => {
      await bucket.write(Key, Buffer.from('hello world'));
      const link = await linkOf(bucket.readLink(Key, SAVED, 60));
      const whole = await fetch(link);
      expect([whole.status, await whole.text()]).toEqual([200, 'hello world']);
      expect(whole.headers.get('content-type')).toBe('audio/wav');
      expect(whole.headers.get('content-disposition')).toBe(SAVED.disposition);
      const part = await fetch(link, { headers: { range: 'bytes=6-8' } });
      expect([part.status, await part.text()]).toEqual([206, 'wor']);
      expect(part.headers.get('content-range')).toBe('bytes 6-8/11');
    });

    it('is refused after its time, changed, and by a wrong secret', async () => {
      await bucket.write(Key, Buffer.from('x'));
      const minuteAgo = { ...systemClock, now: () => Date.now() - 60_000 };
      const over = await linkOf(bucketOf({}, minuteAgo).readLink(Key, SAVED, 59));
      const valid = await linkOf(bucket.readLink(Key, SAVED, 60));
      const wrong = await linkOf(bucketOf({ secretKey: 'wrong' }).readLink(Key, SAVED, 60));
      const other = valid.replace('clip', 'other');
      const statuses = [over, wrong, other, valid.split('?')[0] ?? ''].map(
        async (each) => (await fetch(each)).status,
      );
      expect(await Promise.all(statuses)).toEqual([403, 403, 403, 403]);
      expect((await fetch(valid)).status).toBe(200);
    });

    it('takes a file of the announced type alone', async () => {
      const put = await linkOf(bucket.writeLink('campaigns/link/list.csv', 'text/csv', 60));
      const send = async (headers: Record<string, string>): Promise<number> =>
        (await fetch(put, { method: 'PUT', body: 'phone_number\n+1', headers })).status;
      expect(await send({ 'content-type': 'text/html' })).toBe(403);
      expect(await bucket.stat('campaigns/link/list.csv')).toBeUndefined();
      expect(await send(CSV)).toBe(200);
      expect((await bucket.stat('campaigns/link/list.csv'))?.size).toBe(15);
      expect((await fetch(put)).status).toBe(403);
    });

    it('does not exist where clients cannot reach S3', async () => {
      const inside = bucketOf({ publicEndpoint: undefined });
      expect(await inside.readLink(Key, SAVED, 60)).toBeUndefined();
      expect(await inside.writeLink(Key, 'text/csv', 60)).toBeUndefined();
    });
  });
}
