// Worker threads that run flite, and their queues of sentences: sentences that callers wait for come first, then lines
// rendered ahead. Requests for the same sentence share one rendering.

import { strict as assert } from 'node:assert';
import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import {
  type SupervisedWorker,
  startSupervisedWorker,
} from '../../../runtime/supervised-worker.ts';
import { processorMsOf, ThreadWork } from '../../../runtime/thread-work.ts';
import type { Clock, Timer } from '../../../std/clock.ts';
import type { CachedSpeech } from '../prompt-cache.ts';
import type { FliteData, FliteJob, FliteSpeech } from './flite-worker.ts';

export interface FlitePoolOptions {
  /** Largest number of threads. The first starts at once, the others when sentences wait. */
  workers: number;
  entry: URL;
  data: Omit<FliteData, 'threadId'>;
  clock: Clock;
  log: Log;
  /** Called after each rendering, even if every request for it has timed out or was aborted. */
  onRendered?(voice: string, text: string, speech: CachedSpeech): void;
}

export interface SpeakLimits {
  deadlineMs: number;
  /** Later deadline on a machine that keeps the threads waiting. Default: `deadlineMs`. */
  patienceMs?: number;
  signal: AbortSignal;
  /** Whether no caller waits for it yet. */
  isAhead?: boolean;
}

/** Different sentences that wait for a thread, 50 ms each. With more, the last would be seconds late. */
const QUEUE_MAX = 64;
/** Different lines that are rendered ahead: those of some dozens of agents. */
const QUEUE_AHEAD_MAX = 512;
/** Longest text: more than half a minute of speech. The caller splits longer text into sentences. */
const TEXT_CHARS_MAX = 1_000;
/** Longest work on a sentence: 50 to 150 ms, or fifty times that where the system does not report a thread's processor
 *  time and no core is free. After that the thread hangs. */
const WORK_MS_MAX = 12_000;
/** Interval at which a working thread and a late request are looked at. */
const LOOK_MS = 500;
/** Share of a core with which the threads count as served: on a machine that gives them less, a request waits on. */
const SERVED_SHARE = 0.5;

/** Deadline for a thread's start with its first sentence, on a machine that is busy with other work. */
export const START_MS_MAX = 60_000;
const WARM_UP = { text: 'Hello.', voice: 'slt' };

/** Rendering of one sentence, shared by all its requests. */
interface Rendering {
  message: FliteJob;
  key: string;
  workMsMax: number;
  requests: Set<Request>;
}

interface Request {
  resolve(speech: CachedSpeech): void;
  reject(error: unknown): void;
}

export class FlitePool {
  readonly #options: FlitePoolOptions;
  readonly #needed: Rendering[] = [];
  readonly #ahead: Rendering[] = [];
  /** Waiting and running renderings, by voice and text. */
  readonly #renderings = new Map<string, Rendering>();
  readonly #threads: Thread[] = [];
  #lastId = 0;
  #isClosed = false;

  constructor(options: FlitePoolOptions) {
    this.#options = options;
    this.#threads.push(this.#open());
  }

