// Tools of agents, stored by organization. Source: contract §10.1.

import type { Selectable, Updateable } from 'kysely';
import type { Tool, ToolStatus } from '../../model/tool.ts';
import { isRowId, jsonText, plainText } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { Fields, ToolTable } from '../db/tables.ts';
import { openHeaders, putHeaders, sealHeaders, takeHeaders } from './sealed-headers.ts';

export type NewTool = Pick<
  Tool,
  'name' | 'description' | 'category' | 'icon' | 'iconColor' | 'definition'
>;

export type ToolPatch = Partial<Omit<NewTool, 'category'> & { status: ToolStatus }>;

/** Longest list. */
const LISTED_MAX = 1_000;

export type ToolStore = Pick<ToolRepository, keyof ToolRepository>;

export class ToolRepository {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** The organization's tools by name; of more than a thousand the first. */
  async list(
    organizationId: string,
    { statuses, category }: { statuses: readonly ToolStatus[]; category: string | null },
  ): Promise<Tool[]> {
    if (!isRowId(organizationId) || statuses.length === 0) return [];
    let query = this.#context.db
      .selectFrom('tools')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('status', 'in', statuses);
    if (category !== null) query = query.where('category', '=', category);
    const rows = await query.orderBy('name').orderBy('id').limit(LISTED_MAX).execute();
    return rows.map((row) => this.#toTool(row));
  }

  async get(organizationId: string, uuid: string): Promise<Tool | undefined> {
    const [tool] = await this.find(organizationId, [uuid]);
    return tool;
  }

  /** The tools among `uuids` that exist, in no order and in any status. */
  async find(organizationId: string, uuids: readonly string[]): Promise<Tool[]> {
    if (!isRowId(organizationId) || uuids.length === 0) return [];
    const rows = await this.#context.db
      .selectFrom('tools')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('uuid', 'in', uuids)
      .execute();
    return rows.map((row) => this.#toTool(row));
  }

  async create(owner: { organizationId: string; userId: string }, input: NewTool): Promise<Tool> {
    const { db, clock, random } = this.#context;
    const { organizationId } = owner;
    const uuid = random.uuid();
    const row = await db
      .insertInto('tools')
      .values({
        organization_id: organizationId,
        user_id: owner.userId,
        uuid,
        name: plainText(input.name),
        description: cleanOrNull(input.description),
        category: input.category,
        icon: cleanOrNull(input.icon),
        icon_color: cleanOrNull(input.iconColor),
        status: 'active',
        ...this.#stored({ organizationId, uuid }, input.definition),
        created_at: new Date(clock.now()),
        updated_at: null,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    return this.#toTool(row);
  }

  async update(organizationId: string, uuid: string, patch: ToolPatch): Promise<Tool | undefined> {
    if (!isRowId(organizationId)) return undefined;
    const { db, clock } = this.#context;
    const { definition } = patch;
    const row = await db
      .updateTable('tools')
      .set({
        ...changes(patch),
        ...(definition === undefined ? {} : this.#stored({ organizationId, uuid }, definition)),
        updated_at: new Date(clock.now()),
      })
      .where('organization_id', '=', organizationId)
      .where('uuid', '=', uuid)
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? undefined : this.#toTool(row);
  }

  #stored(
    of: { organizationId: string; uuid: string },
    definition: Fields,
  ): { definition: string; sealed_headers: string | null } {
    const { bare, headers } = takeHeaders(definition);
    const sealed = headers === null ? null : sealHeaders(this.#context, of, headers);
    return { definition: jsonText(bare), sealed_headers: sealed };
  }

  #toTool(row: Selectable<ToolTable>): Tool {
    const of = { organizationId: row.organization_id, uuid: row.uuid };
    const sealed = row.sealed_headers;
    return {
      id: row.id,
      ...of,
      userId: row.user_id,
      name: row.name,
      description: row.description,
      category: row.category,
      icon: row.icon,
      iconColor: row.icon_color,
      status: row.status,
      definition:
        sealed === null
          ? row.definition
          : putHeaders(row.definition, openHeaders(this.#context, of, sealed)),
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    };
  }
}

function changes(patch: ToolPatch): Updateable<ToolTable> {
  const { name, description, icon, iconColor, status } = patch;
  return {
    ...(name === undefined ? {} : { name: plainText(name) }),
    ...(description === undefined ? {} : { description: cleanOrNull(description) }),
    ...(icon === undefined ? {} : { icon: cleanOrNull(icon) }),
    ...(iconColor === undefined ? {} : { icon_color: cleanOrNull(iconColor) }),
    ...(status === undefined ? {} : { status }),
  };
}

function cleanOrNull(text: string | null): string | null {
  return text === null ? null : plainText(text);
}
