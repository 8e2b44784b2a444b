// Headers in a tool's definition. Any of them may be a secret, so all values are sealed together, bound to the tool,
// and removed from the stored definition.

import { isObject } from '../../std/json.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { Fields } from '../db/tables.ts';
import type { SecretContext } from '../secrets/secret-box.ts';

/** Rows that are resealed at a time. */
const RESEAL_ROWS_MAX = 200;

interface ToolRow {
  organizationId: string;
  uuid: string;
}

/** Headers of the tool's own request, and of its resolver. Null where there are none. */
interface Headers {
  own: Fields | null;
  resolver: Fields | null;
}

/** A copy of the definition without headers, and the headers. Null if there are none. */
export function takeHeaders(definition: Fields): { bare: Fields; headers: Headers | null } {
  const { config } = definition;
  const { resolver } = isObject(config) ? config : {};
  const headers = { own: headersIn(config), resolver: headersIn(resolver) };
  if (headers.own === null && headers.resolver === null) return { bare: definition, headers: null };
  return { bare: withHeaders(definition, { own: {}, resolver: {} }), headers };
}

/** The definition with its headers inserted; a copy. */
export function putHeaders(bare: Fields, headers: Headers): Fields {
  return withHeaders(bare, headers);
}

function headersIn(holder: unknown): Fields | null {
  if (!isObject(holder) || !isObject(holder['headers'])) return null;
  return Object.keys(holder['headers']).length === 0 ? null : holder['headers'];
}

function withHeaders(definition: Fields, { own, resolver }: Headers): Fields {
  const { config } = definition;
  if (!isObject(config)) return definition;
  const inner = config['resolver'];
  return {
    ...definition,
    config: {
      ...config,
      ...(own === null || !isObject(config['headers']) ? {} : { headers: own }),
      ...(resolver === null || !isObject(inner) || !isObject(inner['headers'])
        ? {}
        : { resolver: { ...inner, headers: resolver } }),
    },
  };
}

export function sealHeaders({ secrets }: StoreContext, of: ToolRow, headers: Headers): string {
  return secrets.seal(JSON.stringify(headers), placeOf(of));
}

/** Unseals the headers. Throws SECRET_KEY_MISSING, SECRET_UNREADABLE. */
export function openHeaders({ secrets }: StoreContext, of: ToolRow, sealed: string): Headers {
  const opened: unknown = JSON.parse(secrets.open(sealed, placeOf(of)));
  const { own, resolver } = isObject(opened) ? opened : {};
  return { own: isObject(own) ? own : null, resolver: isObject(resolver) ? resolver : null };
}

/** Seals the headers of all tools by the newest key. Returns the number of changed rows. */
export async function resealTools({ db, secrets }: StoreContext): Promise<number> {
  let changed = 0;
  for (let after = '0'; ; ) {
    const rows = await db
      .selectFrom('tools')
      .select(['id', 'uuid', 'organization_id', 'sealed_headers'])
      .where('id', '>', after)
      .where('sealed_headers', 'is not', null)
      .orderBy('id')
      .limit(RESEAL_ROWS_MAX)
      .execute();
    for (const { id, uuid, organization_id: organizationId, sealed_headers: sealed } of rows) {
      if (sealed === null || secrets.isNewest(sealed)) continue;
      const place = placeOf({ organizationId, uuid });
      await db
        .updateTable('tools')
        .set({ sealed_headers: secrets.seal(secrets.open(sealed, place), place) })
        .where('id', '=', id)
        // Headers that were changed meanwhile are sealed by the newest key already.
        .where('sealed_headers', '=', sealed)
        .execute();
      changed += 1;
    }
    const last = rows.at(-1)?.id;
    if (last === undefined) return changed;
    after = last;
  }
}

function placeOf({ organizationId, uuid }: ToolRow): SecretContext {
  return { organizationId, field: `headers of tool ${uuid}` };
}
