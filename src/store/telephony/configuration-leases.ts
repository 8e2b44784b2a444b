// Leases of telephony configurations: one statement renews and claims, so that of several nodes one gets each. A killed
// node does not renew its leases; its successor has them at once. Claims have the connection of heartbeats: no other
// statement delays a renewal.

import { type SqlBool, sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { ConfiguredProviderName } from '../../model/provider.ts';
import type { TelephonyConfiguration } from '../../model/telephony.ts';
import { shifted } from '../db/database-time.ts';
import type { NodeIdentity, StoreContext } from '../db/store-context.ts';
import { toConfiguration } from './configurations.ts';

interface ReadConfiguration extends TelephonyConfiguration {
  /** Whether its secrets can be unsealed. If not, it has no credentials. */
  isReadable: boolean;
}

export interface HeldConfiguration extends ReadConfiguration {
  /** Number of changes of the node that has the lease (fencing): if it has changed, others had the PBX meanwhile. */
  leaseEpoch: string;
  /** Whether this claim has taken it from a node that had not released it. */
  isTakenOver: boolean;
}

export interface CallsElsewhere {
  /** The living processes of other gateways, by name and first epoch. */
  processes: NodeIdentity[];
  /** The provider's ids of their calls. */
  callIds: string[];
}

/** Calls of one PBX that are read: as many as one application may have channels. */
const CALLS_MAX = 5_000;
const PROCESSES_MAX = 5_000;
/** Condition of the index `runs_open`. */
const isOpen = sql<SqlBool>`state <> 'completed' and not is_idle`;

/** The node that holds a configuration. */
export interface LeaseHolder {
  /** Name in `nodes`. */
  node: string;
  provider: ConfiguredProviderName;
  /** As they are stored: secret fields are sealed. */
  credentials: Record<string, unknown>;
}

/** Configurations in one answer, more than any installation has PBXs. */
const HOLDERS_MAX = 5_000;

export interface LeaseClaim {
  providers: readonly ConfiguredProviderName[];
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
    const leases = await this.#take(wanted);
    if (leases.length === 0) return [];
    const { db, presence = db } = this.#context;
    const byId = new Map(leases.map((lease) => [lease.id, lease]));
    const rows = await presence
      .selectFrom('telephony_configurations')
      .selectAll()
      .where('id', '=', (of) => of.fn.any(of.val([...byId.keys()])))
      .orderBy('id')
      .execute();
    return rows.flatMap((row) => {
      const lease = byId.get(row.id);
      if (lease === undefined) return [];
      return [{ ...held(this.#context, row), leaseEpoch: lease.epoch, isTakenOver: lease.isTaken }];
    });
  }

  /** Names of the nodes with unexpired leases, by configuration. */
  async holders(providers: readonly ConfiguredProviderName[]): Promise<LeaseHolder[]> {
    if (providers.length === 0) return [];
    const { db, time } = this.#context;
    const rows = await db
      .selectFrom('configuration_leases as lease')
      .innerJoin('telephony_configurations as of', 'of.id', 'lease.configuration_id')
      .select(['lease.node', 'of.provider', 'of.credentials'])
      .where('of.provider', 'in', providers)
      .where('lease.lease_until', '>', time())
      .where('lease.node', 'is not', null)
      .$narrowType<{ node: string }>()
      .limit(HOLDERS_MAX)
      .execute();
    return rows;
  }

  /** Releases all leases of this node. */
  async release(): Promise<void> {
    const { db, time, node } = this.#context;
    await db
      .updateTable('configuration_leases')
      .set({ node: null, lease_until: time() })
      .where('node', '=', node)
      .execute();
  }

  /** Calls of a configuration that living processes of other gateways have: a process that has taken over the connection
   *  to the PBX must not end them. */
  async callsElsewhere(configurationId: string): Promise<CallsElsewhere> {
    const { db, node, gateway = node } = this.#context;
    const isOther = sql<SqlBool>`
      (nodes.name <> ${gateway} and not starts_with(nodes.name, ${`${gateway}#`}))`;
    const living = await sql<NodeIdentity>`
      select name as node, coalesce(process_epoch, epoch)::text as epoch from nodes
      where epoch is not null and ${isOther}
      limit ${PROCESSES_MAX}`.execute(db);
    const calls = await sql<{ id: string }>`
      select provider_call_id as id from runs
      where configuration_id = ${configurationId} and provider_call_id is not null and ${isOpen}
        and exists (
          select from nodes where nodes.name = runs.owner_node and nodes.epoch = runs.owner_epoch
            and ${isOther}
        )
      limit ${CALLS_MAX}`.execute(db);
    return { processes: living.rows, callIds: calls.rows.map(({ id }) => id) };
  }

  /** One statement: a process whose answer is lost has the leases nevertheless, and renews them with its next claim. */
  async #take({ providers, leaseMs, takesExpired, max }: LeaseClaim): Promise<Lease[]> {
    const { db, presence = db, time, node } = this.#context;
    const now = time();
    const { rows } = await sql<Lease>`
      insert into configuration_leases as lease (configuration_id, node, lease_until)
      select each.id, ${node}, ${shifted(now, leaseMs)}
      from telephony_configurations as each
      left join configuration_leases as held on held.configuration_id = each.id
      where each.provider = any(${providers}::text[]) and (
        held.node is null or held.node = ${node}
        or (${takesExpired} and held.lease_until <= ${now})
      )
      order by (held.node is not distinct from ${node}) desc, each.id limit ${max}
      on conflict (configuration_id) do update set
        node = excluded.node,
        lease_until = excluded.lease_until,
        epoch = lease.epoch + case when lease.node is not distinct from excluded.node then 0 else 1 end
      where lease.node is null or lease.node = excluded.node or lease.lease_until <= ${now}
      returning configuration_id as id, epoch, coalesce((
        select before.node <> ${node} from configuration_leases as before
        where before.configuration_id = lease.configuration_id
      ), false) as "isTaken"`.execute(presence);
    return rows;
  }
}

interface Lease {
  id: string;
  epoch: string;
  /** Whether the last holder had not released it. */
  isTaken: boolean;
}

function held(
  context: StoreContext,
  row: Parameters<typeof toConfiguration>[1],
): ReadConfiguration {
  try {
    return { ...toConfiguration(context, row), isReadable: true };
  } catch (error) {
    // One organization's unreadable secrets must not block other organizations' PBXs.
    if (!(error instanceof GatewayError)) throw error;
    const empty = { ...row, credentials: {}, sealed_fields: [] };
    return { ...toConfiguration(context, empty), isReadable: false };
  }
}
