// Recorded sound for calls: the organization's clips and its background noise, decoded once and cached, and the rows of
// the clips. A file that cannot be loaded in time is omitted: the call speaks the clip's transcript, or has no noise.

import { WavConverter } from '../../../audio/conversion/wav-conversion.ts';
import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import type { Clip, ClipRef } from '../../../model/clip.ts';
import { loopOf } from '../../../pipeline/speak/background-noise.ts';
import { decodeClip, inspectClip } from '../../../pipeline/speak/clip-decoder.ts';
import type { Clock } from '../../../std/clock.ts';
import { withDeadline } from '../../../std/deadline.ts';
import { SharedWork } from '../../../std/shared-work.ts';
import type { FileStore } from '../../../store/files/file-store.ts';
import type { ClipStore } from '../../../store/library/clips.ts';
import type { FindClip } from '../../../workflow/engine/clip-refs.ts';

/** Deadline of a load: the phone rings meanwhile. */
const LOAD_MS_MAX = 3_000;
/** Longest clip, in seconds. */
const CLIP_SECONDS_MAX = 60;
/** Longest background noise, in seconds: two minutes have 2 MB. */
const NOISE_SECONDS_MAX = 120;
/** Largest upload. */
const FILE_BYTES_MAX = 10_485_760;
/** Age up to which a look at a file that other machines hold counts: calls would wait for it. */
const LOOKED_MS_MAX = 60_000;
/** Wait for a look at a file whose sound is cached: the phone rings meanwhile. */
const LOOK_MS_MAX = 500;
/** Cached sound: an hour of clips. */
const CACHE_BYTES_MAX = 64 * 1024 * 1024;
/** Sound of one call: ten minutes of clips. Further clips are spoken. */
const CALL_BYTES_MAX = 10 * 1024 * 1024;
/** Deadline of a query: the phone rings meanwhile. */
const QUERY_MS_MAX = 3_000;
/** Sets of rows that are cached, usually one for each agent; each has at most as many rows as a call may reference. */
const KNOWN_MAX = 500;

export interface CallClips {
  find: FindClip;
  /** Samples of a clip at 8 kHz, borrowed; undefined if the file could not be read. */
  samples(clipId: string): Int16Array | undefined;
  /** Loads clips that turned out to be needed later, for at most 3 s. Never rejects. */
  add(refs: readonly ClipRef[]): Promise<void>;
}

export interface ClipLibraryDeps {
  store: { clips: ClipStore };
  files: FileStore;
  /** Whether other machines hold the files: a changed file is then noticed within a minute. Default: no, at once. */
  isRemote?: boolean;
  clock: Clock;
  log: Log;
}

interface KeptSound {
  etag: string;
  samples: Int16Array;
  /** When the file was last seen to have this ETag, monotonic. */
  lookedAtMs: number;
}

export class ClipLibrary {
  readonly #lookup: ClipLookup;
  readonly #files: FileStore;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #converter: WavConverter;
  readonly #lookedMsMax: number;
  readonly #kept = new Map<string, KeptSound>();
  readonly #loading = new SharedWork<Int16Array>();
  #keptBytes = 0;

  constructor(deps: ClipLibraryDeps) {
    this.#lookedMsMax = deps.isRemote === true ? LOOKED_MS_MAX : 0;
    this.#lookup = new ClipLookup({ ...deps, clips: deps.store.clips });
    this.#files = deps.files;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#converter = new WavConverter(deps.clock);
  }

  /** The clips of a call. Waits for the rows as long as the store does, then at most 3 s for the files. Clips that
   *  fail are missing. Never rejects. */
  async clips(organizationId: string, refs: readonly ClipRef[]): Promise<CallClips> {
    const rows: Clip[] = [];
    const sounds = new Map<string, Int16Array>();
    let bytes = 0;
    const find = async (wanted: readonly ClipRef[]): Promise<readonly Clip[]> => {
      const found = await this.#lookup.find(organizationId, wanted);
      rows.push(...found);
      return found;
    };
    const load = async (found: readonly Clip[]): Promise<void> => {
      for (const { id, storageKey } of found) {
        const samples = await this.#attempt(storageKey, CLIP_SECONDS_MAX);
        bytes += samples?.byteLength ?? 0;
        if (samples !== undefined && bytes <= CALL_BYTES_MAX) sounds.set(id, samples);
      }
    };
    if (refs.length > 0) {
      const found = await this.#orLog(find(refs));
      await this.#orLog(this.#inTime(load(found ?? [])));
    }
    return {
      find: ({ by, value }) => rows.find((clip) => clip[by] === value),
      samples: (clipId) => sounds.get(clipId),
      add: async (wanted) => {
        if (wanted.length > 0) await this.#orLog(this.#inTime(find(wanted).then(load)));
      },
    };
  }

  #inTime(work: Promise<void>): Promise<void> {
    return withDeadline(this.#clock, LOAD_MS_MAX, 'clips of a call', work);
  }

