// The interface of stored files.

/** Files of runs and of organizations. Keys look like `recordings/42.wav` or `campaigns/7/list.csv`; each is checked,
 *  so that no path leaves the folder. */
export interface FileStore {
  /** Opens a file that grows during a call. */
  create(key: string): Promise<FileWriter>;
  write(key: string, bytes: Uint8Array): Promise<void>;
  /** Stores `source` under `key` once all of it is on the disk: completely, or not at all. Throws FILE_OVERSIZED beyond
   *  `bytesMax`, and what `source` throws. */
  receive(key: string, source: AsyncIterable<Uint8Array>, bytesMax: number): Promise<void>;
  stat(key: string): Promise<{ size: number; modifiedAt: Date } | undefined>;
  /** Reads a file. `range` is inclusive. Throws FILE_NOT_FOUND, as `readAll` does. */
  read(key: string, range?: { start: number; end: number }): Promise<NodeJS.ReadableStream>;
  readAll(key: string): Promise<Buffer>;
  remove(key: string): Promise<void>;
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
