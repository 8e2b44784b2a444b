// Embedded recogniser: PocketSphinx from the system's packages, in worker threads, with closed grammars only. English;
// needs neither network nor key. pocketsphinx-worker runs in each thread.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import type { ExpectedInput } from '../../../model/expected-input.ts';
import { workerEntry } from '../../../runtime/entry-point.ts';
import {
  type SupervisedWorker,
  startSupervisedWorker,
} from '../../../runtime/supervised-worker.ts';
import { processorMsOf, ThreadWork } from '../../../runtime/thread-work.ts';
import type { Clock, Timer } from '../../../std/clock.ts';
import type { Recognizer, RecognizerListener, SpeechToText } from '../stt.ts';
import { type CallLine, SphinxCall } from './pocketsphinx-call.ts';
import {
  GIVEN_UP,
  HANDLED,
  POSTED,
  type SphinxData,
  type SphinxReport,
  type SphinxRequest,
  TAKEN,
  THREAD,
} from './pocketsphinx-messages.ts';
import { createUtteranceSlots, type UtteranceSlots } from './utterance-slots.ts';

interface PocketSphinxOptions {
  log: Log;
  clock: Clock;
  /** Number of threads. Each serves many calls and needs about 130 MB after its first call. Default 1. */
  workers?: number;
  /** Program of the threads. Tests replace it with one that fails. */
  entry?: URL;
}

/** Deadline for a thread's start, on a machine that is busy with other work. */
const START_MS_MAX = 60_000;
/** Calls of one thread. It is at its limit when a third of them speak at once. */
const CALLS_MAX = 100;
/** Batches of 100 ms that wait for one thread, from all of its calls: 12 MB. */
const BACKLOG_MAX = 8_000;

