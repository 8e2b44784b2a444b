// The interfaces of stored files: those that all gateways see, and those on the disk of one.

/** Files of runs and of organizations. Keys look like `recordings/42.wav` or `campaigns/7/list.csv`; each is checked,
 *  so that no path leaves the folder. A store that other machines hold throws FILES_UNAVAILABLE from each operation. */
export interface FileStore {
  write(key: string, bytes: Uint8Array): Promise<void>;
  /** Stores `source` under `key` once all of it has arrived: completely, or not at all. Throws FILE_EXISTS if the key
   *  has a file, FILE_OVERSIZED beyond `bytesMax`, and what `source` throws. */
  receive(key: string, source: AsyncIterable<Uint8Array>, bytesMax: number): Promise<void>;
  stat(key: string): Promise<FileStatus | undefined>;
  /** Reads a file. `range` is inclusive. Throws FILE_NOT_FOUND, as `readAll` does. */
  read(key: string, range?: { start: number; end: number }): Promise<NodeJS.ReadableStream>;
  readAll(key: string): Promise<Buffer>;
  remove(key: string): Promise<void>;
}

/** Files on this gateway's disk, where runs write theirs. Without S3 it is the store itself; with S3 they wait here
 *  until they are there (outbox.ts). */
export interface Spool extends FileStore {
  /** Opens a file that grows during a call. `from`: it continues one of that key from this size on, which another process
   *  has begun; what it lacks before is zeros. Default: it is new. */
  create(key: string, from?: number): Promise<FileWriter>;
}

export interface FileStatus {
  size: number;
  modifiedAt: Date;
  /** The file's version, with quotes (RFC 9110, 8.8.3). */
  etag: string;
}

export interface FileWriter {
  /** Queues `bytes` (borrowed until the call returns) at the end. False if the disk is too slow and the buffer is full;
   *  nothing was queued then. */
  append(bytes: Uint8Array): boolean;
  /** Skips this many bytes at the end, for bytes that `append` refused. The file has zeros there. */
  skip(bytes: number): void;
  /** Replaces bytes at `offset`, in order with the appends. False as for `append`. */
  patch(offset: number, bytes: Uint8Array): boolean;
  /** Number of appended and skipped bytes. */
  readonly size: number;
  /** Number of bytes that are missing in the file, which has zeros in their place. */
  readonly lostBytes: number;
  /** The first disk error; undefined without one. Later bytes may be written again. */
  readonly error: Error | undefined;
  /** Resolves when everything is on the disk, with `head` over the file's first bytes; with `bytesMax` the file ends
   *  there. Throws the first error (STORE_FULL, RECORDING_FAILED). */
  close(head?: Uint8Array, bytesMax?: number): Promise<void>;
}
