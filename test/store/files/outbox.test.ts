// Files of the spool on their way to S3: what waits, what does not, and what an absence or a kill leaves behind.

import { appendFileSync, existsSync, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { spoolBytes, spoolOldestSeconds } from '../../../src/metrics/store-metrics.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { LocalFileStore } from '../../../src/store/files/local-file-store.ts';
import { Outbox, type SpooledRuns } from '../../../src/store/files/outbox.ts';
import { recordingKey, transcriptKey } from '../../../src/store/files/run-files.ts';
import { S3Bucket } from '../../../src/store/files/s3-bucket.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { type FakeS3, startFakeS3 } from '../../fakes/s3/fake-s3.ts';

const folder = mkdtempSync(join(tmpdir(), 'patchbay-outbox-'));
let s3: FakeS3;
let clock: FakeClock;
let spool: LocalFileStore;
let bucket: S3Bucket;
let outbox: Outbox;
let said: ReturnType<typeof quietLog>;
let runs: SpooledRuns & { completed: Map<string, boolean>; stored: string[]; isAway: boolean };
let nth = 0;

beforeAll(async () => {
  s3 = await startFakeS3();
});
afterAll(async () => {
  await s3.close();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => {
  s3.fault = undefined;
  s3.objects.clear();
  s3.requests.length = 0;
  clock = new FakeClock(Date.now());
  said = quietLog();
  nth += 1;
  spool = new LocalFileStore(join(folder, String(nth)), { clock, random: systemRandom });
  bucket = new S3Bucket(s3.settings, { clock: systemClock, random: systemRandom, log: said.log });
  const completed = new Map<string, boolean>();
  runs = {
    completed,
    stored: [],
    isAway: false,
    closed: async (ids) =>
      new Map(
        ids
          .filter((id) => completed.has(id))
          .map((id) => [id, { hasRecording: completed.get(id) === true }]),
      ),
    filesStored: async (id) => {
      if (runs.isAway) throw new GatewayError('STORE_UNAVAILABLE');
      runs.stored.push(id);
    },
  };
  outbox = open();
});
afterEach(async () => {
  await outbox.close(0);
  await bucket.close();
});

function open(): Outbox {
  const { log } = said;
  return new Outbox({ spool, bucket, runs, clock, random: systemRandom, log });
}

/** The files of a call that has ended. */
async function callOf(runId: string, text = `sound of ${runId}`): Promise<void> {
  await spool.write(recordingKey(runId), Buffer.from(text));
  await spool.write(transcriptKey(runId), Buffer.from(`words of ${runId}`));
  runs.completed.set(runId, true);
}

const isHere = (key: string): boolean => existsSync(spool.pathOf(key));
const objects = (): string[] => [...s3.objects.keys()].sort();
const puts = (): number => s3.requests.filter((each) => each.startsWith('PUT')).length;
const oldest = async (): Promise<number> => (await spoolOldestSeconds.get()).values[0]?.value ?? 0;
const lines = (): unknown[] => said.lines().map(({ msg }) => msg);

describe('the files of a call', () => {
  it('are in S3, are named so, and are gone from the disk', async () => {
    outbox.start();
    await callOf('7');
    outbox.note('7');
    await vi.waitFor(() => expect(isHere(transcriptKey('7'))).toBe(false));
    expect(objects()).toEqual(['recordings/7.wav', 'transcripts/7.txt']);
    expect(s3.objects.get('recordings/7.wav')?.bytes.toString()).toBe('sound of 7');
    expect(runs.stored).toEqual(['7']);
    expect(isHere(recordingKey('7'))).toBe(false);
  });

  it('leave the transcript that is in S3: another process has closed the run', async () => {
    await callOf('9');
    await bucket.write(transcriptKey('9'), Buffer.from('words that are stored'));
    outbox.start();
    await vi.waitFor(() => expect(isHere(transcriptKey('9'))).toBe(false));
    expect(s3.objects.get(transcriptKey('9'))?.bytes.toString()).toBe('words that are stored');
    expect(runs.stored).toEqual(['9']);
    expect(s3.objects.has(recordingKey('9'))).toBe(true);
  });

  it('are found at the start, also those of another name of the gateway', async () => {
    await callOf('8');
    outbox.start();
    await vi.waitFor(() => expect(runs.stored).toEqual(['8']));
  });

  it('stay while the call goes on, its run is not there, or its recording is not attached', async () => {
    await spool.write(recordingKey('1'), Buffer.from('goes on'));
    await spool.write(recordingKey('2'), Buffer.from('was closed by another gateway'));
    runs.completed.set('2', false);
    await callOf('3');
    outbox.start();
    await vi.waitFor(() => expect(runs.stored).toEqual(['3']));
    expect([isHere(recordingKey('1')), isHere(recordingKey('2'))]).toEqual([true, true]);
    expect(objects()).toEqual(['recordings/3.wav', 'transcripts/3.txt']);
    runs.completed.set('2', true);
    await vi.waitFor(() => {
      clock.advance(60_000);
      expect(runs.stored).toEqual(['3', '2']);
    });
  });

  it('without any audio leave no recording', async () => {
    await callOf('5', '');
    outbox.start();
    await vi.waitFor(() => expect(isHere(recordingKey('5'))).toBe(false));
    expect(objects()).toEqual(['transcripts/5.txt']);
  });

  it('that are still written on a slow disk are stored whole', async () => {
    await callOf('6');
    const { writeFile } = bucket;
    const half = vi.spyOn(bucket, 'writeFile').mockImplementationOnce(async (...of) => {
      await writeFile.apply(bucket, of);
      appendFileSync(spool.pathOf(recordingKey('6')), ' and the rest');
    });
    outbox.start();
    await vi.waitFor(() => expect(half).toHaveBeenCalledTimes(2));
    await vi.waitFor(() => expect(isHere(transcriptKey('6'))).toBe(false));
    expect(isHere(recordingKey('6'))).toBe(true);
    await vi.waitFor(() => {
      clock.advance(60_000);
      expect(isHere(recordingKey('6'))).toBe(false);
    });
    expect(s3.objects.get('recordings/6.wav')?.bytes.toString()).toBe('sound of 6 and the rest');
  });

  it('never replace a longer recording, and are kept then', async () => {
    await callOf('9', 'short');
    await bucket.write(recordingKey('9'), Buffer.from('longer than that'));
    outbox.start();
    await vi.waitFor(() => expect(runs.stored).toEqual(['9']));
    expect(s3.objects.get('recordings/9.wav')?.bytes.toString()).toBe('longer than that');
    expect(existsSync(join(folder, String(nth), '.set-aside', recordingKey('9')))).toBe(true);
  });
});

describe('files of a time before S3', () => {
  it('are brought there, of all kinds', async () => {
    const keys = ['ambient_noise/1/2/a.wav', 'campaigns/1/list ü.csv', 'recordings/1/clip/a.wav'];
    for (const key of keys) await spool.write(key, Buffer.from(key));
    outbox.start();
    await vi.waitFor(() => expect(keys.some(isHere)).toBe(false));
    expect(objects()).toEqual(keys);
  });

  it('may be more than memory holds', async () => {
    for (let id = 1; id <= 2_100; id++) {
      await spool.write(transcriptKey(String(id)), Buffer.from('x'));
      runs.completed.set(String(id), false);
    }
    outbox.start();
    await vi.waitFor(() => expect(s3.objects.size).toBe(2_100), 30_000);
    await vi.waitFor(() => expect(runs.stored).toHaveLength(2_100));
  }, 60_000);
});

describe('S3 away for ten minutes', () => {
  it('loses nothing, is told once, and shows the age of the oldest file', async () => {
    outbox.start();
    await callOf('1');
    outbox.note('1');
    await vi.waitFor(() => expect(runs.stored).toEqual(['1']));
    s3.fault = 'broken';
    const ids = Array.from({ length: 20 }, (_, index) => String(index + 2));
    for (const id of ids) {
      await callOf(id);
      outbox.note(id);
      for (let seconds = 0; seconds < 30; seconds += 5) {
        clock.advance(5_000);
        await settle();
      }
    }
    await vi.waitFor(async () => expect(await oldest()).toBeGreaterThan(500));
    expect(ids.every((id) => isHere(recordingKey(id)))).toBe(true);
    expect(runs.stored).toEqual(['1']);
    s3.fault = undefined;
    // It is asked again within 38 s: 30 s and a quarter.
    for (let seconds = 0; seconds < 38 && runs.stored.length === 1; seconds += 1) {
      clock.advance(1_000);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await vi.waitFor(() => expect(runs.stored).toHaveLength(21));
    for (const id of ['1', ...ids]) {
      expect(s3.objects.get(recordingKey(id))?.bytes.toString()).toBe(`sound of ${id}`);
      expect(s3.objects.get(transcriptKey(id))?.bytes.toString()).toBe(`words of ${id}`);
    }
    await vi.waitFor(async () => expect(await oldest()).toBe(0));
    expect(lines()).toEqual([
      'S3 cannot be used: files of calls wait on the disk',
      'files of calls wait on the disk',
      'S3 can be used again',
      'files of calls are stored in S3 again',
    ]);
  }, 60_000);

  it('is asked seldom, however many calls end', async () => {
    s3.fault = { status: 403, code: 'InvalidAccessKeyId' };
    outbox.start();
    await callOf('1');
    outbox.note('1');
    await vi.waitFor(() => expect(lines()).toContain('files of calls wait on the disk'));
    const before = s3.requests.length;
    for (let id = 2; id < 200; id++) outbox.note(String(id));
    await settle();
    expect(s3.requests).toHaveLength(before);
  });
});

describe('a kill', () => {
  it('after the upload repeats neither it nor loses the file', async () => {
    await callOf('4');
    runs.isAway = true; // What comes after the upload fails.
    outbox.start();
    await vi.waitFor(() => expect(lines()).toContain('files of calls wait on the disk'));
    await outbox.close(0);
    const recordings = s3.requests.filter((each) => /^PUT .*recordings/.test(each)).length;
    expect(recordings).toBe(1);
    runs.isAway = false;
    outbox = open();
    outbox.start();
    await vi.waitFor(() => expect(isHere(recordingKey('4'))).toBe(false));
    expect(s3.requests.filter((each) => /^PUT .*recordings/.test(each))).toHaveLength(1);
    expect(runs.stored).toEqual(['4']);
  });
});

describe('a stop', () => {
  it('waits for the files of the last calls', async () => {
    outbox.start();
    await settle();
    for (let id = 1; id <= 30; id++) await callOf(String(id));
    for (let id = 1; id <= 30; id++) outbox.note(String(id));
    await outbox.close(10_000);
    expect(runs.stored).toHaveLength(30);
  });
});

describe('a file that cannot be stored', () => {
  it('does not keep others from S3, and is one line in the log', async () => {
    await callOf('1');
    // No key of ours: nobody may read it by its name.
    appendFileSync(join(folder, String(nth), '~odd'), 'x');
    outbox.start();
    await vi.waitFor(() => expect(runs.stored).toEqual(['1']));
    clock.advance(60_000);
    await settle();
    await settle();
    expect(lines()).toEqual(['a file is not stored in S3']);
  });
});

describe('the size of the spool', () => {
  it('has the recordings of running calls in it', async () => {
    await spool.write(recordingKey('1'), Buffer.alloc(1_000));
    utimesSync(spool.pathOf(recordingKey('1')), 1_000_000, 1_000_000);
    outbox.start();
    await vi.waitFor(async () => expect((await spoolBytes.get()).values[0]?.value).toBe(1_000));
    expect(await oldest()).toBe(0);
    expect(puts()).toBe(0);
  });
});