/** Opens the recogniser. If the library or its model is missing, logs the install command and returns undefined. */
export async function openPocketSphinx(
  options: PocketSphinxOptions,
): Promise<SpeechToText | undefined> {
  const threads = Array.from({ length: options.workers ?? 1 }, () => new SphinxThread(options));
  const outcomes = await Promise.all(threads.map((thread) => thread.started));
  const problem = outcomes.find((outcome) => outcome !== 'ready');
  if (problem !== undefined) {
    const command = 'apt install libpocketsphinx3 pocketsphinx-en-us';
    options.log.warn({ reason: problem, command }, 'no embedded speech recognition, keypad only');
    await Promise.all(threads.map((thread) => thread.close()));
    return undefined;
  }
  let lastId = 0;
  return {
    name: 'pocketsphinx',
    model: 'en-us',
    capabilities: { interimWords: true, finalMsP99: 300, closedOnly: true },
    open(expectation, listener) {
      const thread = threads.reduce((best, each) => (each.calls < best.calls ? each : best));
      lastId += 1;
      return thread.open(lastId, expectation, listener);
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}

/** One thread with its calls. */
class SphinxThread {
  /** Resolves with `ready` or with the reason why the thread cannot recognise. */
  readonly started: Promise<string>;
  #announce: (outcome: string) => void = () => undefined;
  #isGone = false;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #calls = new Map<number, SphinxCall>();
  readonly #counts: Int32Array;
  readonly #slots: UtteranceSlots;
  readonly #tooLate: Timer;
  readonly #watch: ReturnType<typeof watchThread>;
  readonly #worker: SupervisedWorker<SphinxRequest>;

  constructor({ log, clock, entry }: PocketSphinxOptions) {
    this.#clock = clock;
    this.#log = log;
    const data: SphinxData = { counts: new SharedArrayBuffer(4 * (GIVEN_UP + CALLS_MAX)) };
    const counts = new Int32Array(data.counts);
    this.#counts = counts;
    this.#slots = createUtteranceSlots(counts, CALLS_MAX);
    this.started = new Promise<string>((resolve) => {
      this.#announce = resolve;
    });
    this.#tooLate = clock.after(START_MS_MAX, () => this.#announce('its thread does not start'));
    this.#worker = startSupervisedWorker<SphinxRequest, SphinxReport>({
      name: 'pocketsphinx',
      entry: entry ?? workerEntry('./pocketsphinx-worker.ts', import.meta.url),
      data,
      clock,
      log,
      onMessage: (message) => this.#take(message),
      onDown: (reason, forGood) => this.#down(reason, forGood),
      onUp: () => {
        this.#isGone = false;
      },
    });
    const onStuck = (): void => this.#worker.kill('it hangs');
    this.#watch = watchThread({ clock, counts, calls: this.#calls, onStuck });
  }

  /** Number of calls. Infinity while there is no thread. */
  get calls(): number {
    return this.#isGone ? Number.POSITIVE_INFINITY : this.#calls.size;
  }

  open(id: number, expectation: ExpectedInput, listener: RecognizerListener): Recognizer {
    if (this.#isGone) return refused(listener, 'its threads keep dying');
    if (this.#calls.size >= CALLS_MAX) return refused(listener, 'too many calls');
    const call = new SphinxCall(this.#lineOf(id), expectation, listener);
    this.#calls.set(id, call);
    return call;
  }

  async close(): Promise<void> {
    this.#tooLate.cancel();
    this.#watch.close();
    this.#failAll('it is closed');
    await this.#worker.close();
  }

  #lineOf(id: number): CallLine {
    const slot = this.#slots.take();
    const calls = this.#calls;
    return {
      id,
      slot,
      clock: this.#clock,
      log: this.#log,
      post: this.#worker.post,
      send: (samples) => this.#send(id, samples),
      get isQueued() {
        return [...calls.values()].some((each) => each.waits);
      },
      awaits: () => this.#watch.start(),
      settles: () => this.#watch.settle(),
      leave: () => calls.delete(id) && slot.release(),
    };
  }

  /** Sends audio. Returns false if the queue is full. */
  #send(id: number, samples: Int16Array<ArrayBuffer>): boolean {
    if (waiting(this.#counts) >= BACKLOG_MAX) return false;
    Atomics.add(this.#counts, POSTED, 1);
    this.#worker.post({ kind: 'audio', id, samples }, [samples.buffer]);
    return true;
  }

  #take(message: SphinxReport): void {
    if (message.kind !== 'ready' && message.kind !== 'missing') {
      this.#calls.get(message.id)?.report(message);
      return;
    }
    this.#tooLate.cancel();
    // Closed at once: a thread without the library is useless, and its exit is not a crash.
    if (message.kind === 'missing') void this.#worker.close();
    this.#announce(message.kind === 'ready' ? 'ready' : message.reason);
  }

  #down(reason: string, forGood: boolean): void {
    this.#isGone = forGood;
    this.#counts.fill(0);
    this.#watch.restart();
    if (forGood) this.#announce(reason);
    if (forGood) this.#failAll(reason);
    else for (const call of [...this.#calls.values()]) call.restart(reason);
  }

  #failAll(reason: string): void {
    for (const call of [...this.#calls.values()]) {
      call.fail(new GatewayError('STT_FAILED', { reason }));
    }
  }
}

function waiting(counts: Int32Array): number {
  return Atomics.load(counts, POSTED) - Atomics.load(counts, TAKEN);
}

function refused(listener: RecognizerListener, reason: string): Recognizer {
  queueMicrotask(() => listener.onError(new GatewayError('STT_UNAVAILABLE', { reason })));
  const nothing = () => undefined;
  const recognizer = { push: nothing, speechStarted: nothing, finalize: nothing, expect: nothing };
  return { ...recognizer, close: nothing };
}

/** A thread that works for this long without having processed a message hangs: the longest decoding takes a second. */
const STUCK_MS = 3_000;
/** Work before its first message: the thread reads the model and the dictionary, which takes a second. */
const LOADING_MS_MAX = 20_000;
/** Interval at which the watchdog examines a thread with work and reports the delay to the thread's calls. */
const CHECK_MS = 250;

/** Watches a thread while words are awaited. A thread that processes messages is busy; one that works and processes
 *  none hangs. `processorMs`: of the thread. */
export function watchThread(options: {
  clock: Clock;
  counts: Int32Array;
  calls: ReadonlyMap<number, Pick<SphinxCall, 'waits' | 'check'>>;
  onStuck: () => void;
  processorMs?: () => number | undefined;
}) {
  const { clock, counts, calls, onStuck } = options;
  const processorMs = options.processorMs ?? (() => processorMsOf(Atomics.load(counts, THREAD)));
  const work = new ThreadWork(clock, processorMs);
  let timer: Timer | undefined;
  let handled = 0;
  let isClosed = false;

  const isAwaited = () => [...calls.values()].some((call) => call.waits);

  /** Checks the thread. Calls may begin and end in `call.check`, and the watch may be closed there. */
  function check(): void {
    const nowHandled = Atomics.load(counts, HANDLED);
    if (nowHandled !== handled) work.progressed();
    handled = nowHandled;
    for (const call of [...calls.values()]) call.check();
    timer?.cancel();
    timer = undefined;
    if (isClosed || !isAwaited()) return;
    if (work.isStuck(handled === 0 ? LOADING_MS_MAX : STUCK_MS)) {
      work.progressed();
      onStuck();
    }
    timer = clock.after(CHECK_MS, check);
  }

  return {
    /** A call awaits words. */
    start(): void {
      if (timer !== undefined || isClosed) return;
      work.progressed();
      timer = clock.after(CHECK_MS, check);
    },
    /** A call awaits no words any more. */
    settle(): void {
      if (isAwaited()) return;
      timer?.cancel();
      timer = undefined;
    },
    restart(): void {
      handled = 0;
      work.progressed();
    },
    close(): void {
      isClosed = true;
      timer?.cancel();
      timer = undefined;
    },
  };
}
