// All calls of one load measurement in one process: places them, keeps them at their 20 ms, hangs them up,
// and sums up what their far ends heard.

import {
  type Caller,
  type CallerLine,
  InterruptingCaller,
  TalkingCaller,
} from './caller/callers.ts';
import { ConversingCaller } from './caller/conversing-caller.ts';
import { FRAME_MS } from './caller/ear.ts';
import { heardNothing } from './caller/heard.ts';
import { LoadCall } from './caller/load-call.ts';
import {
  callerAnswer,
  callerPhrase,
  callerTalk,
  type Phrase,
  silentFrame,
} from './caller/prepared-speech.ts';
import { Histogram } from './figures/histogram.ts';
import { type LoadSummary, summaryOf } from './figures/load-summary.ts';
import { noticedNothing } from './figures/noticed.ts';
import type { Scenario } from './load-options.ts';
import type { Account, MediaTarget, Wire } from './wires/wire.ts';
import { wires } from './wires/wires.ts';

/** Calls are spread over this many turns in 20 ms: real callers are not in step either. */
const SLOTS = 5;
const SLOT_MS = FRAME_MS / SLOTS;
/** Leads the agent on. */
const KEY = '1';
const FAILURES_KEPT = 5;
/** From hanging up to the last connection being gone. */
const LEAVE_MS_MAX = 10_000;
/** From the last words of a caller to the end of their answer. */
const FINISH_MS_MAX = 40_000;

export interface LoadOptions extends Account {
  webhookUrl: string;
  to: string;
  scenario: Scenario;
  calls: number;
  /** New calls a second. */
  callsPerSecond: number;
  /** Goes into call ids: two runs at one gateway must not share any. */
  series: number;
  /** Callers converse about marked words. */
  isConversing: boolean;
  /** Silence after which they take the agent to have finished. */
  pauseMs: number;
  /** By all callers together, in the scenario where they interrupt. */
  interruptionsPerSecond: number;
  leadMs: number;
  /** Lengths of the watermarked clips. */
  clipFrames: number[];
}

