// The last permanent fault of each speech service of an organization, as its calls met it, until a call in which the
// service works, an accepted key, or a new configuration. One row for each service that this version knows.

import { sql } from 'kysely';
import { isRowId, plainText } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';

/** Longest list, more than there are services. */
const LISTED_MAX = 200;

export interface ServiceName {
  job: 'llm' | 'tts' | 'stt';
  /** Name of the service as in the configuration. */
  service: string;
}

export interface MetServiceFault extends ServiceName {
  kind: string;
  /** Message of the service, without secrets. */
  detail: string;
}

export interface StoredServiceFault extends MetServiceFault {
  /** The last call that met the fault. */
  runId: string;
  firstAt: Date;
  lastAt: Date;
}

export type ServiceFaultStore = Pick<ServiceFaultRepository, keyof ServiceFaultRepository>;

export class ServiceFaultRepository {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Faults by job and service. */
  async list(organizationId: string): Promise<StoredServiceFault[]> {
    if (!isRowId(organizationId)) return [];
    const rows = await this.#context.db
      .selectFrom('service_faults')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .orderBy('job')
      .orderBy('service')
      .limit(LISTED_MAX)
      .execute();
    return rows.map((row) => ({
      job: row.job,
      service: row.service,
      kind: row.kind,
      detail: row.detail,
      runId: row.run_id,
      firstAt: row.first_at,
      lastAt: row.last_at,
    }));
  }

  async note(
    { organizationId, runId }: { organizationId: string; runId: string },
    fault: MetServiceFault,
  ): Promise<void> {
    const now = new Date(this.#context.clock.now());
    const { job, service, kind } = fault;
    const met = { kind, detail: plainText(fault.detail), run_id: runId, last_at: now };
    await this.#context.db
      .insertInto('service_faults')
      .values({ organization_id: organizationId, job, service, first_at: now, ...met })
      .onConflict((conflict) =>
        conflict.columns(['organization_id', 'job', 'service']).doUpdateSet({
          ...met,
          // Another kind of fault has a new start time.
          first_at: sql`case when service_faults.kind = excluded.kind
            then service_faults.first_at else excluded.first_at end`,
        }),
      )
      .execute();
  }

  /** Clears faults of the services, of some kinds only. Default: all kinds. Rows are locked in the order in which the
   *  end of a call locks them, so that neither waits for the other's. */
  async clear(
    organizationId: string,
    only: { services?: readonly ServiceName[]; kinds?: readonly string[] } = {},
  ): Promise<void> {
    const { services, kinds } = only;
    if (!isRowId(organizationId) || services?.length === 0) return;
    await this.#context.db
      .deleteFrom('service_faults')
      .using((of) =>
        of
          .selectFrom('service_faults as fault')
          .select(['job', 'service'])
          .where('organization_id', '=', organizationId)
          .$if(kinds !== undefined, (all) => all.where('kind', 'in', kinds ?? []))
          .$if(services !== undefined, (all) =>
            all.where((row) =>
              row.or(
                (services ?? []).map(({ job, service }) =>
                  row.and([row('job', '=', job), row('service', '=', service)]),
                ),
              ),
            ),
          )
          .orderBy('job')
          .orderBy('service')
          .forUpdate()
          .as('over'),
      )
      .where('service_faults.organization_id', '=', organizationId)
      .whereRef('service_faults.job', '=', 'over.job')
      .whereRef('service_faults.service', '=', 'over.service')
      .execute();
  }
}
