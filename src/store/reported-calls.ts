// The run that a provider's webhook is about, with its telephony configuration, in one statement: a call has several
// webhooks, and the provider waits for each.

import type { Kysely } from 'kysely';
import type { Run } from '../model/run.ts';
import type { TelephonyConfiguration } from '../model/telephony.ts';
import { isRowId } from './db/column-values.ts';
import type { StoreContext } from './db/store-context.ts';
import type { Tables } from './db/tables.ts';
import { toRun } from './runs/runs.ts';
import { toConfiguration } from './telephony/configurations.ts';

interface ReportedCall {
  run: Run;
  /** Undefined if the configuration is deleted. */
  configuration: TelephonyConfiguration | undefined;
}

export type ReportedCallStore = Pick<ReportedCalls, keyof ReportedCalls>;

export class ReportedCalls {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Finds the run and its configuration; undefined if there is no such run. */
  async find(runId: string): Promise<ReportedCall | undefined> {
    if (!isRowId(runId)) return undefined;
    const row = await withConfigurations(this.#context.db)
      .where('runs.id', '=', runId)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const { of_name: name, provider, credentials, sealed_fields: sealed } = row;
    if (name === null || provider === null || credentials === null || sealed === null) {
      return { run: toRun(row), configuration: undefined };
    }
    const configuration = toConfiguration(this.#context, {
      name,
      provider,
      credentials,
      sealed_fields: sealed,
      id: row.configuration_id ?? '',
      organization_id: row.organization_id,
      is_default_outbound: row.is_default_outbound ?? false,
      inactive_since: row.inactive_since,
      inactive_reason: row.inactive_reason,
      calls_per_second: row.calls_per_second,
      overflow: row.overflow,
      created_at: row.of_created_at ?? row.created_at,
      updated_at: row.updated_at ?? row.created_at,
    });
    return { run: toRun(row), configuration };
  }
}

function withConfigurations(db: Kysely<Tables>) {
  return db
    .selectFrom('runs')
    .leftJoin('telephony_configurations as of', (join) =>
      join
        .onRef('of.id', '=', 'runs.configuration_id')
        .onRef('of.organization_id', '=', 'runs.organization_id'),
    )
    .selectAll('runs')
    .select(['of.name as of_name', 'of.created_at as of_created_at'])
    .select(['of.provider', 'of.credentials', 'of.sealed_fields', 'of.is_default_outbound'])
    .select([
      'of.inactive_since',
      'of.inactive_reason',
      'of.calls_per_second',
      'of.overflow',
      'of.updated_at',
    ]);
}
