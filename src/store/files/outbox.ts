// Brings the files of the spool to S3, in the API process: what is on the disk and belongs to no running call waits for
// it. The folder itself is the list of what waits, so that nothing is written twice and a kill at any line loses
// nothing: it is looked through at the start and every minute, and each run that this gateway completes is noted.

import { codeOf } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { spoolBytes, spoolOldestSeconds } from '../../metrics/store-metrics.ts';
import type { Clock } from '../../std/clock.ts';
import { JobLoop } from '../../std/job-loop.ts';
import type { Random } from '../../std/random.ts';
import type { FileStatus } from './file-store.ts';
import type { FolderEntry } from './folder-entries.ts';
import type { LocalFileStore } from './local-file-store.ts';
import { recordingKey, runOfFile, transcriptKey } from './run-files.ts';
import type { S3Bucket } from './s3-bucket.ts';

/** Interval of the looks through the folder. */
const LOOK_MS = 60_000;
/** First wait after a failure, and the longest: so long after its return S3 gets the first file. */
const AGAIN_MS = 1_000;
const AGAIN_MS_MAX = 30_000;
/** Uploads at the same moment: of recordings of two minutes, 4 MB each, a hundred a second on a near S3. */
const UPLOADS_MAX = 8;
/** Files that wait in memory; further ones are found at the next look. */
const WAITING_MAX = 2_000;
/** Files of one question to the database. */
const BATCH = 500;
/** Files whose fault was logged. */
const FAULTY_MAX = 1_000;

/** What the outbox needs to know and to say of runs. */
export interface SpooledRuns {
  /** The completed runs among `ids`, and whether their recording is attached. */
  closed(ids: readonly string[]): Promise<ReadonlyMap<string, { hasRecording: boolean }>>;
  /** The files of the run are in S3. */
  filesStored(id: string): Promise<void>;
}

export interface OutboxDeps {
  spool: LocalFileStore;
  bucket: Pick<S3Bucket, 'stat' | 'writeFile'>;
  runs: SpooledRuns;
  clock: Clock;
  random: Random;
  log: Log;
}

/** Files that go together: those of a run, or one of another kind. */
interface Parcel {
  runId: string | undefined;
  keys: readonly string[];
  /** When the oldest came, milliseconds since 1970. */
  sinceMs: number;
}

export class Outbox {
  readonly #deps: OutboxDeps;
  readonly #loop: JobLoop;
  /** By the first key, oldest first as far as they came so. */
  readonly #waiting = new Map<string, Parcel>();
  readonly #underWay = new Set<string>();
  readonly #faulty = new Set<string>();
  #lookedAtMs: number | undefined;
  /** Whether more files wait than memory holds. */
  #hasMore = false;
  #isAway = false;
  #bytes = 0;

