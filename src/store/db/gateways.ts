// The gateways on one database, by their rows of `nodes`: name, address, version.

import { sql } from 'kysely';
import type { StoreContext } from './store-context.ts';

/** Time without a heartbeat after which a gateway is not relied on: five intervals. It need not be dead. */
const SILENT_AFTER_MS = 10_000;
/** More than one database carries. */
const GATEWAYS_MAX = 200;

export interface LivingGateway {
  name: string;
  /** Where other gateways reach it. */
  url: string;
  version: string;
}

export type GatewayStore = Pick<GatewayRepository, keyof GatewayRepository>;

export class GatewayRepository {
  readonly #context: Pick<StoreContext, 'db' | 'time'>;

  constructor(context: Pick<StoreContext, 'db' | 'time'>) {
    this.#context = context;
  }

  /** The living gateways, this one too, by name; without those that have not reported for ten seconds, or have no
   *  address. */
  async living(): Promise<LivingGateway[]> {
    const { db, time } = this.#context;
    const { rows } = await sql<LivingGateway>`
      select name, url, version from nodes
      where url is not null and version is not null
        and seen_at > ${time()} - ${SILENT_AFTER_MS} * interval '1 millisecond'
      order by name limit ${GATEWAYS_MAX}`.execute(db);
    return rows;
  }
}
