// The actor of a call: events of the conversation wait in one queue and meet the pure engine one after the
// other; what it asks for is done by somebody else, which may bring about more events.

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
  engine: Pick<DialogueEngine, 'initial' | 'step'>;
  clock: Pick<Clock, 'now'>;
  perform(action: DialogueAction): void;
  /** After each event, when all of its actions are done; not once it is closed. */
  onStepped(state: DialogueState): void;
  /** The engine or `perform` has thrown: no more than the event that it threw at is lost. */
  onBroken(error: unknown): void;
  /** QUEUE_FULL; the event is lost. */
  onFull(error: GatewayError): void;
}

export class DialogueQueue {
  readonly #options: DialogueQueueOptions;
  readonly #waiting: DialogueEvent[] = [];
  #state: DialogueState;
  #stepping = false;
  #closed = false;

  constructor(options: DialogueQueueOptions) {
    this.#options = options;
    this.#state = options.engine.initial;
  }

  /** Where the conversation stands. Not to be written to. */
  get state(): DialogueState {
    return this.#state;
  }

  /** Never throws. */
  dispatch(event: UntimedEvent<DialogueEvent>): void {
    if (this.#closed) return;
    if (this.#waiting.length >= WAITING_MAX) {
      this.#options.onFull(new GatewayError('QUEUE_FULL', { queue: 'call events' }));
      return;
    }
    this.#waiting.push({ at: this.#options.clock.now(), ...event });
    if (this.#stepping) return;
    this.#stepping = true;
    try {
      this.#drain();
    } catch (error) {
      this.#options.onBroken(error);
    }
    this.#stepping = false;
  }

  /** Nothing happens any more, whatever waits. */
  close(): void {
    this.#closed = true;
    this.#waiting.length = 0;
  }

  #drain(): void {
    const { engine, perform, onStepped } = this.#options;
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift()) {
      const { state, actions } = engine.step(this.#state, event);
      this.#state = state;
      for (const action of actions) perform(action);
      if (!this.#closed) onStepped(state);
    }
  }
}
