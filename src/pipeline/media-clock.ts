// The media clock: one drift-free 20 ms tick for all calls of the process, which are spread over the tick. In each
// stride every call has one turn; a busy process uses strides of 40 or 80 ms, because a turn's cost is mostly memory
// access. All calls of a step send before the first of them receives; when the processor falls behind even so,
// receiving waits. At its turn a call computes what is due from `nowMs`, so missed turns are not repeated.

import { FRAME_MS } from '../audio/pcm.ts';
import { frameLatenessSeconds, mediaPutOff, mediaStrideSeconds } from '../metrics/metrics.ts';
import type { Clock, Timer } from '../std/clock.ts';
import { RecentStalls } from './stalls.ts';

/** The work of a call at its turns. `nowMs`: monotonic time in whole milliseconds (a number with a fraction, or beyond
 *  2^31, would be allocated wherever it is passed on). `strideMs`: time from one turn to the next. */
export interface ClockSubscriber {
  /** Sends audio. `stallMs`: longest stall of the event loop in the last seconds. */
  send(nowMs: number, strideMs: number, stallMs: number): void;
  /** Receives audio. */
  receive(nowMs: number, strideMs: number): void;
}

/** Strides: time between two turns of a call. */
interface Stride {
  ms: number;
  /** Share of the event loop's time from which the next longer stride is used; `calm`: below which the next shorter one
   *  is. A longer stride saves a third. */
  busy: number;
  calm: number;
}

const SHORTEST: Stride = { ms: FRAME_MS, busy: 0.5, calm: 0 };
const LONGEST: Stride = { ms: 4 * FRAME_MS, busy: Number.POSITIVE_INFINITY, calm: 0.35 };
const STRIDES: readonly Stride[] = [
  SHORTEST,
  { ms: 2 * FRAME_MS, busy: 0.65, calm: 0.25 },
  LONGEST,
];
const SLOT_MS = 5;
const SLOTS = LONGEST.ms / SLOT_MS;
const FRAME_SLOTS = FRAME_MS / SLOT_MS;
/** Time for which receiving runs at once, at least for one call; the rest follows after other due work. */
const HEARING_MS_MAX = 2;
/** Earliness of a timer that counts as on time: timers have a resolution of a millisecond. */
const EARLY_MS_MAX = 1;

type Kind = 'patient' | 'prompt';

interface Turn {
  readonly taker: ClockSubscriber;
  /** Called if `send` or `receive` throws. */
  readonly onThrow: (error: unknown) => void;
  readonly slot: Slot;
  readonly kind: Kind;
  isOver: boolean;
  /** Whether the call waits to receive. */
  isInLine: boolean;
}

/** Calls whose turns are at the same moment, in separate lists, so that no call is visited without need. A list is
 *  replaced when a call joins or leaves, because that may happen during a turn. */
interface Slot {
  /** Calls that allow longer strides. */
  patient: readonly Turn[];
  prompt: readonly Turn[];
}

