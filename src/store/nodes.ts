// Which gateway processes are alive: each writes the time to its row now and then. A node that falls
// silent is dead, and its runs are another's to close.

import type { Log } from '../log.ts';
import type { Timer } from '../std/clock.ts';
import type { StoreContext } from './context.ts';

const BEAT_MS = 15_000;
/** Four beats: a slow database or a stopped virtual machine is not yet a death. */
export const DEAD_AFTER_MS = 60_000;

type PresenceContext = Pick<StoreContext, 'db' | 'clock' | 'time' | 'node'>;

export class NodePresence {
  readonly #context: PresenceContext;
  readonly #log: Log;
  #timer: Timer | undefined;
  #hasLeft = false;

  constructor(context: PresenceContext, log: Log) {
    this.#context = context;
    this.#log = log;
  }

  /** `isAlone`: no other process can be at this database, so every other node is dead. */
  async enter(isAlone: boolean): Promise<void> {
    const { db, time, node } = this.#context;
    const now = time();
    if (isAlone) await db.deleteFrom('nodes').where('name', '<>', node).execute();
    await db
      .insertInto('nodes')
      .values({ name: node, started_at: now, seen_at: now })
      .onConflict((conflict) =>
        conflict.column('name').doUpdateSet({ started_at: now, seen_at: now }),
      )
      .execute();
    this.#wait();
  }

  /** Says that this node's runs are anybody's. */
  async leave(): Promise<void> {
    this.#hasLeft = true;
    this.#timer?.cancel();
    const { db, node } = this.#context;
    await db.deleteFrom('nodes').where('name', '=', node).execute();
  }

  #wait(): void {
    if (this.#hasLeft) return;
    this.#timer = this.#context.clock.after(BEAT_MS, () => {
      this.#beat()
        .catch((error: unknown) => this.#log.warn({ err: error }, 'the node did not report'))
        .finally(() => this.#wait());
    });
  }

  async #beat(): Promise<void> {
    const { db, time, node } = this.#context;
    await db.updateTable('nodes').set({ seen_at: time() }).where('name', '=', node).execute();
  }
}
