// Files of the API while they are in S3: what two gateways see, what clients get while S3 is away, and links that
// lead to S3 itself.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { wavHeader } from '../../../src/audio/wav.ts';
import { ClipLibrary } from '../../../src/call/start/setup/sound-library.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { LocalFileStore } from '../../../src/store/files/local-file-store.ts';
import { S3Bucket } from '../../../src/store/files/s3-bucket.ts';
import { S3FileStore } from '../../../src/store/files/s3-file-store.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { type FakeS3, startFakeS3 } from '../../fakes/s3/fake-s3.ts';
import { ground, newRun } from '../../store/runs/completed-runs.ts';
import { PUBLIC_URL, type Served, withApi } from '../served.ts';

const folder = mkdtempSync(join(tmpdir(), 'patchbay-s3-api-'));
const buckets: S3Bucket[] = [];
let s3: FakeS3;
beforeAll(async () => {
  s3 = await startFakeS3();
});
afterAll(async () => {
  await Promise.all(buckets.map((each) => each.close()));
  await s3.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  s3.fault = undefined;
  s3.objects.clear();
});

function filesOf(name: string, isPublic: boolean): { spool: LocalFileStore; files: S3FileStore } {
  const means = { clock: systemClock, random: systemRandom, log: quietLog().log };
  const publicEndpoint = isPublic ? s3.settings.endpoint : undefined;
  const bucket = new S3Bucket({ ...s3.settings, publicEndpoint }, means);
  buckets.push(bucket);
  const spool = new LocalFileStore(join(folder, name), means);
  return { spool, files: new S3FileStore(spool, bucket) };
}

/** A recording with both channels, and its run. */
async function recordingOf({ test }: Served): Promise<{ runId: string; key: string; wav: Buffer }> {
  const { run } = await test.store.runs.create(newRun(await ground(test)), 100);
  const sound = Buffer.from(Array.from({ length: 400 }, (_, index) => index % 251));
  const head = wavHeader({ rateHz: 8_000, channels: 2, dataBytes: sound.length });
  const key = `recordings/${run.id}.wav`;
  await test.store.runs.patch(run.id, { state: 'completed', recordingKey: key });
  return { runId: run.id, key, wav: Buffer.concat([head, sound]) };
}

const pathOf = (url: string): string => url.slice(PUBLIC_URL.length);
const linkTo = async ({ ok }: Served, key: string): Promise<string> =>
  pathOf((await ok('GET', `/s3/signed-url?key=${key}`)).url);
const CSV = { 'content-type': 'text/csv' };

describe('two gateways with one bucket', () => {
  // Each on a database of its own, as is what they sign with: only files are shared.
  const a = withApi(() => filesOf('a', false));
  const b = withApi(() => filesOf('b', false));

  it('have the same files: what one takes the other reads, whole, in ranges and as tracks', async () => {
    const { key, wav } = await recordingOf(b);
    await a.deps.files.write(key, wav);
    const path = await linkTo(b, key);
    const whole = await b.call('GET', path, { key: null });
    expect([whole.status, whole.bytes.equals(wav)]).toEqual([200, true]);
    const range = { range: 'bytes=40-49' };
    const part = await b.call('GET', path, { key: null, headers: range });
    expect([part.status, part.bytes]).toEqual([206, wav.subarray(40, 50)]);
    expect(part.headers['content-range']).toBe(`bytes 40-49/${wav.length}`);
    const known = { 'if-none-match': String(whole.headers['etag']) };
    expect((await b.call('GET', path, { key: null, headers: known })).status).toBe(304);
    const track = await linkTo(b, key.replace('.wav', '/user.wav'));
    expect((await b.call('GET', track, { key: null })).bytes).toHaveLength(44 + 200);
  });

  it('take a file by one link once, also at the same moment', async () => {
    const upload = async (served: Served): Promise<{ path: string; key: string }> => {
      const body = { file_name: 'list.csv', file_size: 10 };
      const made = await served.ok('POST', '/s3/presigned-upload-url', body);
      return { path: pathOf(made.upload_url), key: made.file_key };
    };
    const { path, key } = await upload(a);
    const put = (served: Served, to: string, body: string) =>
      served.call('PUT', to, { body, headers: CSV, key: null });
    // The link of b is for the same key, as if a had signed it.
    const sameKey = { key, contentType: 'text/csv', bytes: 10, expiresInS: 60 };
    const other = b.deps.links.signUpload(sameKey);
    const [first, second] = await Promise.all([
      put(a, path, '0123456789'),
      put(b, other, 'abcdefghij'),
    ]);
    expect([first.status, second.status].sort()).toEqual([200, 403]);
    expect((await put(b, other, 'zyxwvutsrq')).status).toBe(403);
    const won = first.status === 200 ? '0123456789' : 'abcdefghij';
    expect(s3.objects.get(key)?.bytes.toString()).toBe(won);
  });
});