export class MediaClock {
  readonly #clock: Clock;
  readonly #slots: readonly Slot[] = Array.from({ length: SLOTS }, () => ({
    patient: [],
    prompt: [],
  }));
  /** Calls with long strides that have sent and not received since: the first `#waiting` entries. The array keeps its
   *  memory. */
  readonly #line: (Turn | undefined)[] = [];
  #waiting = 0;
  #size = 0;
  #stride = SHORTEST;
  #timer: Timer | undefined;
  /** Start of the steps of 5 ms; the last one done, and the one for which the timer is set. */
  #startMs = 0;
  #step = 0;
  #nextStep = 0;
  #nowMs = 0;
  readonly #stalls = new RecentStalls();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Gives `taker` turns until the returned function is called: every 20 ms, or, if it `isPatient`, in longer strides
   *  while the process is busy; only then `receive` may be delayed. If it throws, it is removed and `onThrow`, which
   *  must not throw, is called; the other calls continue. */
  add(taker: ClockSubscriber, onThrow: (error: unknown) => void, isPatient = false): () => void {
    if (this.#size === 0) this.#startMs = this.#clock.monotonicMs() - this.#step * SLOT_MS;
    const slot = this.#emptiest();
    const kind = isPatient ? 'patient' : 'prompt';
    const turn = { taker, onThrow, slot, kind, isOver: false, isInLine: false } satisfies Turn;
    slot[kind] = [...slot[kind], turn];
    this.#size++;
    this.#arm();
    return () => this.#remove(turn);
  }

  /** Recent load of the event loop: the share of time in which it had work, 0 to 1. */
  setLoad(busy: number): void {
    const nth = STRIDES.indexOf(this.#stride);
    if (busy >= this.#stride.busy) this.#stride = STRIDES[nth + 1] ?? LONGEST;
    else if (busy < this.#stride.calm) this.#stride = STRIDES[nth - 1] ?? SHORTEST;
    mediaStrideSeconds.set(this.#stride.ms / 1_000);
  }

  close(): void {
    for (const { patient, prompt } of this.#slots) {
      for (const turn of [...patient, ...prompt]) this.#remove(turn);
    }
  }

  /** The list with the fewest calls; of several, the one whose turn comes last. */
  #emptiest(): Slot {
    let emptiest = this.#slotOf(this.#step);
    for (let back = 1; back < SLOTS; back++) {
      const slot = this.#slotOf(this.#step + SLOTS - back);
      if (sizeOf(slot) < sizeOf(emptiest)) emptiest = slot;
    }
    return emptiest;
  }

  #slotOf(step: number): Slot {
    return this.#slots[step % SLOTS] as Slot;
  }

  #remove(turn: Turn): void {
    if (turn.isOver) return;
    turn.isOver = true;
    turn.slot[turn.kind] = turn.slot[turn.kind].filter((each) => each !== turn);
    this.#size--;
    if (this.#size > 0) return;
    this.#stop();
    this.#line.length = 0; // Calls that left would keep memory alive.
    this.#waiting = 0;
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Sets the timer for the next step with a turn; none is set while calls wait to receive. */
  #arm(): void {
    this.#stop();
    this.#nextStep = this.#step + 1;
    while (!this.#isAnyoneIn(this.#nextStep)) this.#nextStep++;
    const dueMs = this.#waiting > 0 ? 0 : this.#startMs + this.#nextStep * SLOT_MS;
    this.#timer = this.#clock.after(Math.max(0, dueMs - this.#clock.monotonicMs()), this.#fire);
  }

  readonly #fire = (): void => {
    this.#timer = undefined;
    const nowMs = this.#clock.monotonicMs();
    const lateMs = nowMs - this.#startMs - this.#nextStep * SLOT_MS;
    if (lateMs >= -EARLY_MS_MAX) {
      frameLatenessSeconds.observe(Math.max(0, lateMs) / 1_000);
      this.#make(this.#nextStep + Math.max(0, Math.floor(lateMs / SLOT_MS)));
    }
    this.#hearPatient();
    if (this.#size > 0) this.#arm();
  };

  /** Runs the turns of all steps after the last one up to `last`; no call has two. */
  #make(last: number): void {
    const dueMs = this.#startMs + this.#nextStep * SLOT_MS;
    const first = Math.max(this.#nextStep, last + 1 - this.#stride.ms / SLOT_MS);
    this.#step = last;
    for (let step = first; step <= last; step++) this.#sendPatient(step);
    const firstPrompt = Math.max(first, last + 1 - FRAME_SLOTS);
    for (let step = firstPrompt; step <= last; step++) this.#turnPrompt(step, 'send');
    // The last call has waited for the others too: a tenth of a second during garbage collection.
    this.#readClock();
    this.#stalls.note(this.#nowMs, Math.floor(this.#nowMs - dueMs));
    for (let step = firstPrompt; step <= last; step++) this.#turnPrompt(step, 'receive');
  }

  #readClock(): void {
    this.#nowMs = Math.floor(this.#clock.monotonicMs());
  }

  #turnPrompt(step: number, what: keyof ClockSubscriber): void {
    this.#readClock();
    for (let slots = 0; slots < SLOTS; slots += FRAME_SLOTS) {
      for (const turn of this.#slotOf(step + slots).prompt) this.#run(turn, what, FRAME_MS);
    }
  }

  #sendPatient(step: number): void {
    const strideMs = this.#stride.ms;
    this.#readClock();
    for (let slots = 0; slots < SLOTS; slots += strideMs / SLOT_MS) {
      for (const turn of this.#slotOf(step + slots).patient) {
        this.#run(turn, 'send', strideMs);
        if (turn.isInLine) mediaPutOff.inc();
        else this.#line[this.#waiting++] = turn;
        turn.isInLine = true;
      }
    }
  }

  /** Lets waiting calls receive, in the order of their turns. */
  #hearPatient(): void {
    const line = this.#line;
    const untilMs = this.#clock.monotonicMs() + HEARING_MS_MAX;
    this.#readClock();
    let heard = 0;
    while (heard < this.#waiting && (heard === 0 || this.#clock.monotonicMs() < untilMs)) {
      const turn = line[heard++] as Turn;
      turn.isInLine = false;
      this.#run(turn, 'receive', this.#stride.ms);
    }
    const left = Math.max(0, this.#waiting - heard);
    for (let nth = 0; nth < left; nth++) line[nth] = line[heard + nth];
    for (let nth = left; nth < left + heard; nth++) line[nth] = undefined;
    this.#waiting = left;
  }

  /** Whether a call may have a turn in that step. */
  #isAnyoneIn(step: number): boolean {
    for (let slots = 0; slots < SLOTS; slots += FRAME_SLOTS) {
      if (sizeOf(this.#slotOf(step + slots)) > 0) return true;
    }
    return false;
  }

  #run(turn: Turn, what: keyof ClockSubscriber, strideMs: number): void {
    if (turn.isOver) return;
    try {
      if (what === 'send') turn.taker.send(this.#nowMs, strideMs, this.#stalls.maxMs);
      else turn.taker.receive(this.#nowMs, strideMs);
    } catch (error) {
      this.#remove(turn);
      turn.onThrow(error);
    }
  }
}

function sizeOf({ patient, prompt }: Slot): number {
  return patient.length + prompt.length;
}
