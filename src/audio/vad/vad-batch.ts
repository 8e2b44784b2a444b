// Batches the windows of all streams: a window waits up to 5 ms for others, because the kernel reads its weights once
// per batch. With few open streams batching has no benefit, and each window runs at once.

import { GatewayError } from '../../errors/gateway-error.ts';
import { vadWindows } from '../../metrics/metrics.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import type { VadListener, VadModel, VadStream } from './vad.ts';
import {
  BATCH_MAX,
  CONTEXT_SAMPLES,
  INPUT_SAMPLES,
  type VadKernel,
  WINDOW_SAMPLES,
} from './vad-kernel.ts';

/** Longest extra delay of a window, as long as the process keeps up. A hundred streams bring 15 windows in this
 *  time; the kernel is at its best from a dozen on. */
const WAIT_MS = 5;
/** Up to this many streams, a batch would have fewer than two windows. */
const ALONE_STREAMS_MAX = 8;

/** Streams on `kernel`. Slots of closed streams are used again, last closed first. */
export function batchedVad(kernel: VadKernel, clock: Clock): VadModel {
  const queue = new WindowQueue(kernel, clock);
  const { name, instructions } = kernel;
  return { kernel: name, instructions, open: (listener) => queue.open(listener) };
}

interface Waiting {
  /** Context and window, in samples. */
  readonly sound: Int16Array;
  stream: Stream | undefined;
  endMs: number;
  /** How many earlier windows of its stream are in the queue. */
  round: number;
  probability: number;
}

class WindowQueue {
  readonly #kernel: VadKernel;
  readonly #clock: Clock;
  readonly #waiting = Array.from({ length: BATCH_MAX }, newPlace);
  #count = 0;
  /** The queue entry of each window in the kernel's batch. */
  readonly #order = new Uint16Array(BATCH_MAX);
  #timer: Timer | undefined;
  #running = false;
  #open = 0;
  #skipped = 0;

  constructor(kernel: VadKernel, clock: Clock) {
    this.#kernel = kernel;
    this.#clock = clock;
  }

  open(listener: VadListener): VadStream {
    const slot = this.#kernel.free.pop();
    if (slot === undefined) throw new GatewayError('QUEUE_FULL', { queue: 'of VAD streams' });
    this.#kernel.clear(slot);
    this.#open++;
    return new Stream(this, slot, listener);
  }

  push(stream: Stream, window: Int16Array, endMs: number): void {
    if (this.#running || this.#open <= ALONE_STREAMS_MAX) {
      this.run();
      this.#hearNow(stream, window, endMs);
      return;
    }
    const place = this.#waiting[this.#count++] as Waiting;
    stream.listenTo(window, place.sound);
    place.stream = stream;
    place.endMs = endMs;
    place.round = stream.waiting++;
    if (this.#count === BATCH_MAX) this.run();
    else this.#timer ??= this.#clock.after(WAIT_MS, this.run);
  }

  skip(): void {
    this.#skipped++;
  }

  clear(stream: Stream): void {
    if (stream.waiting > 0) this.run();
    this.#kernel.clear(stream.slot);
  }

  close(stream: Stream): void {
    this.#open--;
    this.#kernel.free.push(stream.slot);
  }

  /** Runs all queued windows, then reports the results: a listener may open, push and close. */
  readonly run = (): void => {
    if (this.#running || this.#count === 0) return;
    this.#running = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    for (let round = 0, left = this.#count; left > 0; round++) left -= this.#hearRound(round);
    for (let i = 0; i < this.#count; i++) {
      const { stream, probability, endMs } = this.#waiting[i] as Waiting;
      stream?.tell(probability, endMs);
    }
    for (let i = 0; i < this.#count; i++) (this.#waiting[i] as Waiting).stream = undefined;
    this.#count = 0;
    this.#running = false;
  };

  /** Runs the first window of each stream, then the second windows and so on. Returns the number of windows that
   *  ran. */
  #hearRound(round: number): number {
    const kernel = this.#kernel;
    let found = 0;
    let count = 0;
    for (let i = 0; i < this.#count; i++) {
      const place = this.#waiting[i] as Waiting;
      if (place.round !== round) continue;
      found++;
      const { stream } = place;
      // The slot of a closed stream may belong to another stream already.
      if (stream === undefined || !stream.isOpen) continue;
      stream.waiting--;
      kernel.windows.set(place.sound, count * INPUT_SAMPLES);
      kernel.slots[count] = stream.slot;
      this.#order[count++] = i;
    }
    if (count > 0) this.#hear(count);
    for (let i = 0; i < count; i++) {
      const place = this.#waiting[this.#order[i] as number] as Waiting;
      place.probability = kernel.probabilities[i] as number;
    }
    return found;
  }

  #hearNow(stream: Stream, window: Int16Array, endMs: number): void {
    const kernel = this.#kernel;
    stream.listenTo(window, kernel.windows);
    kernel.slots[0] = stream.slot;
    this.#hear(1);
    stream.tell(kernel.probabilities[0] as number, endMs);
  }

  #hear(count: number): void {
    this.#kernel.hear(count);
    vadWindows.inc({ outcome: 'heard' }, count);
    vadWindows.inc({ outcome: 'skipped' }, this.#skipped);
    this.#skipped = 0;
  }
}

class Stream implements VadStream {
  readonly slot: number;
  isOpen = true;
  /** Windows in the queue. */
  waiting = 0;
  readonly #queue: WindowQueue;
  readonly #listener: VadListener;
  readonly #context = new Int16Array(CONTEXT_SAMPLES);
  #isBroken = false;

  constructor(queue: WindowQueue, slot: number, listener: VadListener) {
    this.#queue = queue;
    this.slot = slot;
    this.#listener = listener;
  }

  push(window: Int16Array, endMs: number): void {
    this.#assertTakes(window);
    this.#queue.push(this, window, endMs);
  }

  skip(window: Int16Array): void {
    this.#assertTakes(window);
    this.#keepEnd(window);
    this.#queue.skip();
  }

  reset(): void {
    this.#assertOpen();
    this.#queue.clear(this);
    this.#context.fill(0);
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#queue.close(this);
  }

  /** Copies the end of the previous window and this window into `sound`. */
  listenTo(window: Int16Array, sound: Int16Array): void {
    sound.set(this.#context);
    sound.set(window, CONTEXT_SAMPLES);
    this.#keepEnd(window);
  }

  tell(probability: number, endMs: number): void {
    if (!this.isOpen || this.#isBroken) return;
    try {
      this.#listener.onProbability(probability, endMs);
    } catch (error) {
      this.#isBroken = true;
      this.#listener.onBroken(error);
    }
  }

  #keepEnd(window: Int16Array): void {
    const rest = WINDOW_SAMPLES - CONTEXT_SAMPLES;
    for (let i = 0; i < CONTEXT_SAMPLES; i++) this.#context[i] = window[rest + i] as number;
  }

  #assertTakes(window: Int16Array): void {
    this.#assertOpen();
    if (window.length !== WINDOW_SAMPLES) throw new Error('a VAD window has 256 samples');
  }

  #assertOpen(): void {
    if (!this.isOpen) throw new Error('this VAD stream is closed');
  }
}

function newPlace(): Waiting {
  const sound = new Int16Array(INPUT_SAMPLES);
  return { sound, stream: undefined, endMs: 0, round: 0, probability: 0 };
}
