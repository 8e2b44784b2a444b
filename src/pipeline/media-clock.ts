// The media clock: one drift-free beat for all calls of the process. They take turns, so that none waits for
// all others and the event loop is held for a fraction of them: in each 20 ms every call has one turn,, and
// while the process is busy in each 40 ms: a turn costs by what it touches more than by how much it does.
// It holds no call's state; whoever has a turn computes what is due from `nowMs`, so missed turns are not
// made up.

import { FRAME_MS } from '../audio/pcm.ts';
import { frameLatenessSeconds, mediaStrideSeconds } from '../metrics.ts';
import type { Clock, Timer } from '../std/clock.ts';

type Tick = (nowMs: number, strideMs: number) => void;

/** Between two turns of a call while the process is busy. */
const LONG_STRIDE_MS = 2 * FRAME_MS;
/** Calls whose turns come at the same moment are in one slot. */
const SLOTS = 8;
const SLOT_MS = LONG_STRIDE_MS / SLOTS;
const HALF = SLOTS / 2;
/** A timer that fires this early counts as on time: timers have whole milliseconds. */
const EARLY_MS_MAX = 1;
/** Share of the event loop's time from which on the stride is long, and below which it is short again: it falls
 *  by a third with the long one. */
const BUSY = 0.5;
const CALM = 0.25;

interface Turn {
  tick: Tick;
  /** With whom to tell if one throws. */
  onThrow: (error: unknown) => void;
  /** It may come every 40 ms. */
  isPatient: boolean;
}

export class MediaClock {
  readonly #clock: Clock;
  readonly #slots: readonly Set<Turn>[] = Array.from({ length: SLOTS }, () => new Set<Turn>());
  #size = 0;
  #isBusy = false;
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
   *  function is called: every 20 ms, or every 40 while the process is busy if it `isPatient`. If it throws, it is called no more and `onThrow`, which must not throw,
   *  is told; the others go on. */
  add(tick: Tick, onThrow: (error: unknown) => void, isPatient = false): () => void {
    const turn = { tick, onThrow, isPatient };
    if (this.#size === 0) {
      this.#startMs = this.#clock.monotonicMs() - this.#step * SLOT_MS;
    }
    const slot = this.#emptiest();
    slot.add(turn);
    this.#size++;
    this.#arm();
    return () => this.#remove(slot, turn);
  }

  /** How busy the process was lately: the share of time in which its event loop had work, 0 to 1. */
  feel(busy: number): void {
    const isBusy = busy >= (this.#isBusy ? CALM : BUSY);
    mediaStrideSeconds.set((isBusy ? LONG_STRIDE_MS : FRAME_MS) / 1_000);
    this.#isBusy = isBusy;
  }

  close(): void {
    for (const slot of this.#slots) slot.clear();
    this.#size = 0;
    this.#stop();
  }

  /** Of those with the fewest calls the one whose turn comes last. */
  #emptiest(): Set<Turn> {
    let emptiest = this.#slotOf(this.#step);
    for (let back = 1; back < SLOTS; back++) {
      const slot = this.#slotOf(this.#step + SLOTS - back);
      if (slot.size < emptiest.size) emptiest = slot;
    }
    return emptiest;
  }

  #slotOf(step: number): Set<Turn> {
    return this.#slots[step % SLOTS] as Set<Turn>;
  }

  #remove(slot: Set<Turn>, turn: Turn): void {
    if (!slot.delete(turn)) return;
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
    while (this.#slotOf(this.#nextStep).size + this.#slotOf(this.#nextStep + HALF).size === 0) {
      this.#nextStep++;
    }
    const dueMs = this.#startMs + this.#nextStep * SLOT_MS;
    this.#timer = this.#clock.after(Math.max(0, dueMs - this.#clock.monotonicMs()), this.#fire);
  }

  readonly #fire = (): void => {
    this.#timer = undefined;
    const nowMs = this.#clock.monotonicMs();
    const lateMs = nowMs - this.#startMs - this.#nextStep * SLOT_MS;
    if (lateMs >= -EARLY_MS_MAX) {
      frameLatenessSeconds.observe(Math.max(0, lateMs) / 1_000);
      const step = this.#nextStep + Math.max(0, Math.floor(lateMs / SLOT_MS));
      // Nobody has two turns at once.
      const first = Math.max(this.#nextStep, step + 1 - HALF);
      const firstOfPatient = this.#isBusy ? Math.max(this.#nextStep, step + 1 - SLOTS) : first;
      this.#nowMs = nowMs;
      this.#step = step;
      for (let each = firstOfPatient; each < first; each++) {
        this.#slotOf(each).forEach(this.#runPatient);
      }
      for (let each = first; each <= step; each++) {
        this.#slotOf(each).forEach(this.#run);
        this.#slotOf(each + HALF).forEach(this.#isBusy ? this.#runPrompt : this.#run);
      }
    }
    if (this.#size > 0) this.#arm();
  };

  readonly #run = (turn: Turn, _same: Turn, slot: Set<Turn>): void => {
    try {
      turn.tick(this.#nowMs, turn.isPatient && this.#isBusy ? LONG_STRIDE_MS : FRAME_MS);
    } catch (error) {
      this.#remove(slot, turn);
      turn.onThrow(error);
    }
  };

  readonly #runPatient = (turn: Turn, same: Turn, slot: Set<Turn>): void => {
    if (turn.isPatient) this.#run(turn, same, slot);
  };

  readonly #runPrompt = (turn: Turn, same: Turn, slot: Set<Turn>): void => {
    if (!turn.isPatient) this.#run(turn, same, slot);
  };
}
