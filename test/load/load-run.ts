// All calls of one load measurement in one process: places them, keeps them at their 20 ms, hangs them up,
// and sums up what their far ends heard.

import { InterruptingCaller, type Noticed, TalkingCaller } from './callers.ts';
import { FRAME_MS } from './ear.ts';
import { heardNothing } from './heard.ts';
import { Histogram } from './histogram.ts';
import { type Account, ring } from './inbound-ring.ts';
import { LoadCall } from './load-call.ts';
import { callerAnswer, callerTalk, silentFrame } from './prepared-speech.ts';
import { GatewayReader } from './twilio-wire.ts';

/** Calls are spread over this many turns in 20 ms: real callers are not in step either. */
const SLOTS = 5;
const SLOT_MS = FRAME_MS / SLOTS;
const FAILURES_KEPT = 5;
/** From hanging up to the last connection being gone. */
const LEAVE_MS_MAX = 10_000;

export const SCENARIOS = ['talk', 'listen', 'barge-in'] as const;
export type Scenario = (typeof SCENARIOS)[number];

export interface LoadOptions extends Account {
  webhookUrl: string;
  to: string;
  scenario: Scenario;
  calls: number;
  /** New calls a second. */
  callsPerSecond: number;
  /** Goes into call ids: two runs at one gateway must not share any. */
  series: number;
  leadMs: number;
  /** Lengths of the watermarked clips. */
  clipFrames: number[];
}

/** Null: nothing of the kind was heard. */
export interface LoadSummary {
  calls: number;
  refused: number;
  /** Calls that ended before they were hung up. */
  dropped: number;
  failures: string[];
  framesReceived: number;
  markedFrames: number;
  lostFrames: number;
  reorderedFrames: number;
  underruns: number;
  underrunMs: number;
  latenessP50Ms: number | null;
  latenessP95Ms: number | null;
  latenessP99Ms: number | null;
  latenessMaxMs: number | null;
  spacingP50Ms: number | null;
  spacingP95Ms: number | null;
  spacingP99Ms: number | null;
  spacingMaxMs: number | null;
  responses: number;
  responseP50Ms: number | null;
  responseP95Ms: number | null;
  bargeIns: number;
  bargeInP50Ms: number | null;
  bargeInP95Ms: number | null;
  unanswered: number;
  /** Messages that are none of the provider's protocol. */
  faults: number;
  unsentFrames: number;
  /** How late this process was itself: what it measures may be as much too high. */
  clientDelayP99Ms: number | null;
}

export class LoadRun {
  readonly #options: LoadOptions;
  readonly #heard = heardNothing();
  readonly #noticed: Noticed = {
    measuring: false,
    response: new Histogram(),
    bargeIn: new Histogram(),
    unanswered: 0,
  };
  readonly #reader = new GatewayReader();
  readonly #talk = callerTalk();
  readonly #answer = callerAnswer();
  readonly #silence = silentFrame();
  readonly #slots: LoadCall[][] = Array.from({ length: SLOTS }, () => []);
  readonly #delay = new Histogram();
  readonly #failures: string[] = [];
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

  /** One more call; undefined if it was refused. */
  async place(): Promise<LoadCall | undefined> {
    const index = this.#placed;
    this.#placed += 1;
    const { webhookUrl, accountSid, authToken, to, series } = this.#options;
    const callSid = `CA${(series * 2 ** 24 + index).toString(16).padStart(32, '0')}`;
    const from = `+1555${String(index % 10_000_000).padStart(7, '0')}`;
    try {
      const target = await ring({ webhookUrl, accountSid, authToken, from, to, callSid });
      return this.#open(index, callSid, target);
    } catch (error) {
      this.#refused += 1;
      this.#note(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  /** Whether durations count from here on. */
  measure(isMeasuring: boolean): void {
    this.#heard.measuring = isMeasuring;
    this.#noticed.measuring = isMeasuring;
  }

  get openCalls(): number {
    return this.#slots.reduce((sum, calls) => sum + calls.filter((call) => call.isOpen).length, 0);
  }

  /** Hangs all calls up and stops. */
  async finish(): Promise<LoadSummary> {
    const calls = this.#slots.flat();
    for (const call of calls) call.hangUp();
    await Promise.race([Promise.all(calls.map(({ ended }) => ended)), sleep(LEAVE_MS_MAX)]);
    clearTimeout(this.#timer);
    return this.#summary();
  }

  #open(
    index: number,
    callSid: string,
    target: { url: string; signature: string; parameters: Record<string, string> },
  ): LoadCall {
    const { accountSid, leadMs, clipFrames, scenario } = this.#options;
    const noticed = this.#noticed;
    const call: LoadCall = new LoadCall({
      mediaUrl: target.url,
      signature: target.signature,
      parameters: target.parameters,
      accountSid,
      callSid,
      leadMs,
      clipFrames,
      heard: this.#heard,
      reader: this.#reader,
      caller: (line) =>
        scenario === 'barge-in'
          ? new InterruptingCaller({
              line,
              noticed,
              phrase: this.#answer,
              silence: this.#silence,
              index,
            })
          : new TalkingCaller({
              line,
              noticed,
              phrase: this.#talk,
              index,
              key: scenario === 'talk' ? '1' : undefined,
            }),
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

  #summary(): LoadSummary {
    const { lateness, spacing } = this.#heard;
    const { response, bargeIn } = this.#noticed;
    return {
      calls: this.#placed - this.#refused,
      refused: this.#refused,
      dropped: this.#dropped,
      failures: this.#failures,
      framesReceived: this.#heard.frames,
      markedFrames: this.#heard.markedFrames,
      lostFrames: this.#heard.lostFrames,
      reorderedFrames: this.#heard.reorderedFrames,
      underruns: this.#heard.underruns,
      underrunMs: this.#heard.underrunMs,
      latenessP50Ms: lateness.at(0.5),
      latenessP95Ms: lateness.at(0.95),
      latenessP99Ms: lateness.at(0.99),
      latenessMaxMs: lateness.max,
      spacingP50Ms: spacing.at(0.5),
      spacingP95Ms: spacing.at(0.95),
      spacingP99Ms: spacing.at(0.99),
      spacingMaxMs: spacing.max,
      responses: response.count,
      responseP50Ms: response.at(0.5),
      responseP95Ms: response.at(0.95),
      bargeIns: bargeIn.count,
      bargeInP50Ms: bargeIn.at(0.5),
      bargeInP95Ms: bargeIn.at(0.95),
      unanswered: this.#noticed.unanswered,
      faults: this.#faults,
      unsentFrames: this.#unsentFrames,
      clientDelayP99Ms: this.#delay.at(0.99),
    };
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