  /** Renders a sentence. Rejects with TTS_*, or with the signal's reason. */
  async speak(what: { text: string; voice: string }, limits: SpeakLimits): Promise<CachedSpeech> {
    if (this.#isClosed) throw closedFault();
    const { deadlineMs, signal } = limits;
    const rendering = this.#renderingOf(what, limits);
    const { request, speech } = openRequest();
    rendering.requests.add(request);
    const fail = (error: unknown) => {
      this.#leave(rendering, request);
      request.reject(error);
    };
    const onAbort = () => fail(signal.reason);
    const deadline = this.#deadline(limits, () =>
      fail(new GatewayError('TTS_TIMEOUT', { deadlineMs })),
    );
    signal.addEventListener('abort', onAbort, { once: true });
    this.#next();
    try {
      return await speech;
    } finally {
      deadline.cancel();
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Whether the sentence waits for a thread or is being rendered. */
  isUnderWay(what: { text: string; voice: string }): boolean {
    return this.#renderings.has(keyOf(what));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const error = closedFault();
    this.#rejectAll(error);
    await Promise.all(this.#threads.map((thread) => thread.close(error)));
  }

  /** Calls `fail` at the deadline, or later if the machine has kept the threads waiting. */
  #deadline({ deadlineMs, patienceMs = deadlineMs }: SpeakLimits, fail: () => void): Timer {
    const { clock } = this.#options;
    const latestMs = clock.monotonicMs() + patienceMs;
    const before = this.#processorMs;
    const look = (): void => {
      const isServed = this.#processorMs - before >= deadlineMs * SERVED_SHARE;
      const isKnown = this.#threads.some(({ processorMs }) => processorMs !== undefined);
      if (isServed || !isKnown || clock.monotonicMs() >= latestMs) fail();
      else timer = clock.after(LOOK_MS, look);
    };
    let timer = clock.after(deadlineMs, look);
    return { cancel: () => timer.cancel() };
  }

  /** Processor time of all threads, as far as the system reports it. */
  get #processorMs(): number {
    return this.#threads.reduce((sum, { processorMs = 0 }) => sum + processorMs, 0);
  }

  #open(): Thread {
    return openThread(this.#options, {
      onFree: () => this.#next(),
      onEnd: ({ key }) => this.#renderings.delete(key),
    });
  }

  #next(): void {
    if (this.#isClosed) return;
    if (this.#threads.every((thread) => thread.state === 'dead')) {
      this.#rejectAll(new GatewayError('TTS_UNAVAILABLE', { reason: 'its workers keep dying' }));
      return;
    }
    const thread = this.#threads.find((each) => each.state === 'idle');
    if (thread === undefined) {
      if (this.#needed.length + this.#ahead.length > 0) this.#addThread();
      return;
    }
    const rendering = this.#needed.shift() ?? this.#ahead.shift();
    if (rendering !== undefined) thread.start(rendering);
  }

  /** Starts a thread. This takes tenths of a second; meanwhile the other threads serve the queue. */
  #addThread(): void {
    if (this.#threads.length >= this.#options.workers) return;
    const thread = this.#open();
    this.#threads.push(thread);
    const message = { id: ++this.#lastId, ...WARM_UP };
    thread.start({ message, key: '', workMsMax: START_MS_MAX, requests: new Set() });
  }

  #rejectAll(error: GatewayError): void {
    for (const rendering of [...this.#needed.splice(0), ...this.#ahead.splice(0)]) {
      this.#renderings.delete(rendering.key);
      settle(rendering, { error });
    }
  }

  /** Removes a rendering from its queue. Returns whether it waited. */
  #dequeue(rendering: Rendering): boolean {
    for (const queue of [this.#needed, this.#ahead]) {
      const index = queue.indexOf(rendering);
      if (index < 0) continue;
      queue.splice(index, 1);
      return true;
    }
    return false;
  }

  #leave(rendering: Rendering, request: Request): void {
    rendering.requests.delete(request);
    if (rendering.requests.size > 0 || !this.#dequeue(rendering)) return;
    this.#renderings.delete(rendering.key);
  }

  /** The waiting or running rendering of this text, or a new one. Throws TTS_* if the queue is full. */
  #renderingOf(what: { text: string; voice: string }, limits: SpeakLimits): Rendering {
    const { text, voice } = what;
    const key = keyOf(what);
    const isAhead = limits.isAhead === true;
    const found = this.#renderings.get(key);
    if (found !== undefined) {
      if (!isAhead && this.#ahead.includes(found)) {
        this.#dequeue(found);
        this.#needed.push(found);
      }
      return found;
    }
    if (text.length > TEXT_CHARS_MAX) {
      throw new GatewayError('TTS_FAILED', { reason: 'the text is too long' });
    }
    const queue = isAhead ? this.#ahead : this.#needed;
    if (queue.length >= (isAhead ? QUEUE_AHEAD_MAX : QUEUE_MAX)) {
      throw new GatewayError('TTS_UNAVAILABLE', { reason: 'too many sentences wait' });
    }
    const message = { id: ++this.#lastId, text, voice };
    // A line that is rendered ahead may wait for long, but takes no longer than others once it is started.
    const workMsMax = isAhead ? WORK_MS_MAX : Math.max(limits.deadlineMs, WORK_MS_MAX);
    const rendering = { message, key, workMsMax, requests: new Set<Request>() };
    this.#renderings.set(key, rendering);
    queue.push(rendering);
    return rendering;
  }
}

function keyOf({ text, voice }: { text: string; voice: string }): string {
  return `${voice}\n${text.replace(/\s+/g, ' ').trim()}`;
}

function closedFault(): GatewayError {
  return new GatewayError('TTS_UNAVAILABLE', { reason: 'it is closed' });
}

function openRequest(): { request: Request; speech: Promise<CachedSpeech> } {
  let request: Request | undefined;
  const speech = new Promise<CachedSpeech>((resolve, reject) => {
    request = { resolve, reject };
  });
  assert(request !== undefined, 'a promise calls its executor at once');
  return { request, speech };
}

function settle(
  { requests }: Rendering,
  outcome: { speech: CachedSpeech } | { error: GatewayError },
): void {
  for (const request of requests) {
    if ('speech' in outcome) request.resolve(outcome.speech);
    else request.reject(outcome.error);
  }
}

interface Thread {
  readonly state: 'idle' | 'busy' | 'dead';
  /** Undefined if the system does not report it. */
  readonly processorMs: number | undefined;
  start(rendering: Rendering): void;
  close(error: GatewayError): Promise<void>;
}

interface ThreadListener {
  /** The thread is free, or has died too often. */
  onFree(): void;
  /** The rendering is over, with any result. */
  onEnd(rendering: Rendering): void;
}

function openThread(options: FlitePoolOptions, listener: ThreadListener): Thread {
  const { clock } = options;
  const threadId = new Int32Array(new SharedArrayBuffer(4));
  const processorMs = () => processorMsOf(Atomics.load(threadId, 0));
  const work = new ThreadWork(clock, processorMs);
  let current: Rendering | undefined;
  let hang: Timer | undefined;
  let dead = false;

  function watch(workMsMax: number): void {
    hang = clock.after(LOOK_MS, () => {
      if (work.isStuck(workMsMax)) worker.kill('a sentence took too long');
      else watch(workMsMax);
    });
  }

  function take(): Rendering | undefined {
    const rendering = current;
    current = undefined;
    hang?.cancel();
    if (rendering !== undefined) listener.onEnd(rendering);
    return rendering;
  }

  function finish(outcome: Parameters<typeof settle>[1]): void {
    const rendering = take();
    if (rendering === undefined) return;
    const { voice, text } = rendering.message;
    if ('speech' in outcome) options.onRendered?.(voice, text, outcome.speech);
    settle(rendering, outcome);
  }

  const worker: SupervisedWorker<FliteJob> = startSupervisedWorker<FliteJob, FliteSpeech>({
    ...options,
    data: { ...options.data, threadId: threadId.buffer },
    name: 'flite',
    onMessage({ speech, failure }) {
      const reason = failure;
      finish(speech ? { speech } : { error: new GatewayError('TTS_FAILED', { reason }) });
      listener.onFree();
    },
    onDown(reason, forGood) {
      dead = forGood;
      Atomics.store(threadId, 0, 0);
      finish({ error: new GatewayError('TTS_FAILED', { reason }) });
      listener.onFree();
    },
    onUp() {
      dead = false;
      listener.onFree();
    },
  });

  return {
    get state() {
      if (dead) return 'dead';
      return current === undefined ? 'idle' : 'busy';
    },
    get processorMs() {
      return processorMs();
    },
    start(rendering) {
      current = rendering;
      work.progressed();
      watch(rendering.workMsMax);
      worker.post(rendering.message);
    },
    close(error) {
      finish({ error });
      return worker.close();
    },
  };
}
