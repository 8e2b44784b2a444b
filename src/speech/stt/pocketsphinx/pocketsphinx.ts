// The embedded recogniser: PocketSphinx from the system's packages, in worker threads, with closed grammars only.
// English; it needs no network and no key. pocketsphinx-worker runs in each thread.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { serviceSeconds } from '../../../metrics/metrics.ts';
import type { ExpectedInput } from '../../../model/expected-input.ts';
import { workerEntry } from '../../../runtime/entry-point.ts';
import {
  type SupervisedWorker,
  startSupervisedWorker,
} from '../../../runtime/supervised-worker.ts';
import type { Clock, Timer } from '../../../std/clock.ts';
import { createGatedAudio } from '../gated-audio.ts';
import type { Recognizer, RecognizerListener, SpeechToText } from '../stt.ts';
import type { SphinxData, SphinxReport, SphinxRequest } from './pocketsphinx-worker.ts';

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
/** Batches of 100 ms that wait for one thread: beyond 10 s of audio the words would come too late. */
const BACKLOG_MAX = 100;
/** From the end of an utterance to its words. */
const FINAL_MS_MAX = 3_000;

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
    capabilities: { interimWords: true, finalMsP99: 400, closedOnly: true },
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

/** A thread's message to one call. */
interface Call {
  /** An utterance is in progress, or its words are awaited. */
  readonly busy: boolean;
  /** Sends the expected input to a new thread. */
  introduce(): void;
  report(message: SphinxReport): void;
  fail(error: GatewayError): void;
}

/** The part of a thread that a call uses. */
interface CallLine {
  id: number;
  clock: Clock;
  log: Log;
  post(request: SphinxRequest): void;
  /** False if the queue is full. */
  send(samples: Int16Array<ArrayBuffer>): boolean;
  hangs(): void;
  leave(): void;
}

function openThread({ log, clock, entry }: PocketSphinxOptions): Thread {
  const calls = new Map<number, Call>();
  const data: SphinxData = { taken: new SharedArrayBuffer(4) };
  const taken = new Int32Array(data.taken);
  let posted = 0;
  let gone = false;
  let announce: (outcome: string) => void = () => undefined;
  const started = new Promise<string>((resolve) => {
    announce = resolve;
  });
  const tooLate = clock.after(START_MS_MAX, () => announce('its thread does not start'));

  function failAll(affected: Call[], reason: string): void {
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
      posted = 0;
      Atomics.store(taken, 0, 0);
      if (forGood) announce(reason);
      const all = [...calls.values()];
      failAll(forGood ? all : all.filter((call) => call.busy), reason);
      for (const call of calls.values()) call.introduce();
    },
  });

  return {
    started,
    get calls() {
      return gone ? Number.POSITIVE_INFINITY : calls.size;
    },
    open(id, expectation, listener) {
      if (gone || calls.size >= CALLS_MAX) {
        return refused(listener, gone ? 'its threads keep dying' : 'too many calls');
      }
      const line: CallLine = {
        id,
        clock,
        log,
        post: worker.post,
        send(samples) {
          if (posted - Atomics.load(taken, 0) >= BACKLOG_MAX) return false;
          posted += 1;
          worker.post({ kind: 'audio', id, samples }, [samples.buffer]);
          return true;
        },
        hangs: () => worker.kill('it gave no words in time'),
        leave: () => calls.delete(id),
      };
      const { call, recognizer } = openCall(line, expectation, listener);
      calls.set(id, call);
      return recognizer;
    },
    async close() {
      tooLate.cancel();
      failAll([...calls.values()], 'it is closed');
      await worker.close();
    },
  };
}

function refused(listener: RecognizerListener, reason: string): Recognizer {
  queueMicrotask(() => listener.onError(new GatewayError('STT_UNAVAILABLE', { reason })));
  const nothing = () => undefined;
  const recognizer = { push: nothing, speechStarted: nothing, finalize: nothing, expect: nothing };
  return { ...recognizer, close: nothing };
}

function openCall(
  line: CallLine,
  firstExpectation: ExpectedInput,
  listener: RecognizerListener,
): { call: Call; recognizer: Recognizer } {
  const { id, clock, log } = line;
  let expectation = firstExpectation;
  let droppedBatches = 0;
  let over = false;
  /** One for each utterance whose words are awaited, oldest first. */
  const awaited: { sinceMs: number; deadline: Timer }[] = [];
  const audio = createGatedAudio((samples) => {
    if (!line.send(samples)) droppedBatches += 1;
  });

  function introduce(): void {
    line.post({ kind: 'expect', id, expectation });
  }

  function end(): void {
    over = true;
    for (const { deadline } of awaited) deadline.cancel();
    line.leave();
  }

  function finalWords(text: string, confidence: number | null): void {
    const utterance = awaited.shift();
    if (utterance === undefined) return;
    utterance.deadline.cancel();
    const seconds = (clock.monotonicMs() - utterance.sinceMs) / 1_000;
    serviceSeconds.observe({ kind: 'stt', service: 'pocketsphinx', result: 'ok' }, seconds);
    listener.onFinal({ text, confidence });
  }

  const call: Call = {
    get busy() {
      return audio.open || awaited.length > 0;
    },
    introduce,
    report(message) {
      if (message.kind === 'partial') {
        listener.onPartial({ text: message.text, confidence: null });
      } else if (message.kind === 'final') finalWords(message.text, message.confidence);
      else if (message.kind === 'failed') {
        call.fail(new GatewayError('STT_FAILED', { reason: message.reason }));
      } else if (message.kind === 'warned') {
        const { warnings } = message;
        log.warn({ warnings, count: warnings.length }, 'phrases that cannot be recognised');
      }
    },
    fail(error) {
      end();
      serviceSeconds.observe({ kind: 'stt', service: 'pocketsphinx', result: error.code }, 0);
      listener.onError(error);
    },
  };

  introduce();
  const recognizer: Recognizer = {
    push(frame) {
      if (!over) audio.push(frame);
    },
    speechStarted() {
      if (over || audio.open) return;
      line.post({ kind: 'start', id });
      audio.start();
    },
    finalize() {
      if (over) return;
      const deadline = clock.after(FINAL_MS_MAX, line.hangs);
      awaited.push({ sinceMs: clock.monotonicMs(), deadline });
      audio.stop();
      line.post({ kind: 'finish', id });
      if (droppedBatches > 0) log.warn({ droppedBatches }, 'recogniser too slow, audio dropped');
      droppedBatches = 0;
    },
    expect(next) {
      // Threads process messages in order: the utterance in progress is decoded with the grammar it began with.
      expectation = next;
      if (!over) line.post({ kind: 'expect', id, expectation });
    },
    close() {
      if (over) return;
      end();
      line.post({ kind: 'close', id });
    },
  };
  return { call, recognizer };
}
