// Organizations: their preferences, and the dispositions that their agents have set.

import { sql } from 'kysely';
import { isRowId, plainText } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';

/** Dispositions of one organization in a list. Models may invent any number. */
const DISPOSITIONS_MAX = 1_000;

export interface OrganizationPreferences {
  /** The number as the client sent it; it is normalised before dialling. Null: none. */
  testPhoneNumber: string | null;
  /** Time zone by its IANA name, such as `Europe/Oslo`. Null: none. */
  timezone: string | null;
  externalPbxIntegrationsEnabled: boolean;
}

export interface OrganizationStore {
  /** Preferences of the organization; undefined if it does not exist. */
  preferences(organizationId: string): Promise<OrganizationPreferences | undefined>;
  /** Whether it is the oldest organization of the installation. */
  isFirst(organizationId: string): Promise<boolean>;
  /** Changes preferences; absent fields are unchanged. */
  setPreferences(
    organizationId: string,
    patch: Partial<OrganizationPreferences>,
  ): Promise<OrganizationPreferences | undefined>;
  /** Dispositions of the organization's workflows without repetition, sorted; at most a thousand. */
  dispositions(organizationId: string): Promise<string[]>;
}

const COLUMNS = ['test_phone_number', 'timezone', 'external_pbx_integrations_enabled'] as const;

export class OrganizationRepository implements OrganizationStore {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  async isFirst(organizationId: string): Promise<boolean> {
    const first = await this.#context.db
      .selectFrom('organizations')
      .select('id')
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    return first?.id === organizationId;
  }

  async preferences(organizationId: string): Promise<OrganizationPreferences | undefined> {
    if (!isRowId(organizationId)) return undefined;
    const row = await this.#context.db
      .selectFrom('organizations')
      .select(COLUMNS)
      .where('id', '=', organizationId)
      .executeTakeFirst();
    return row === undefined ? undefined : toPreferences(row);
  }

  async setPreferences(
    organizationId: string,
    patch: Partial<OrganizationPreferences>,
  ): Promise<OrganizationPreferences | undefined> {
    if (!isRowId(organizationId)) return undefined;
    const { testPhoneNumber: number, timezone, externalPbxIntegrationsEnabled: enabled } = patch;
    const changes = {
      ...(number === undefined
        ? {}
        : { test_phone_number: number === null ? null : plainText(number) }),
      ...(timezone === undefined ? {} : { timezone }),
      ...(enabled === undefined ? {} : { external_pbx_integrations_enabled: enabled }),
    };
    if (Object.keys(changes).length === 0) return this.preferences(organizationId);
    const row = await this.#context.db
      .updateTable('organizations')
      .set(changes)
      .where('id', '=', organizationId)
      .returning(COLUMNS)
      .executeTakeFirst();
    return row === undefined ? undefined : toPreferences(row);
  }

  async dispositions(organizationId: string): Promise<string[]> {
    if (!isRowId(organizationId)) return [];
    const { rows } = await sql<{ code: string }>`
      select distinct code collate "C" as code
        from workflows, unnest(disposition_codes) as code
       where organization_id = ${organizationId}
       order by code
       limit ${DISPOSITIONS_MAX}`.execute(this.#context.db);
    return rows.map(({ code }) => code);
  }
}

function toPreferences(row: {
  test_phone_number: string | null;
  timezone: string | null;
  external_pbx_integrations_enabled: boolean;
}): OrganizationPreferences {
  return {
    testPhoneNumber: row.test_phone_number,
    timezone: row.timezone,
    externalPbxIntegrationsEnabled: row.external_pbx_integrations_enabled,
  };
}
