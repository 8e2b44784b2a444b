// Trunks: connections to the telephone network for a configuration's outbound calls, where its provider has them.
// Callers have checked the configuration's organization.

import type { Selectable } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Trunk } from '../../model/telephony.ts';
import { isRowId, jsonText, plainText } from '../db/column-values.ts';
import { violated } from '../db/database-errors.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { TrunkTable } from '../db/tables.ts';
import { lockConfiguration } from './configurations.ts';

export interface TrunkSettings {
  name: string;
  enabled: boolean;
  settings: Record<string, unknown>;
}

/** Trunks of one configuration: the list has no pages. */
const TRUNKS_MAX = 100;

export type TrunkStore = Pick<TrunkRepository, keyof TrunkRepository>;

export class TrunkRepository {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** The configuration's trunks, oldest first. */
  async list(configurationId: string): Promise<Trunk[]> {
    if (!isRowId(configurationId)) return [];
    const rows = await this.#trunks()
      .where('configuration_id', '=', configurationId)
      .orderBy('id')
      .execute();
    return rows.map(toTrunk);
  }

  /** Creates a trunk. Throws CONFIGURATION_NOT_FOUND, TRUNK_NAME_TAKEN, TRUNKS_FULL. */
  async create(configurationId: string, input: TrunkSettings): Promise<Trunk> {
    if (!isRowId(configurationId)) throw new GatewayError('CONFIGURATION_NOT_FOUND');
    const now = new Date(this.#context.clock.now());
    try {
      return await this.#context.db.transaction().execute(async (tx) => {
        if ((await lockConfiguration(tx, undefined, configurationId)) === undefined) {
          throw new GatewayError('CONFIGURATION_NOT_FOUND');
        }
        const { count } = await tx
          .selectFrom('telephony_trunks')
          .select((of) => of.fn.countAll<string>().as('count'))
          .where('configuration_id', '=', configurationId)
          .executeTakeFirstOrThrow();
        if (Number(count) >= TRUNKS_MAX) throw new GatewayError('TRUNKS_FULL', { max: TRUNKS_MAX });
        const row = await tx
          .insertInto('telephony_trunks')
          .values({
            configuration_id: configurationId,
            name: plainText(input.name),
            enabled: input.enabled,
            settings: jsonText(input.settings),
            created_at: now,
            updated_at: now,
          })
          .returningAll()
          .executeTakeFirstOrThrow();
        return toTrunk({ ...row, phone_numbers: '0' });
      });
    } catch (error) {
      throw asConflict(error, input.name);
    }
  }

  /** Changes a trunk; undefined if there is none of that id. Throws TRUNK_NAME_TAKEN. */
  async update(
    configurationId: string,
    id: string,
    { name, enabled, settings }: Partial<TrunkSettings>,
  ): Promise<Trunk | undefined> {
    if (!isRowId(configurationId) || !isRowId(id)) return undefined;
    try {
      await this.#context.db
        .updateTable('telephony_trunks')
        .set({
          ...(name === undefined ? {} : { name: plainText(name) }),
          ...(enabled === undefined ? {} : { enabled }),
          ...(settings === undefined ? {} : { settings: jsonText(settings) }),
          updated_at: new Date(this.#context.clock.now()),
        })
        .where('configuration_id', '=', configurationId)
        .where('id', '=', id)
        .execute();
    } catch (error) {
      throw asConflict(error, name ?? '');
    }
    const row = await this.#trunks()
      .where('configuration_id', '=', configurationId)
      .where('id', '=', id)
      .executeTakeFirst();
    return row === undefined ? undefined : toTrunk(row);
  }

  /** Deletes a trunk. False if there is none with that id. Throws TRUNK_IN_USE if a number uses it. */
  async delete(configurationId: string, id: string): Promise<boolean> {
    if (!isRowId(configurationId) || !isRowId(id)) return false;
    try {
      const { numDeletedRows } = await this.#context.db
        .deleteFrom('telephony_trunks')
        .where('configuration_id', '=', configurationId)
        .where('id', '=', id)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    } catch (error) {
      if (violated(error) === 'phone_numbers_trunk') {
        throw new GatewayError('TRUNK_IN_USE', { id }, error);
      }
      throw error;
    }
  }

  #trunks() {
    return this.#context.db
      .selectFrom('telephony_trunks')
      .selectAll()
      .select((of) =>
        of
          .selectFrom('phone_numbers')
          .select((number) => number.fn.countAll<string>().as('count'))
          .whereRef('trunk_id', '=', 'telephony_trunks.id')
          .as('phone_numbers'),
      );
  }
}

function asConflict(error: unknown, name: string): unknown {
  if (violated(error) !== 'telephony_trunks_name') return error;
  return new GatewayError('TRUNK_NAME_TAKEN', { name }, error);
}

function toTrunk(row: Selectable<TrunkTable> & { phone_numbers: string | null }): Trunk {
  return {
    id: row.id,
    configurationId: row.configuration_id,
    name: row.name,
    enabled: row.enabled,
    settings: row.settings,
    phoneNumbers: Number(row.phone_numbers ?? 0),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
