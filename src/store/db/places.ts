// Places of which a limited number is taken at a time, over all processes: event streams of an organization, and
// examinations of a configuration. The places of a dead process are free when it is declared dead.

import { sql } from 'kysely';
import { shifted } from './database-time.ts';
import type { StoreContext } from './store-context.ts';

export interface PlaceClaim {
  max: number;
  /** Milliseconds after which the place is free although nobody gave it back. */
  ms: number;
}

export type PlaceStore = Pick<Places, keyof Places>;

export class Places {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Takes a place. Undefined if all of this name are taken; else a function that gives it back and never rejects. Throws
   *  STORE_UNAVAILABLE. */
  async take(name: string, { max, ms }: PlaceClaim): Promise<(() => Promise<void>) | undefined> {
    const { db, time, node, log } = this.#context;
    const now = time();
    const { rows } = await sql<{ id: string | null }>`
      select take_place(${name}, ${node}, ${max}::integer, ${now}, ${shifted(now, ms)}) as id`.execute(
      db,
    );
    const id = rows[0]?.id ?? null;
    if (id === null) return undefined;
    return async () => {
      try {
        await db.deleteFrom('places').where('id', '=', id).execute();
      } catch (error) {
        log.warn(
          { err: error, place: name },
          'a place is not given back: it is free when its time is over',
        );
      }
    };
  }
}
