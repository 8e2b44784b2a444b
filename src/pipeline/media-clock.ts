// The media clock: one drift-free beat for all calls of the process. They take turns, so that none waits for
// all others and the event loop is held for a fraction of them at a time: in each 20 ms every call has one
// turn, and the busier the process is in each 40 or 80 ms, for a turn costs by what it touches more than by how
// much it does. Where the processor falls behind even so, what goes out comes first: callers are heard at their
// next turn. It holds no call's state; whoever has a turn computes what is due from `nowMs`, so missed turns are
// not made up.

import { FRAME_MS } from '../audio/pcm.ts';
import { frameLatenessSeconds, mediaPutOff, mediaStrideSeconds } from '../metrics.ts';
import type { Clock, Timer } from '../std/clock.ts';

/** `hears`: what the caller said is taken as well; else at a later turn, with what comes until then. */
type Tick = (nowMs: number, strideMs: number, hears: boolean) => void;

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
/** While the process is behind, callers are heard for this part of the time, one after the other. */
const HEARING_MS_MIN = SLOT_MS / 3;
/** A timer that fires this early counts as on time: timers have whole milliseconds. */
const EARLY_MS_MAX = 1;

type Kind = 'patient' | 'prompt';

interface Turn {
  readonly tick: Tick;
  /** With whom to tell if one throws. */
  readonly onThrow: (error: unknown) => void;
  readonly slot: Slot;
  readonly kind: Kind;
  isOver: boolean;
}

/** Calls whose turns come at the same moment: apart, so that nobody is visited for nothing. Lists are replaced when
 *  a call comes or goes, as it may do so at a turn. */
interface Slot {
  /** They may come in longer strides. */
  patient: readonly Turn[];
  prompt: readonly Turn[];
  /** Of the patient ones, who is heard first. */
  first: number;
}

export class MediaClock {
  readonly #clock: Clock;
  readonly #slots: readonly Slot[] = Array.from({ length: SLOTS }, () => ({
    patient: [],
    prompt: [],
    first: 0,
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
   *  function is called: every 20 ms, or in longer strides while the process is busy if it `isPatient`; only then
   *  it may be told not to hear. If it throws, it is called no more and `onThrow`, which must not throw, is told;
   *  the others go on. */
  add(tick: Tick, onThrow: (error: unknown) => void, isPatient = false): () => void {
    if (this.#size === 0) this.#startMs = this.#clock.monotonicMs() - this.#step * SLOT_MS;
    const slot = this.#emptiest();
    const kind = isPatient ? 'patient' : 'prompt';
    const turn = { tick, onThrow, slot, kind, isOver: false } satisfies Turn;
    slot[kind] = [...slot[kind], turn];
    this.#size++;
    this.#arm();
    return () => this.#remove(turn);
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
      const nextMs = this.#startMs + (step + 1) * SLOT_MS;
      const untilMs = Math.max(nextMs, this.#clock.monotonicMs() + HEARING_MS_MIN);
      for (let slots = 0; slots < SLOTS; slots += strideSlots) {
        this.#turnPatient(this.#slotOf(step + slots), untilMs);
      }
      if (step <= last - FRAME_SLOTS) continue;
      for (let slots = 0; slots < SLOTS; slots += FRAME_SLOTS) {
        for (const turn of this.#slotOf(step + slots).prompt) this.#run(turn, FRAME_MS, true);
      }
    }
  }

  /** Those who are not heard before `untilMs` come first next time. */
  #turnPatient(slot: Slot, untilMs: number): void {
    const { patient, first } = slot;
    const strideMs = this.#stride.ms;
    let putOff = 0;
    for (let nth = 0; nth < patient.length; nth++) {
      const at = (first + nth) % patient.length;
      const turn = patient[at] as Turn;
      const hears = strideMs === FRAME_MS || this.#clock.monotonicMs() < untilMs;
      if (!hears && putOff++ === 0) slot.first = at;
      this.#run(turn, strideMs, hears);
    }
    if (putOff > 0) mediaPutOff.inc(putOff);
  }

  /** Whether somebody may have a turn in that step. */
  #isAnyoneIn(step: number): boolean {
    for (let slots = 0; slots < SLOTS; slots += FRAME_SLOTS) {
      if (sizeOf(this.#slotOf(step + slots)) > 0) return true;
    }
    return false;
  }

  #run(turn: Turn, strideMs: number, hears: boolean): void {
    if (turn.isOver) return;
    try {
      turn.tick(this.#nowMs, strideMs, hears);
    } catch (error) {
      this.#remove(turn);
      turn.onThrow(error);
    }
  }
}

function sizeOf({ patient, prompt }: Slot): number {
  return patient.length + prompt.length;
}