describe('a recording that is not in S3 yet', () => {
  const served = withApi(() => filesOf('c', true));

  it('is read from the disk of its own gateway, never by way of S3', async () => {
    const { key, wav } = await recordingOf(served);
    const spool = new LocalFileStore(join(folder, 'c'), {
      clock: systemClock,
      random: systemRandom,
    });
    await spool.write(key, wav);
    s3.fault = 'broken';
    const answer = await served.call('GET', await linkTo(served, key), { key: null });
    expect([answer.status, answer.bytes.equals(wav)]).toEqual([200, true]);
  });

  it('is told of by another one, with the time to come again', async () => {
    const { key, runId } = await recordingOf(served);
    await served.test.sql(`update runs set files_node = 'another' where id = $1`, [runId]);
    const answer = await served.call('GET', await linkTo(served, key), { key: null });
    expect([answer.status, answer.body.code]).toEqual([503, 'FILE_NOT_YET_STORED']);
    expect(answer.headers['retry-after']).toBe('5');
    await served.test.store.runs.filesStored(runId);
    const gone = await served.call('GET', await linkTo(served, key), { key: null });
    expect([gone.status, gone.body.code]).toEqual([404, 'FILE_NOT_FOUND']);
  });
});

describe('while S3 is away', () => {
  const served = withApi(() => filesOf('d', false));

  it('uploads and downloads are refused as what passes', async () => {
    const { key, wav } = await recordingOf(served);
    await served.deps.files.write(key, wav);
    const body = { file_name: 'list.csv', file_size: 10 };
    const { upload_url: url } = await served.ok('POST', '/s3/presigned-upload-url', body);
    s3.fault = { status: 403, code: 'InvalidAccessKeyId' };
    const put = { body: '0123456789', headers: CSV, key: null };
    const answers = await Promise.all([
      served.call('PUT', pathOf(url), put),
      served.call('GET', await linkTo(served, key), { key: null }),
      served.call('GET', `/api/v1/s3/file-metadata?key=${key}`),
    ]);
    for (const { status, body: refusal, headers } of answers) {
      expect([status, refusal.code, headers['retry-after']]).toEqual([
        503,
        'FILES_UNAVAILABLE',
        '5',
      ]);
      expect(refusal.detail).not.toContain('InvalidAccessKeyId');
    }
    s3.fault = undefined;
    expect((await served.call('PUT', pathOf(url), put)).status).toBe(200);
  });
});

describe('where clients reach S3', () => {
  const served = withApi(({ store, log }) => {
    const { files } = filesOf('e', true);
    const sounds = new ClipLibrary({ store, files, isRemote: true, clock: systemClock, log });
    return { files, directLinks: files.links, sounds };
  });

  it('whole files are read there, with the name and type that they have here', async () => {
    const { key, wav } = await recordingOf(served);
    await served.deps.files.write(key, wav);
    const answer = await served.call('GET', await linkTo(served, key), { key: null });
    expect([answer.status, answer.headers['cache-control']]).toEqual([302, 'no-store']);
    const there = await fetch(String(answer.headers['location']), {
      headers: { range: 'bytes=0-3' },
    });
    expect([there.status, await there.text()]).toEqual([206, 'RIFF']);
    expect(there.headers.get('content-type')).toBe('audio/wav');
    const name = key.replace('/', '-');
    expect(there.headers.get('content-disposition')).toBe(`attachment; filename="${name}"`);
  });

  it('tracks, HEAD, missing files and those of the spool are answered here', async () => {
    const { key, wav, runId } = await recordingOf(served);
    const path = await linkTo(served, key);
    expect((await served.call('GET', path, { key: null })).status).toBe(404);
    await served.deps.files.write(key, wav);
    expect((await served.call('HEAD', path, { key: null })).status).toBe(200);
    const mono = await linkTo(served, `recordings/${runId}/mono.wav`);
    expect((await served.call('GET', mono, { key: null })).status).toBe(200);
  });

  it('uploads go there, and their size is checked when they are used', async () => {
    const file = { filename: 'a.wav', file_size: 100 };
    const made = await served.ok('POST', '/workflow-recordings/upload-url', { files: [file] });
    const [{ upload_url: url, storage_key: key, recording_id: name }] = made.items;
    expect(url).toContain(s3.settings.endpoint);
    const sent = await fetch(url, {
      method: 'PUT',
      body: Buffer.alloc(11_000_000),
      headers: { 'content-type': 'audio/wav' },
    });
    expect(sent.status).toBe(200);
    const recordings = [{ recording_id: name, transcript: 'a', storage_key: key }];
    const { status, body } = await served.call('POST', '/api/v1/workflow-recordings/', {
      body: { recordings },
    });
    expect([status, body.detail]).toEqual([400, expect.stringContaining('too large')]);
  });
});
