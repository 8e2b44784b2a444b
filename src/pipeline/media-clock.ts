// The media clock: one drift-free beat for all calls of the process. They take turns, so that none waits for
// all others and the event loop is held for a fraction of them at a time: in each 20 ms every call has one
// turn, and the busier the process is in each 40 or 80 ms, for a turn costs by what it touches more than by how
// much it does. It holds no call's state; whoever has a turn computes what is due from `nowMs`, so missed turns
// are not made up.

import { FRAME_MS } from '../audio/pcm.ts';
import { frameLatenessSeconds, mediaStrideSeconds } from '../metrics.ts';
import type { Clock, Timer } from '../std/clock.ts';

type Tick = (nowMs: number, strideMs: number) => void;

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
/** A timer that fires this early counts as on time: timers have whole milliseconds. */
const EARLY_MS_MAX = 1;

interface Turn {
  tick: Tick;
  /** With whom to tell if one throws. */
  onThrow: (error: unknown) => void;
}

/** Calls whose turns come at the same moment: apart, so that nobody is visited for nothing. */
interface Slot {
  /** They may come in longer strides. */
  readonly patient: Set<Turn>;
  readonly prompt: Set<Turn>;
}

export class MediaClock {
  readonly #clock: Clock;
  readonly #slots: readonly Slot[] = Array.from({ length: SLOTS }, () => ({
    patient: new Set<Turn>(),
    prompt: new Set<Turn>(),
  }));
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

  /** Calls `tick` with the monotonic time, and the milliseconds from one turn to the next, until the returned
   *  function is called: every 20 ms, or in longer strides while the process is busy if it `isPatient`. If it
   *  throws, it is called no more and `onThrow`, which must not throw, is told; the others go on. */
  add(tick: Tick, onThrow: (error: unknown) => void, isPatient = false): () => void {
    const turn = { tick, onThrow };
    if (this.#size === 0) this.#startMs = this.#clock.monotonicMs() - this.#step * SLOT_MS;
    const turns = this.#emptiest()[isPatient ? 'patient' : 'prompt'];
    turns.add(turn);
    this.#size++;
    this.#arm();
    return () => this.#remove(turns, turn);
  }

  /** How busy the process was lately: the share of time in which its event loop had work, 0 to 1. */
  feel(busy: number): void {
    const nth = STRIDES.indexOf(this.#stride);
    if (busy >= this.#stride.busy) this.#stride = STRIDES[nth + 1] ?? LONGEST;
    else if (busy < this.#stride.calm) this.#stride = STRIDES[nth - 1] ?? SHORTEST;
    mediaStrideSeconds.set(this.#stride.ms / 1_000);
  }

  close(): void {
    for (const { patient, prompt } of this.#slots) {
      patient.clear();
      prompt.clear();
    }
    this.#size = 0;
    this.#stop();
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

  #remove(turns: Set<Turn>, turn: Turn): void {
    if (!turns.delete(turn)) return;
    this.#size--;
    if (this.#size === 0) this.#stop();
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Waits for the next step at which somebody may have a turn. */
  #arm(): void {
    this.#stop();
    this.#nextStep = this.#step + 1;
    while (!this.#isAnyoneIn(this.#nextStep)) this.#nextStep++;
    const dueMs = this.#startMs + this.#nextStep * SLOT_MS;
    this.#timer = this.#clock.after(Math.max(0, dueMs - this.#clock.monotonicMs()), this.#fire);
  }

  readonly #fire = (): void => {
    this.#timer = undefined;
    const nowMs = this.#clock.monotonicMs();
    const lateMs = nowMs - this.#startMs - this.#nextStep * SLOT_MS;
    if (lateMs >= -EARLY_MS_MAX) {
      frameLatenessSeconds.observe(Math.max(0, lateMs) / 1_000);
      this.#nowMs = nowMs;
      this.#make(this.#nextStep + Math.max(0, Math.floor(lateMs / SLOT_MS)));
    }
    if (this.#size > 0) this.#arm();
  };

  /** The turns of all steps since the last one up to `last`; nobody has two. */
  #make(last: number): void {
    const strideSlots = this.#stride.ms / SLOT_MS;
    const first = Math.max(this.#nextStep, last + 1 - strideSlots);
    this.#step = last;
    for (let step = first; step <= last; step++) {
      for (let slots = 0; slots < SLOTS; slots += strideSlots) {
        this.#slotOf(step + slots).patient.forEach(this.#runPatient);
      }
      if (step <= last - FRAME_SLOTS) continue;
      for (let slots = 0; slots < SLOTS; slots += FRAME_SLOTS) {
        this.#slotOf(step + slots).prompt.forEach(this.#runPrompt);
      }
    }
  }

  /** Whether somebody may have a turn in that step. */
  #isAnyoneIn(step: number): boolean {
    for (let slots = 0; slots < SLOTS; slots += FRAME_SLOTS) {
      if (sizeOf(this.#slotOf(step + slots)) > 0) return true;
    }
    return false;
  }

  readonly #runPatient = (turn: Turn, _same: Turn, turns: Set<Turn>): void => {
    this.#run(turn, this.#stride.ms, turns);
  };

  readonly #runPrompt = (turn: Turn, _same: Turn, turns: Set<Turn>): void => {
    this.#run(turn, FRAME_MS, turns);
  };

  #run(turn: Turn, strideMs: number, turns: Set<Turn>): void {
    try {
      turn.tick(this.#nowMs, strideMs);
    } catch (error) {
      this.#remove(turns, turn);
      turn.onThrow(error);
    }
  }
}

function sizeOf({ patient, prompt }: Slot): number {
  return patient.size + prompt.size;
}
