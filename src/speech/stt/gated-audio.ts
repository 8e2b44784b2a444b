// Audio gate of a recogniser: passes the caller's audio from shortly before speech to its end, in batches. Its owner
// does the voice activity detection (VAD) and reports the beginning and end.

export interface GatedAudio {
  readonly open: boolean;
  /** Adds a frame, 8 kHz, any length; borrowed. */
  push(frame: Int16Array): void;
  /** Speech began. Sends the pre-roll at once. */
  start(): void;
  /** Sends an incomplete batch. */
  flush(): void;
  /** Speech ended. Sends the rest. */
  stop(): void;
}

/** Pre-roll. Voice is detected up to 200 ms late, and the first consonant may be quiet. */
const BEFORE_SAMPLES = 4_000;
/** Batch of 100 ms: one message to a thread for five frames. */
const BATCH_SAMPLES = 800;

/** `send` owns the samples that it receives. */
export function createGatedAudio(send: (samples: Int16Array<ArrayBuffer>) => void): GatedAudio {
  /** A circular buffer; `at` is the index of the oldest sample once it is full. */
  const before = new Int16Array(BEFORE_SAMPLES);
  let at = 0;
  let held = 0;
  let batch = new Int16Array(BATCH_SAMPLES);
  let filled = 0;
  let open = false;

  function remember(frame: Int16Array): void {
    const part = frame.length > BEFORE_SAMPLES ? frame.subarray(-BEFORE_SAMPLES) : frame;
    const first = Math.min(part.length, BEFORE_SAMPLES - at);
    before.set(first === part.length ? part : part.subarray(0, first), at);
    if (first < part.length) before.set(part.subarray(first), 0);
    at = (at + part.length) % BEFORE_SAMPLES;
    held = Math.min(BEFORE_SAMPLES, held + part.length);
  }

  function collect(frame: Int16Array): void {
    for (let from = 0; from < frame.length; ) {
      const count = Math.min(frame.length - from, BATCH_SAMPLES - filled);
      const whole = from === 0 && count === frame.length;
      batch.set(whole ? frame : frame.subarray(from, from + count), filled);
      filled += count;
      from += count;
      if (filled === BATCH_SAMPLES) flush();
    }
  }

  function flush(): void {
    if (filled === 0) return;
    const full = filled === BATCH_SAMPLES ? batch : batch.slice(0, filled);
    batch = new Int16Array(BATCH_SAMPLES);
    filled = 0;
    send(full);
  }

  function recall(): Int16Array<ArrayBuffer> {
    const past = new Int16Array(held);
    const oldest = held < BEFORE_SAMPLES ? 0 : at;
    past.set(before.subarray(oldest, held));
    past.set(before.subarray(0, oldest), held - oldest);
    return past;
  }

  return {
    get open() {
      return open;
    },
    push(frame) {
      if (open) collect(frame);
      else remember(frame);
    },
    start() {
      if (open) return;
      open = true;
      if (held > 0) send(recall());
      held = 0;
      at = 0;
    },
    flush,
    stop() {
      if (!open) return;
      open = false;
      flush();
    },
  };
}
