// Event queue of one conversation: passes events to the pure engine one after the other, and its actions to `perform`,
// which may cause more events.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Clock } from '../../../std/clock.ts';
import type {
  DialogueAction,
  DialogueEvent,
  UntimedEvent,
} from '../../../workflow/engine/dialogue-events.ts';
import type { DialogueEngine, DialogueState } from '../../../workflow/engine.ts';
import { type EngineStep, type NotedInput, storable } from '../../events/engine-inputs.ts';

/** Queued events: far more than a call can raise at once. */
const WAITING_MAX = 1_000;

export interface DialogueQueueOptions {
  engine: Pick<DialogueEngine, 'step'>;
  /** The initial state. */
  state: DialogueState;
  clock: Pick<Clock, 'now'>;
  /** Whether the caller is in the middle of a turn. */
  isCallerSpeaking?(): boolean;
  /** Called before the engine gets an event. */
  beforeStep?(event: DialogueEvent): void;
  /** Called with each step of the engine, before its actions are done. */
  onInput?(step: EngineStep): void;
  /** Called with the content of an event that the engine does not get. */
  onUnused?(noted: NotedInput): void;
  perform(action: DialogueAction): void;
  /** Called after each event, when all of its actions are done; not after closing. */
  onStepped(state: DialogueState): void;
  /** Called when the queue is empty; not after closing. */
  onDrained?(): void;
  /** Called when the engine or a callback has thrown: only that event is lost. QUEUE_FULL: the queue was full, and
   *  the event is lost. */
  onBroken(error: unknown): void;
}

interface Waiting {
  event: DialogueEvent;
  noted: NotedInput | undefined;
}

export class DialogueQueue {
  readonly #options: DialogueQueueOptions;
  readonly #waiting: Waiting[] = [];
  #state: DialogueState;
  #stepping = false;
  #closed = false;

  constructor(options: DialogueQueueOptions) {
    this.#options = options;
    this.#state = options.state;
  }

  /** The state of the conversation. Read only. */
  get state(): DialogueState {
    return this.#state;
  }

  /** Queues events. Never throws. */
  dispatch(...events: UntimedEvent<DialogueEvent>[]): void {
    for (const event of events) this.#add(event);
    this.#run();
  }

  /** Queues an event whose content the log has as `noted`, which is noted when the engine gets it. Never throws. */
  dispatchNoted(event: UntimedEvent<DialogueEvent>, noted: NotedInput): void {
    this.#add(event, noted);
    this.#run();
  }

  #run(): void {
    if (this.#stepping || this.#waiting.length === 0) return;
    this.#stepping = true;
    this.#attempt(() => this.#drain());
    this.#stepping = false;
    if (!this.#closed && this.#waiting.length === 0) {
      this.#attempt(() => this.#options.onDrained?.());
    }
  }

  /** The engine's result for an event at this moment, without any effect. Undefined after closing. */
  preview(event: UntimedEvent<DialogueEvent>): ReturnType<DialogueEngine['step']> | undefined {
    if (this.#closed) return undefined;
    const { engine, clock } = this.#options;
    return engine.step(this.#state, { at: clock.now(), ...event });
  }

  /** Drops queued events; nothing happens after this. */
  close(): void {
    this.#closed = true;
    for (const { noted } of this.#waiting.splice(0)) this.#leave(noted);
  }

  #add(event: UntimedEvent<DialogueEvent>, noted?: NotedInput): void {
    if (this.#closed) {
      this.#leave(noted);
      return;
    }
    if (this.#waiting.length >= WAITING_MAX) {
      this.#leave(noted);
      this.#options.onBroken(new GatewayError('QUEUE_FULL', { queue: 'call events' }));
      return;
    }
    const isCallerSpeaking = this.#options.isCallerSpeaking?.() === true;
    const speaking = isCallerSpeaking && { isCallerSpeaking };
    const timed = storable({ at: this.#options.clock.now(), ...speaking, ...event });
    this.#waiting.push({ event: timed, noted: noted && storable(noted) });
  }

  #leave(noted: NotedInput | undefined): void {
    if (noted !== undefined) this.#options.onUnused?.(noted);
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.onBroken(error);
    }
  }

  #drain(): void {
    const { perform, onStepped } = this.#options;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      for (const action of this.#step(next)) perform(action);
      if (!this.#closed) onStepped(this.#state);
    }
  }

  /** Gives the engine an event; returns its actions. */
  #step({ event, noted }: Waiting): readonly DialogueAction[] {
    const { engine, beforeStep, onInput } = this.#options;
    const before = this.#state;
    try {
      beforeStep?.(event);
      const { state, actions } = engine.step(before, event);
      this.#state = state;
      onInput?.({ event, before, actions, noted });
      return actions;
    } catch (error) {
      if (this.#state === before) this.#leave(noted);
      throw error;
    }
  }
}
