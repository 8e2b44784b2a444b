// The interface of stored files.

/** Files of runs and of organizations. Keys look like `recordings/42.wav` or `campaigns/7/list.csv`; each
 *  is checked, no path leaves the folder. */
export interface FileStore {
  /** Opens a file that grows during a call. */
  create(key: string): Promise<FileWriter>;
  write(key: string, bytes: Uint8Array): Promise<void>;
  /** Stored under `key` once all of `source` is on the disk: completely, or not at all. Throws FILE_OVERSIZED
   *  beyond `bytesMax`, and what `source` throws. */
  receive(key: string, source: AsyncIterable<Uint8Array>, bytesMax: number): Promise<void>;
  stat(key: string): Promise<{ size: number; modifiedAt: Date } | undefined>;
  /** `range` is inclusive. Throws FILE_NOT_FOUND, as `readAll` does. */
  read(key: string, range?: { start: number; end: number }): Promise<NodeJS.ReadableStream>;
  readAll(key: string): Promise<Buffer>;
  remove(key: string): Promise<void>;
}

export interface FileWriter {
  /** Queues `bytes` (borrowed until the call returns) at the end. False if the disk does not keep up and the
   *  buffer is full: nothing was taken then. */
  append(bytes: Uint8Array): boolean;
  /** Skips this many bytes at the end: they are zeros. For bytes that `append` did not take in time. */
  skip(bytes: number): void;
  /** Replaces bytes at `offset`, in order with the appends. False as with `append`. */
  patch(offset: number, bytes: Uint8Array): boolean;
  /** Of appended and skipped bytes. */
  readonly size: number;
  /** Bytes that are missing in the file: zeros are in their place. */
  readonly lostBytes: number;
  /** The first error of the disk, if there was one. Later bytes may be written again. */
  readonly error: Error | undefined;
  /** Everything is on the disk then, with `head` over the file's first bytes; with `bytesMax` the file ends
   *  there. Throws the first error (STORE_FULL, RECORDING_FAILED). */
  close(head?: Uint8Array, bytesMax?: number): Promise<void>;
}
