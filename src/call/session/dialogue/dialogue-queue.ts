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
  perform(action: DialogueAction): void;
  /** Called after each event, when all of its actions are done; not after closing. */
  onStepped(state: DialogueState): void;
  /** Called when the queue is empty; not after closing. */
  onDrained?(): void;
  /** Called when the engine or a callback has thrown: only that event is lost. QUEUE_FULL: the queue was full, and
   *  the event is lost. */
  onBroken(error: unknown): void;
}

export class DialogueQueue {
  readonly #options: DialogueQueueOptions;
  readonly #waiting: DialogueEvent[] = [];
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
    this.#waiting.length = 0;
  }

  #add(event: UntimedEvent<DialogueEvent>): void {
    if (this.#closed) return;
    if (this.#waiting.length >= WAITING_MAX) {
      this.#options.onBroken(new GatewayError('QUEUE_FULL', { queue: 'call events' }));
      return;
    }
    const isCallerSpeaking = this.#options.isCallerSpeaking?.() === true;
    const speaking = isCallerSpeaking && { isCallerSpeaking };
    this.#waiting.push({ at: this.#options.clock.now(), ...speaking, ...event });
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.onBroken(error);
    }
  }

  #drain(): void {
    const { engine, perform, onStepped } = this.#options;
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift()) {
      this.#options.beforeStep?.(event);
      const { state, actions } = engine.step(this.#state, event);
      this.#state = state;
      for (const action of actions) perform(action);
      if (!this.#closed) onStepped(state);
    }
  }
}