export class LoadRun {
  readonly #options: LoadOptions;
  readonly #heard = heardNothing();
  readonly #noticed = noticedNothing();
  readonly #wire: Wire;
  readonly #talk: Phrase;
  readonly #answer: Phrase;
  readonly #silence: Uint8Array;
  readonly #phrase = callerPhrase();
  readonly #slots: LoadCall[][] = Array.from({ length: SLOTS }, () => []);
  readonly #delay = new Histogram();
  readonly #failures: string[] = [];
  /** Words of the callers of a series, by call. */
  readonly #said: [number, number][] = [];
  #placed = 0;
  #refused = 0;
  #dropped = 0;
  #faults = 0;
  #unsentFrames = 0;
  #slot = 0;
  #dueMs = performance.now();
  #timer: NodeJS.Timeout;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#wire = wires[options.provider];
    const { payloadOf } = this.#wire;
    this.#talk = callerTalk(payloadOf);
    this.#answer = callerAnswer(payloadOf);
    this.#silence = silentFrame(payloadOf);
    this.#timer = setTimeout(() => this.#tick(), SLOT_MS);
  }

  /** Places all calls, `callsPerSecond` of them a second. */
  async placeAll(): Promise<void> {
    const startMs = performance.now();
    const placing: Promise<unknown>[] = [];
    for (let i = 0; i < this.#options.calls; i++) {
      placing.push(this.place());
      await sleep(((i + 1) * 1_000) / this.#options.callsPerSecond - (performance.now() - startMs));
    }
    await Promise.all(placing);
  }

  /** Holds `total` calls, `calls` of them at a time, each for so long; refused ones count as held. */
  async holdSeries({ total, callSeconds }: { total: number; callSeconds: number }): Promise<void> {
    const { calls: lines } = this.#options;
    let left = total;
    const hold = async (line: number): Promise<void> => {
      await sleep((line * callSeconds * 1_000) / lines);
      while (left > 0) {
        left -= 1;
        const index = this.#placed;
        const call = await this.place();
        await sleep(callSeconds * 1_000);
        await call?.finish(FINISH_MS_MAX);
        if (call !== undefined) this.#said.push([index, call.words]);
        call?.hangUp();
        await Promise.race([call?.ended, sleep(LEAVE_MS_MAX)]);
      }
    };
    await Promise.all(Array.from({ length: lines }, (_each, line) => hold(line)));
  }

  /** One more call; undefined if it was refused. */
  async place(): Promise<LoadCall | undefined> {
    const index = this.#placed;
    this.#placed += 1;
    const { webhookUrl, credentials, to, series } = this.#options;
    const callId = this.#wire.callIdOf(series * 2 ** 24 + index);
    const from = `+1555${String(index % 10_000_000).padStart(7, '0')}`;
    try {
      const target = await this.#wire.announce({ webhookUrl, credentials, from, to, callId });
      return this.#open(index, callId, target);
    } catch (error) {
      this.#refused += 1;
      this.#note(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  /** Durations count from here on. */
  measure(): void {
    this.#heard.measuring = true;
    this.#noticed.measuring = true;
  }

  /** Nothing counts any more. */
  measured(): void {
    this.#heard.measuring = false;
    this.#heard.over = true;
    this.#noticed.measuring = false;
  }

  get openCalls(): number {
    return this.#slots.reduce((sum, calls) => sum + calls.filter((call) => call.isOpen).length, 0);
  }

  get markedFrames(): number {
    return this.#heard.markedFrames;
  }

  /** Hangs all calls up and stops. */
  async finish(): Promise<LoadSummary> {
    const calls = this.#slots.flat();
    for (const call of calls) call.hangUp();
    await Promise.race([Promise.all(calls.map(({ ended }) => ended)), sleep(LEAVE_MS_MAX)]);
    clearTimeout(this.#timer);
    return summaryOf({
      calls: this.#placed - this.#refused,
      refused: this.#refused,
      dropped: this.#dropped,
      failures: this.#failures,
      faults: this.#faults,
      unsentFrames: this.#unsentFrames,
      heard: this.#heard,
      noticed: this.#noticed,
      delay: this.#delay,
      said: this.#said,
    });
  }

  #open(index: number, callId: string, media: MediaTarget): LoadCall {
    const { credentials, leadMs, clipFrames } = this.#options;
    const call: LoadCall = new LoadCall({
      media,
      stream: this.#wire.stream({ callId, credentials, parameters: media.parameters }),
      leadMs,
      clipFrames,
      heard: this.#heard,
      caller: (line) => this.#caller(line, index),
      now: () => performance.now(),
    });
    const slot = this.#slots[index % SLOTS] as LoadCall[];
    slot.push(call);
    void call.ended.then((reason) => {
      slot.splice(slot.indexOf(call), 1);
      this.#faults += call.faults;
      this.#unsentFrames += call.unsentFrames;
      if (call.isLeaving) return;
      this.#dropped += 1;
      this.#note(reason);
    });
    return call;
  }

  #caller(line: CallerLine, index: number): Caller {
    const { scenario, calls, interruptionsPerSecond } = this.#options;
    const common = { line, noticed: this.#noticed, index };
    if (this.#options.isConversing)
      return new ConversingCaller({
        ...common,
        phrase: this.#phrase,
        payloadOf: this.#wire.payloadOf,
        pauseMs: this.#options.pauseMs,
      });
    if (scenario !== 'barge-in') {
      const key = scenario === 'listen' ? undefined : KEY;
      return new TalkingCaller({ ...common, phrase: this.#talk, key });
    }
    const everyMs = (calls / interruptionsPerSecond) * 1_000;
    return new InterruptingCaller({
      ...common,
      phrase: this.#answer,
      silence: this.#silence,
      everyMs,
    });
  }

  #note(failure: string): void {
    if (this.#failures.length < FAILURES_KEPT) this.#failures.push(failure);
  }

  #tick(): void {
    const nowMs = performance.now();
    while (this.#dueMs <= nowMs) {
      if (this.#heard.measuring) this.#delay.add(performance.now() - this.#dueMs);
      for (const call of this.#slots[this.#slot] as LoadCall[]) call.tick(performance.now());
      this.#slot = (this.#slot + 1) % SLOTS;
      this.#dueMs += SLOT_MS;
    }
    this.#timer = setTimeout(() => this.#tick(), Math.max(0, this.#dueMs - performance.now()));
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