  #orLog<T>(work: Promise<T>): Promise<T | undefined> {
    return work.catch((error: unknown) => {
      this.#log.warn({ err: error }, 'clips of a call not loaded');
      return undefined;
    });
  }

  /** The organization's background noise as a loop; undefined if it cannot be loaded. Never rejects. */
  async noise(organizationId: string, key: string): Promise<Int16Array | undefined> {
    if (!key.startsWith(`ambient_noise/${organizationId}/`)) return undefined;
    const work = this.#attempt(key, NOISE_SECONDS_MAX);
    return withDeadline(this.#clock, LOAD_MS_MAX, 'background noise', work).catch(
      (error: unknown) => {
        this.#log.warn({ err: error }, 'background noise not loaded');
        return undefined;
      },
    );
  }

  /** Checks whether an uploaded file can be played. Throws CLIP_UNUSABLE with the reason, FILE_KEY_INVALID,
   *  FILES_UNAVAILABLE. */
  async check(name: string, key: string): Promise<void> {
    const unusable = (reason: string) => new GatewayError('CLIP_UNUSABLE', { name, reason });
    const status = await this.#files.stat(key);
    if (status === undefined) throw unusable('its file was not sent');
    if (status.size > FILE_BYTES_MAX) throw unusable('its file is too large');
    let seconds: number;
    try {
      const bytes = await this.#files.readAll(key);
      ({ seconds } = inspectClip(await this.#converter.readable(bytes)));
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code === 'FILES_UNAVAILABLE') throw error;
      throw unusable(String(error.facts['reason']));
    }
    if (seconds > CLIP_SECONDS_MAX) throw unusable(`it is longer than ${CLIP_SECONDS_MAX} seconds`);
  }

  async #attempt(key: string, secondsMax: number): Promise<Int16Array | undefined> {
    try {
      return await this.#sound(key, secondsMax);
    } catch (error) {
      this.#log.warn({ err: error, key }, 'sound file not loaded');
      return undefined;
    }
  }

  /** The decoded sound of a file. Throws FILE_NOT_FOUND, FILES_UNAVAILABLE, FILE_KEY_INVALID, WAV_UNREADABLE. */
  async #sound(key: string, secondsMax: number): Promise<Int16Array> {
    const kept = this.#kept.get(key);
    const etag = this.#isFresh(kept) ? kept.etag : await this.#etag(key, kept);
    // A file that was uploaded again is another sound.
    if (kept?.etag !== etag) {
      return this.#loading.run(`${key} ${etag}`, () => this.#load(key, etag, secondsMax));
    }
    // The map's order is the order of use. Another one may have been cached meanwhile.
    const cached = this.#kept.get(key);
    if (cached === kept && this.#kept.delete(key)) this.#kept.set(key, kept);
    return kept.samples;
  }

  #isFresh(kept: KeptSound | undefined): kept is KeptSound {
    if (kept === undefined) return false;
    return this.#clock.monotonicMs() - kept.lookedAtMs < this.#lookedMsMax;
  }

  /** The file's ETag; that of the cached sound while the files cannot be reached. */
  async #etag(key: string, kept: KeptSound | undefined): Promise<string> {
    const looking = this.#files.stat(key);
    const isCached = kept !== undefined && this.#lookedMsMax > 0;
    const status = isCached
      ? await withDeadline(this.#clock, LOOK_MS_MAX, 'look at a clip', looking).catch(() => kept)
      : await looking;
    if (status === undefined) throw new GatewayError('FILE_NOT_FOUND');
    if ('size' in status && status.size > FILE_BYTES_MAX) {
      throw new GatewayError('FILE_OVERSIZED', { bytes: status.size });
    }
    if (kept?.etag === status.etag) kept.lookedAtMs = this.#clock.monotonicMs();
    return status.etag;
  }

  async #load(key: string, etag: string, secondsMax: number): Promise<Int16Array> {
    const wav = await this.#converter.readable(await this.#files.readAll(key));
    const samples = await decodeClip(wav, secondsMax);
    const sound = secondsMax === NOISE_SECONDS_MAX ? loopOf(samples) : samples;
    this.#keep(key, { etag, samples: sound, lookedAtMs: this.#clock.monotonicMs() });
    return sound;
  }

  #keep(key: string, sound: KeptSound): void {
    this.#drop(key);
    this.#kept.set(key, sound);
    this.#keptBytes += sound.samples.byteLength;
    for (const oldest of this.#kept.keys()) {
      if (this.#keptBytes <= CACHE_BYTES_MAX) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#keptBytes -= this.#kept.get(key)?.samples.byteLength ?? 0;
    this.#kept.delete(key);
  }
}

/** Cached rows of clips. Calls that need the same clips at the same time share one query, and rows that an earlier call
 *  read are used when the database is late: many new calls neither repeat the query nor lose the clips. */
export class ClipLookup {
  readonly #clips: Pick<ClipStore, 'find'>;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Cached rows, least recently used first. */
  readonly #known = new Map<string, readonly Clip[]>();
  /** Queries in progress, at most one for each call that is being planned. */
  readonly #running = new SharedWork<readonly Clip[]>();

  constructor(deps: { clips: Pick<ClipStore, 'find'>; clock: Clock; log: Log }) {
    this.#clips = deps.clips;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /** The rows that exist, in no order. After 3 s, or if the query fails, returns the rows of the last answer to the
   *  same query. Without such rows it settles as the query does: clips are as much part of an agent as its nodes. */
  async find(organizationId: string, refs: readonly ClipRef[]): Promise<readonly Clip[]> {
    const key = JSON.stringify([organizationId, refs.map(({ by, value }) => [by, value])]);
    const running = this.#running.run(key, () => this.#query(key, organizationId, refs));
    const known = this.#known.get(key);
    if (known === undefined) return running;
    try {
      return await withDeadline(this.#clock, QUERY_MS_MAX, 'the clips of a call', running);
    } catch (error) {
      this.#log.warn({ err: error }, 'clips of an earlier call used');
      return known;
    }
  }

  async #query(
    key: string,
    organizationId: string,
    refs: readonly ClipRef[],
  ): Promise<readonly Clip[]> {
    const rows = await this.#clips.find(organizationId, refs);
    this.#keep(key, rows);
    return rows;
  }

  #keep(key: string, rows: readonly Clip[]): void {
    this.#known.delete(key);
    this.#known.set(key, rows);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= KNOWN_MAX) break;
      this.#known.delete(oldest);
    }
  }
}
