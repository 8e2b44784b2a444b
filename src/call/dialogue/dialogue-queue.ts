// The event queue of one conversation: events go to the pure engine one after the other, and its actions to
// `perform`, which may bring about more events.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../std/clock.ts';
import type {
  DialogueAction,
  DialogueEvent,
  UntimedEvent,
} from '../../workflow/engine/dialogue-events.ts';
import type { DialogueEngine, DialogueState } from '../../workflow/engine.ts';

/** Events that may wait for the engine: far more than a call can raise in one go. */
const WAITING_MAX = 1_000;

export interface DialogueQueueOptions {
  engine: Pick<DialogueEngine, 'step'>;
  /** Where the conversation goes on from. */
  state: DialogueState;
  clock: Pick<Clock, 'now'>;
  /** Before the engine gets an event. */
  beforeStep?(event: DialogueEvent): void;
  perform(action: DialogueAction): void;
  /** After each event, when all of its actions are done; not once it is closed. */
  onStepped(state: DialogueState): void;
  /** Nothing waits any more; not once it is closed. */
  onDrained?(): void;
  /** The engine or a callback has thrown: no more than the event that it threw at is lost. QUEUE_FULL: so is
   *  the event that found no place. */
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

  /** The state of the conversation. Not to be written to. */
  get state(): DialogueState {
    return this.#state;
  }

  /** Never throws. */
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

  /** Nothing happens any more, whatever waits. */
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
    this.#waiting.push({ at: this.#options.clock.now(), ...event });
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
