// Stored files as the rest of the gateway sees them.

/** Files of runs and of organizations. Keys look like `recordings/42.wav` or `campaigns/7/list.csv`; each
 *  is checked, no path leaves the folder. */
export interface FileStore {
  /** Opens a file that grows as the call goes. */
  create(key: string): Promise<FileWriter>;
  write(key: string, bytes: Uint8Array): Promise<void>;
  /** Under `key` once all of `source` is on the disk: whole, or not at all. Throws FILE_OVERSIZED beyond
   *  `bytesMax`, and what `source` throws. */
  receive(key: string, source: AsyncIterable<Uint8Array>, bytesMax: number): Promise<void>;
  stat(key: string): Promise<{ size: number; modifiedAt: Date } | undefined>;
  /** Both ends of `range` are read. Throws FILE_NOT_FOUND, as `readAll` does. */
  read(key: string, range?: { start: number; end: number }): Promise<NodeJS.ReadableStream>;
  readAll(key: string): Promise<Buffer>;
  remove(key: string): Promise<void>;
}

export interface FileWriter {
  /** Queues `bytes` (borrowed until the call returns) at the end. False if the disk does not keep up and
   *  there is no room: nothing was taken then. */
  append(bytes: Uint8Array): boolean;
  /** Leaves out so many bytes at the end: they are zeros. For what `append` did not take in time. */
  skip(bytes: number): void;
  /** Replaces bytes at `offset`, in order with the appends. False as with `append`. */
  patch(offset: number, bytes: Uint8Array): boolean;
  /** Of what was appended and skipped. */
  readonly size: number;
  /** Of these, bytes that are not in the file: zeros are in their place. */
  readonly lostBytes: number;
  /** The first error of the disk, once there is one. What comes after it may be written again. */
  readonly error: Error | undefined;
  /** Everything is on the disk then, with `head` over the file's first bytes; with `bytesMax` the file ends
   *  there. Throws the first error (STORE_FULL, RECORDING_FAILED). */
  close(head?: Uint8Array, bytesMax?: number): Promise<void>;
}
