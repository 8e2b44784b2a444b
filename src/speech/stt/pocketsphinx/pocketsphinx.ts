// The embedded recogniser: PocketSphinx from the system's packages, in worker threads, with closed grammars only.
// English; it needs no network and no key. pocketsphinx-worker runs in each thread.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import type { ExpectedInput } from '../../../model/expected-input.ts';
import { workerEntry } from '../../../runtime/entry-point.ts';
import {
  type SupervisedWorker,
  startSupervisedWorker,
} from '../../../runtime/supervised-worker.ts';
import type { Clock } from '../../../std/clock.ts';
import type { Recognizer, RecognizerListener, SpeechToText } from '../stt.ts';
import { type CallLine, SphinxCall } from './pocketsphinx-call.ts';
import {
  GIVEN_UP,
  POSTED,
  type SphinxData,
  type SphinxReport,
  type SphinxRequest,
  TAKEN,
} from './pocketsphinx-messages.ts';
import { watchThread } from './thread-watch.ts';
import { createUtteranceSlots } from './utterance-slots.ts';

export interface PocketSphinxOptions {
  log: Log;
  clock: Clock;
  /** Threads; each serves many calls and needs about 130 MB from its first call on. Default 1. */
  workers?: number;
  /** The threads' program; tests pass one that fails. */
  entry?: URL;
}

/** Start of a thread, on a machine that is busy with other starts. */
const START_MS_MAX = 20_000;
/** Calls of one thread: it is fully used when a third of them speak at once. */
const CALLS_MAX = 100;
/** Batches of 100 ms that wait for one thread, from all of its calls: 12 MB. */
const BACKLOG_MAX = 8_000;

/** Undefined, with a log line that has the install command, if the library or its model is missing. */
export async function openPocketSphinx(
  options: PocketSphinxOptions,
): Promise<SpeechToText | undefined> {
  const threads = Array.from({ length: options.workers ?? 1 }, () => openThread(options));
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

interface Thread {
  readonly started: Promise<string>;
  readonly calls: number;
  open(id: number, expectation: ExpectedInput, listener: RecognizerListener): Recognizer;
  close(): Promise<void>;
}

function openThread({ log, clock, entry }: PocketSphinxOptions): Thread {
  const calls = new Map<number, SphinxCall>();
  const data: SphinxData = { counts: new SharedArrayBuffer(4 * (GIVEN_UP + CALLS_MAX)) };
  const counts = new Int32Array(data.counts);
  const slots = createUtteranceSlots(counts, CALLS_MAX);
  let gone = false;
  let announce: (outcome: string) => void = () => undefined;
  const started = new Promise<string>((resolve) => {
    announce = resolve;
  });
  const tooLate = clock.after(START_MS_MAX, () => announce('its thread does not start'));

  function failAll(affected: SphinxCall[], reason: string): void {
    for (const call of affected) call.fail(new GatewayError('STT_FAILED', { reason }));
  }

  const worker: SupervisedWorker<SphinxRequest> = startSupervisedWorker<
    SphinxRequest,
    SphinxReport
  >({
    name: 'pocketsphinx',
    entry: entry ?? workerEntry('./pocketsphinx-worker.ts', import.meta.url),
    data,
    clock,
    log,
    onMessage(message) {
      if (message.kind === 'ready' || message.kind === 'missing') {
        tooLate.cancel();
        // Closed at once: a thread without the library has nothing to do, and its exit is not a crash.
        if (message.kind === 'missing') void worker.close();
        announce(message.kind === 'ready' ? 'ready' : message.reason);
      } else calls.get(message.id)?.report(message);
    },
    onDown(reason, forGood) {
      gone = forGood;
      counts.fill(0);
      watch.restart();
      if (forGood) announce(reason);
      if (forGood) failAll([...calls.values()], reason);
      else for (const call of [...calls.values()]) call.restart(reason);
    },
    onUp() {
      gone = false;
    },
  });
  const watch = watchThread({ clock, counts, calls, onStuck: () => worker.kill('it hangs') });

  return {
    started,
    get calls() {
      return gone ? Number.POSITIVE_INFINITY : calls.size;
    },
    open(id, expectation, listener) {
      if (gone || calls.size >= CALLS_MAX) {
        return refused(listener, gone ? 'its threads keep dying' : 'too many calls');
      }
      const slot = slots.take();
      const line: CallLine = {
        id,
        slot,
        clock,
        log,
        post: worker.post,
        send(samples) {
          if (waiting(counts) >= BACKLOG_MAX) return false;
          Atomics.add(counts, POSTED, 1);
          worker.post({ kind: 'audio', id, samples }, [samples.buffer]);
          return true;
        },
        get isQueued() {
          return [...calls.values()].some((each) => each.waits);
        },
        awaits: () => watch.start(),
        settles: () => watch.settle(),
        leave: () => calls.delete(id) && slot.release(),
      };
      const call = new SphinxCall(line, expectation, listener);
      calls.set(id, call);
      return call;
    },
    async close() {
      tooLate.cancel();
      watch.close();
      failAll([...calls.values()], 'it is closed');
      await worker.close();
    },
  };
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
