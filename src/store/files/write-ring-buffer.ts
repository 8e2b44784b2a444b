// The write ring buffer: memory shared by the event loop and the thread that writes the files of all calls. One side
// queues (write-queue), the other writes (write-worker); neither waits for the other.

/** Queued operations, two for each second of a recording: 8 seconds of a thousand calls. A power of two. */
const OPERATIONS_MAX = 16_384;

/** Number of ints in an operation. */
const FIELDS = 6;
export const RING_FIELD = {
  file: 0,
  descriptor: 1,
  from: 2,
  length: 3,
  isPatch: 4,
  error: 5,
} as const;

/** Ints with the progress of both sides. The first two are counters that overflow. */
export const RING_STATE = { queued: 0, done: 1, wakeUps: 2, openFiles: 3, closings: 4 } as const;

/** Buffers in the form that is passed to the thread. */
export interface SharedWrites {
  state: SharedArrayBuffer;
  operations: SharedArrayBuffer;
  positions: SharedArrayBuffer;
  bytes: SharedArrayBuffer;
}

/** Writes `bytes` at `position`, or some of them from the start; returns how many. Throws system errors. */
export type WriteAt = (descriptor: number, bytes: Uint8Array, position: number) => number;

/** Allocates the buffers. `bytesMax` is memory that is used only as far as writes pile up. */
export function shareWrites(bytesMax: number): SharedWrites {
  return {
    state: new SharedArrayBuffer(Object.keys(RING_STATE).length * Int32Array.BYTES_PER_ELEMENT),
    operations: new SharedArrayBuffer(OPERATIONS_MAX * FIELDS * Int32Array.BYTES_PER_ELEMENT),
    positions: new SharedArrayBuffer(OPERATIONS_MAX * Float64Array.BYTES_PER_ELEMENT),
    bytes: new SharedArrayBuffer(bytesMax),
  };
}

export class WriteRingBuffer {
  readonly operationsMax = OPERATIONS_MAX;
  readonly state: Int32Array;
  readonly bytes: Uint8Array;
  readonly #operations: Int32Array;
  /** Positions, which may exceed 32 bits. */
  readonly #positions: Float64Array;

  constructor(shared: SharedWrites) {
    this.state = new Int32Array(shared.state);
    this.bytes = new Uint8Array(shared.bytes);
    this.#operations = new Int32Array(shared.operations);
    this.#positions = new Float64Array(shared.positions);
  }

  /** One field of an operation. `nth`: a count of RING_STATE. */
  field(nth: number, field: number): number {
    return this.#operations[(nth & (OPERATIONS_MAX - 1)) * FIELDS + field] as number;
  }

  setField(nth: number, field: number, value: number): void {
    this.#operations[(nth & (OPERATIONS_MAX - 1)) * FIELDS + field] = value;
  }

  setPosition(nth: number, position: number): void {
    this.#positions[nth & (OPERATIONS_MAX - 1)] = position;
  }

  /** Carries out the oldest queued operation. False if there is none. */
  dequeue(write: WriteAt): boolean {
    const nth = Atomics.load(this.state, RING_STATE.done);
    if (nth === Atomics.load(this.state, RING_STATE.queued)) return false;
    const from = this.field(nth, RING_FIELD.from);
    const bytes = this.bytes.subarray(from, from + this.field(nth, RING_FIELD.length));
    const position = this.#positions[nth & (OPERATIONS_MAX - 1)] as number;
    const error = writeAll(write, this.field(nth, RING_FIELD.descriptor), bytes, position);
    this.setField(nth, RING_FIELD.error, error);
    Atomics.store(this.state, RING_STATE.done, (nth + 1) | 0);
    return true;
  }
}

/** Writes all bytes. Returns 0, or the negative number of the system's error. */
function writeAll(write: WriteAt, descriptor: number, bytes: Uint8Array, position: number): number {
  try {
    for (let done = 0; done < bytes.length; ) {
      const count = write(descriptor, bytes.subarray(done), position + done);
      if (count <= 0) return UNKNOWN_ERROR;
      done += count;
    }
    return 0;
  } catch (error) {
    const isNumbered = error instanceof Error && 'errno' in error;
    return isNumbered && typeof error.errno === 'number' ? error.errno : UNKNOWN_ERROR;
  }
}

/** Error number that no system has. */
export const UNKNOWN_ERROR = -1_000_000;
