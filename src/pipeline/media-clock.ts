// The media clock: one drift-free beat for all calls of the process. They take turns, so that none waits for
// all others and the event loop is held for a fraction of them at a time: in each 20 ms every call has one
// turn, and the busier the process is in each 40 or 80 ms, for a turn costs by what it touches more than by how
// much it does. What goes out comes first: all whose turn it is send before the first of them receives, and
// where the processor falls behind even so, what callers say waits its turn. It holds no call's state; a call
// computes at its turn what is due from `nowMs`, so missed turns are not made up.

import { FRAME_MS } from '../audio/pcm.ts';
import { frameLatenessSeconds, mediaPutOff, mediaStrideSeconds } from '../metrics/metrics.ts';
import type { Clock, Timer } from '../std/clock.ts';

/** What a call does at its turns. `nowMs` is the monotonic time in whole milliseconds, as a number with a fraction
 *  (or beyond 2^31, 25 days) leaves memory to collect wherever it is handed on; `strideMs` is that from one turn to
 *  the next. */
export interface ClockSubscriber {
  /** What goes out. */
  send(nowMs: number, strideMs: number): void;
  /** What has come in. */
  receive(nowMs: number, strideMs: number): void;
}

/** How far apart two turns of a call are. */
interface Stride {
  ms: number;
  /** Share of the event loop's time from which on the next longer stride is taken, and below which the next
   *  shorter one is: a longer one takes a third off it. */
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
/** Callers are heard for so long in one go, at least one of them, and those who are left after whatever else is
 *  due. */
const HEARING_MS_MAX = 2;
/** A timer that fires this early counts as on time: timers have whole milliseconds. */
const EARLY_MS_MAX = 1;

type Kind = 'patient' | 'prompt';

interface Turn {
  readonly taker: ClockSubscriber;
  /** What to call if one throws. */
  readonly onThrow: (error: unknown) => void;
  readonly slot: Slot;
  readonly kind: Kind;
  isOver: boolean;
  /** Waits to be heard. */
  isInLine: boolean;
}

/** Calls whose turns come at the same moment: apart, so that nobody is visited for nothing. Lists are replaced when
 *  a call comes or goes, as it may do so at a turn. */
interface Slot {
  /** They may come in longer strides. */
  patient: readonly Turn[];
  prompt: readonly Turn[];
}

export class MediaClock {
  readonly #clock: Clock;
  readonly #slots: readonly Slot[] = Array.from({ length: SLOTS }, () => ({
    patient: [],
    prompt: [],
  }));
  /** The patient ones who have sent and not been heard since: the first `#waiting`. It keeps its memory. */
  readonly #line: (Turn | undefined)[] = [];
  #waiting = 0;
  #size = 0;
  #stride = SHORTEST;
  #timer: Timer | undefined;
  /** Steps of 5 ms since `#startMs`: the one that was made last, and the one that the timer waits for. */
  #startMs = 0;
  #step = 0;
  #nextStep = 0;
  #nowMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Gives `taker` turns until the returned function is called: every 20 ms, or in longer strides while the
   *  process is busy if it `isPatient`; only then `receive` may come later. If it throws, it is called no more and
   *  `onThrow`, which must not throw, is called; the others go on. */
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

  /** How busy the process was lately: the share of time in which its event loop had work, 0 to 1. */
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

  /** Of those with the fewest calls the one whose turn comes last. */
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
    this.#line.length = 0; // Those who left hold memory.
    this.#waiting = 0;
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Waits for the next step at which somebody may have a turn, or not at all if somebody waits to be heard. */
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
    this.#nowMs = Math.floor(nowMs);
    const lateMs = nowMs - this.#startMs - this.#nextStep * SLOT_MS;
    if (lateMs >= -EARLY_MS_MAX) {
      frameLatenessSeconds.observe(Math.max(0, lateMs) / 1_000);
      this.#make(this.#nextStep + Math.max(0, Math.floor(lateMs / SLOT_MS)));
    }
    this.#hearPatient();
    if (this.#size > 0) this.#arm();
  };

  /** The turns of all steps since the last one up to `last`; nobody has two. */
  #make(last: number): void {
    const first = Math.max(this.#nextStep, last + 1 - this.#stride.ms / SLOT_MS);
    this.#step = last;
    for (let step = first; step <= last; step++) this.#sendPatient(step);
    const firstPrompt = Math.max(first, last + 1 - FRAME_SLOTS);
    for (let step = firstPrompt; step <= last; step++) this.#turnPrompt(step, 'send');
    for (let step = firstPrompt; step <= last; step++) this.#turnPrompt(step, 'receive');
  }

  #turnPrompt(step: number, what: keyof ClockSubscriber): void {
    for (let slots = 0; slots < SLOTS; slots += FRAME_SLOTS) {
      for (const turn of this.#slotOf(step + slots).prompt) this.#run(turn, what, FRAME_MS);
    }
  }

  #sendPatient(step: number): void {
    const strideMs = this.#stride.ms;
    for (let slots = 0; slots < SLOTS; slots += strideMs / SLOT_MS) {
      for (const turn of this.#slotOf(step + slots).patient) {
        this.#run(turn, 'send', strideMs);
        if (turn.isInLine) mediaPutOff.inc();
        else this.#line[this.#waiting++] = turn;
        turn.isInLine = true;
      }
    }
  }

  /** One after the other in the order of their turns. */
  #hearPatient(): void {
    const line = this.#line;
    const untilMs = this.#clock.monotonicMs() + HEARING_MS_MAX;
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

  /** Whether somebody may have a turn in that step. */
  #isAnyoneIn(step: number): boolean {
    for (let slots = 0; slots < SLOTS; slots += FRAME_SLOTS) {
      if (sizeOf(this.#slotOf(step + slots)) > 0) return true;
    }
    return false;
  }

  #run(turn: Turn, what: keyof ClockSubscriber, strideMs: number): void {
    if (turn.isOver) return;
    try {
      if (what === 'send') turn.taker.send(this.#nowMs, strideMs);
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
