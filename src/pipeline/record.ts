// A call's recording.

/** Where a recording goes, as storage offers it. Nothing here waits: errors show in `error`. */
export interface RecordingFile {
  /** `bytes` is borrowed until the call returns. */
  append(bytes: Uint8Array): void;
  /** Overwrites bytes that were appended before. `bytes` is borrowed until the call returns. */
  patch(offset: number, bytes: Uint8Array): void;
  /** The first failure; the file takes nothing more after it. */
  readonly error: Error | undefined;
  close(): Promise<void>;
}

export interface RecordingSummary {
  seconds: number;
  bytes: number;
}