  constructor(deps: OutboxDeps) {
    const { clock, random } = deps;
    this.#deps = deps;
    this.#loop = new JobLoop({
      clock,
      everyMs: LOOK_MS,
      retryMs: AGAIN_MS,
      backoff: { msMax: AGAIN_MS_MAX, random },
      run: (signal) => this.#round(signal),
      onError: (error) => this.#onAway(error),
    });
  }

  /** Bytes on the disk at the last look, and the age of the oldest file that waits; 0 if none does. */
  get waiting(): { bytes: number; oldestSeconds: number } {
    const nowMs = this.#deps.clock.now();
    let oldestMs = nowMs;
    for (const { sinceMs } of this.#waiting.values()) oldestMs = Math.min(oldestMs, sinceMs);
    return { bytes: this.#bytes, oldestSeconds: (nowMs - oldestMs) / 1_000 };
  }

  /** Starts the first look, without waiting for it. */
  start(): void {
    void this.#loop.start();
  }

  /** Notes that this gateway has completed a run, whose files are whole from now on. */
  note(runId: string): void {
    this.#add(parcelOf(recordingKey(runId), this.#deps.clock.now()));
    if (!this.#isAway) void this.#loop.wake();
  }

  /** Stores what waits, as far as S3 takes it in `waitMsMax`; the rest stays on the disk. Never rejects. */
  async close(waitMsMax: number): Promise<void> {
    const { clock } = this.#deps;
    const late = new Promise<void>((resolve) => clock.after(waitMsMax, resolve));
    if (!this.#isAway) await Promise.race([this.#loop.wake(), late]);
    await this.#loop.stop(0);
  }

  async #round(signal: AbortSignal): Promise<void> {
    let stored: number;
    do {
      if (this.#isLookDue()) await this.#look(signal);
      stored = await this.#empty(signal);
      this.#measure();
    } while (this.#hasMore && stored > 0 && !signal.aborted);
    if (this.#isAway) this.#deps.log.info('files of calls are stored in S3 again');
    this.#isAway = false;
  }

  #onAway(error: unknown): void {
    this.#measure();
    if (!this.#isAway) {
      const waiting = this.#waiting.size;
      this.#deps.log.warn({ err: error, waiting }, 'files of calls wait on the disk');
    }
    this.#isAway = true;
  }

  #isLookDue(): boolean {
    const lookedAtMs = this.#lookedAtMs;
    if (lookedAtMs === undefined || this.#hasMore) return true;
    return this.#deps.clock.monotonicMs() - lookedAtMs >= LOOK_MS;
  }

  /** Looks through the folder. */
  async #look(signal: AbortSignal): Promise<void> {
    const { spool, clock } = this.#deps;
    this.#hasMore = false;
    let bytes = 0;
    let batch: FolderEntry[] = [];
    for await (const entry of spool.entries()) {
      if (signal.aborted) return;
      bytes += entry.size;
      batch.push(entry);
      if (batch.length < BATCH) continue;
      await this.#sort(batch);
      batch = [];
    }
    await this.#sort(batch);
    this.#bytes = bytes;
    spoolBytes.set(bytes);
    this.#lookedAtMs = clock.monotonicMs();
  }

  /** Adds those files of the batch that are whole: all but those of calls that go on, of runs that are not there, and of
   *  runs without their recording, which call/end/left-recordings.ts attaches first. */
  async #sort(batch: readonly FolderEntry[]): Promise<void> {
    const ids = batch.flatMap(({ key }) => runOfFile(key) ?? []);
    const closed = await this.#deps.runs.closed([...new Set(ids)]);
    for (const { key, size, modifiedAt } of batch) {
      const runId = runOfFile(key);
      const run = runId === undefined ? undefined : closed.get(runId);
      const isUnattached = key.startsWith('recordings/') && size > 0 && !run?.hasRecording;
      if (runId !== undefined && (run === undefined || isUnattached)) continue;
      this.#add(parcelOf(key, modifiedAt.getTime()));
    }
  }

  #add(parcel: Parcel): void {
    const [first = ''] = parcel.keys;
    if (this.#waiting.has(first)) return;
    if (this.#waiting.size < WAITING_MAX) this.#waiting.set(first, parcel);
    else this.#hasMore = true;
  }

  /** Stores all that waits; returns how many. Throws the fault because of which nothing can be stored now. */
  async #empty(signal: AbortSignal): Promise<number> {
    let stored = 0;
    let fault: unknown;
    const next = async (): Promise<void> => {
      for (const [first, parcel] of this.#waiting) {
        if (signal.aborted || fault !== undefined) return;
        fault ??= await this.#take(first, parcel, signal);
        stored += 1;
      }
    };
    await Promise.all(Array.from({ length: UPLOADS_MAX }, next));
    if (fault !== undefined && !signal.aborted) throw fault;
    return stored;
  }

  /** Stores what waits under that key. Returns a fault because of which nothing can be stored now; all waits on then. */
  async #take(first: string, parcel: Parcel, signal: AbortSignal): Promise<unknown> {
    this.#waiting.delete(first);
    // It was noted again while it was being stored.
    if (this.#underWay.has(first)) return undefined;
    this.#underWay.add(first);
    try {
      await this.#store(parcel, signal);
    } catch (error) {
      if (signal.aborted || isOfAll(error)) {
        this.#waiting.set(first, parcel);
        return error;
      }
      this.#onFault(first, error);
    } finally {
      this.#underWay.delete(first);
    }
    return undefined;
  }

  /** A file that cannot be stored is tried again after the next look. */
  #onFault(key: string, error: unknown): void {
    if (this.#faulty.has(key) || this.#faulty.size >= FAULTY_MAX) return;
    this.#faulty.add(key);
    this.#deps.log.error({ err: error, key }, 'a file is not stored in S3');
  }

  /** Stores the files, says so in their run, and removes them here: after a kill in between it is done again. */
  async #store({ keys, runId }: Parcel, signal: AbortSignal): Promise<void> {
    const { spool, runs } = this.#deps;
    const stored: [string, FileStatus][] = [];
    for (const key of keys) {
      const file = await spool.stat(key);
      if (file === undefined) continue;
      if (await this.#upload(key, file, signal)) stored.push([key, file]);
    }
    if (stored.length === 0) return;
    if (runId !== undefined) await runs.filesStored(runId);
    for (const [key, file] of stored) {
      const now = await spool.stat(key);
      // A writer on a slow disk has not ended yet: the next look finds the file again.
      if (now?.etag === file.etag) await spool.remove(key);
    }
  }

  /** Uploads a file, unless it is there. False for a recording in whose place S3 has a longer one: the file stays on the
   *  disk, aside, as nothing says which of them is wanted. */
  async #upload(key: string, file: FileStatus, signal: AbortSignal): Promise<boolean> {
    const { spool, bucket, log } = this.#deps;
    const runId = runOfFile(key) ?? '';
    const isRecording = key === recordingKey(runId);
    if (isRecording) {
      if (file.size === 0) return true; // The media ended before any audio.
      const there = await bucket.stat(key);
      if (there !== undefined && there.size > file.size) {
        await spool.setAside(key);
        log.error({ key }, 'S3 has a longer recording of the call: this one is kept aside');
        return false;
      }
      if (there?.size === file.size) return true;
    }
    // The first transcript is of the process that has closed the run. One whose outcome the store refused, as it seemed
    // dead, writes another one.
    const isNew = key === transcriptKey(runId);
    await bucket.writeFile(key, spool.pathOf(key), { isNew, signal }).catch((error: unknown) => {
      if (codeOf(error) !== 'FILE_EXISTS') throw error;
    });
    return true;
  }

  #measure(): void {
    spoolOldestSeconds.set(this.waiting.oldestSeconds);
  }
}

const OF_ALL: ReadonlySet<string> = new Set([
  'FILES_UNAVAILABLE',
  'QUEUE_FULL',
  'STORE_UNAVAILABLE',
  'TIMED_OUT',
]);

/** The file, with the other one of its run. */
function parcelOf(key: string, sinceMs: number): Parcel {
  const runId = runOfFile(key);
  const keys = runId === undefined ? [key] : [recordingKey(runId), transcriptKey(runId)];
  return { runId, keys, sinceMs };
}

/** Whether the fault is of S3 or the database, not of one file. */
function isOfAll(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && OF_ALL.has(code);
}
