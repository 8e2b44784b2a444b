// Leases of telephony configurations: one statement renews and claims, so that of several nodes one gets each. A killed
// node does not renew its leases; its successor has them at once.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { ProviderName } from '../../model/provider.ts';
import type { TelephonyConfiguration } from '../../model/telephony.ts';
import { shifted } from '../db/database-time.ts';
import type { StoreContext } from '../db/store-context.ts';
import { toConfiguration } from './configurations.ts';

export interface HeldConfiguration extends TelephonyConfiguration {
  /** Whether its secrets can be unsealed. If not, it has no credentials. */
  isReadable: boolean;
}

export interface LeaseClaim {
  providers: readonly ProviderName[];
  leaseMs: number;
  /** Whether other nodes' leases that have expired are claimed. */
  takesExpired: boolean;
  max: number;
}

export type LeaseStore = Pick<LeaseRepository, keyof LeaseRepository>;

export class LeaseRepository {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Renews this node's leases and claims free ones, of active and inactive configurations in all organizations, for
   *  `leaseMs` from now; at most `max`, its own first. This node then has exactly the returned leases. */
  async claim(wanted: LeaseClaim): Promise<HeldConfiguration[]> {
    if (wanted.providers.length === 0) return [];
    const ids = await this.#take(wanted);
    if (ids.length === 0) return [];
    const rows = await this.#context.db
      .selectFrom('telephony_configurations')
      .selectAll()
      .where('id', 'in', ids)
      .orderBy('id')
      .execute();
    return rows.map((row) => held(this.#context, row));
  }

  /** Releases all leases of this node. */
  async release(): Promise<void> {
    const { db, node } = this.#context;
    await db.deleteFrom('configuration_leases').where('node', '=', node).execute();
  }

  async #take({ providers, leaseMs, takesExpired, max }: LeaseClaim): Promise<string[]> {
    const { db, time, node } = this.#context;
    const now = time();
    const until = shifted(now, leaseMs);
    const rows = await db
      .insertInto('configuration_leases')
      .columns(['configuration_id', 'node', 'lease_until'])
      .expression((of) =>
        of
          .selectFrom('telephony_configurations as each')
          .leftJoin('configuration_leases as held', 'held.configuration_id', 'each.id')
          .select((row) => ['each.id', row.val(node).as('node'), until.as('until')])
          .where('each.provider', 'in', providers)
          .where((row) =>
            row.or([
              row('held.node', 'is', null),
              row('held.node', '=', node),
              ...(takesExpired ? [row('held.lease_until', '<=', now)] : []),
            ]),
          )
          .orderBy((row) => row('held.node', 'is not distinct from', node), 'desc')
          .orderBy('each.id')
          .limit(max),
      )
      .onConflict((conflict) =>
        conflict
          .column('configuration_id')
          .doUpdateSet({ node, lease_until: until })
          .where((row) =>
            row.or([
              row('configuration_leases.node', '=', node),
              row('configuration_leases.lease_until', '<=', now),
            ]),
          ),
      )
      .returning('configuration_id')
      .execute();
    return rows.map(({ configuration_id }) => configuration_id);
  }
}

function held(
  context: StoreContext,
  row: Parameters<typeof toConfiguration>[1],
): HeldConfiguration {
  try {
    return { ...toConfiguration(context, row), isReadable: true };
  } catch (error) {
    // One organization's unreadable secrets must not block other organizations' PBXs.
    if (!(error instanceof GatewayError)) throw error;
    const empty = { ...row, credentials: {}, sealed_fields: [] };
    return { ...toConfiguration(context, empty), isReadable: false };
  }
}
