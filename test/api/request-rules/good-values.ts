// Values that fit a schema of the API's description: as small as they can be, for fields that an example leaves out.

import { configuredProviderName } from '../../../src/model/provider.ts';
import { isObject } from '../../../src/std/json.ts';
import { secretFieldsOf } from '../../../src/telephony/registry/configuration.ts';
import { PRIVATE_KEY_PEM } from '../../fakes/vonage/account.ts';
import { ABSENT } from './breaks.ts';
import { plain, type Schema, unionOf } from './rules.ts';

/** In every field that is kept secret. */
export const SECRET = 's3cret-of-it';

const TEXTS = ['a', 'csv', '09:00', 'a.csv', 'text/csv', 'PJSIP/{number}', 'a@b.org'];
/** Texts that a check of ours reads. */
const byName: Readonly<Record<string, string>> = {
  url: 'https://crm.example.com/',
  method: 'GET',
  language: 'de',
  start_time: '09:00',
  end_time: '17:00',
  private_key: PRIVATE_KEY_PEM,
};
const secretNames = new Set(
  configuredProviderName.options.flatMap((each) =>
    secretFieldsOf(each).map((path) => path.split('.').at(-1)),
  ),
);

export function goodValue(document: Schema, described: unknown, name = ''): unknown {
  const { schema } = plain(document, described);
  const [branch] = unionOf(document, schema)?.byTag.values() ?? [];
  if (branch !== undefined) return goodValue(document, branch);
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  switch ([schema['type']].flat()[0]) {
    case 'object':
      return goodObject(document, schema);
    case 'array':
      return Array(Number(schema['minItems'] ?? 0)).fill(goodValue(document, schema['items']));
    case 'integer':
    case 'number':
      return Math.max(Number(schema['minimum'] ?? 1), Number(schema['exclusiveMinimum'] ?? 0) + 1);
    case 'boolean':
      return true;
    default:
      return goodText(schema, name);
  }
}

function goodObject(document: Schema, schema: Schema): object {
  const fields = (schema['properties'] ?? {}) as Schema;
  const required = (schema['required'] ?? []) as string[];
  return Object.fromEntries(
    required.map((name) => [name, goodValue(document, fields[name], name)]),
  );
}

function goodText(schema: Schema, name: string): string {
  const known = byName[name];
  if (known !== undefined) return known;
  if (secretNames.has(name)) return SECRET;
  if (schema['format'] === 'uri') return 'http://10.0.0.5:8088';
  if (schema['format'] === 'date-time') return '2026-05-01T00:00:00Z';
  if (Array.isArray(schema['type'])) return '1'; // An id.
  const pattern = new RegExp(String(schema['pattern'] ?? ''));
  const text = TEXTS.find((each) => pattern.test(each)) ?? 'a';
  return text.padEnd(Number(schema['minLength'] ?? 0), 'a');
}

/** `value` with `broken` at the place that `pieces` lead to; what is missing on the way there is made. */
export function withBroken(
  document: Schema,
  described: unknown,
  [piece, ...pieces]: readonly string[],
  { value, broken }: { value: unknown; broken: unknown },
): unknown {
  if (piece === undefined) return broken;
  const { schema } = plain(document, described);
  const [, tag] = /^<(.+)>$/.exec(piece) ?? [];
  const union = unionOf(document, schema);
  if (tag !== undefined && union !== undefined) {
    const branch = union.byTag.get(tag);
    const isOf = isObject(value) && value[union.tag] === tag;
    const own = isOf ? value : goodValue(document, branch);
    return withBroken(document, branch, pieces, { value: own, broken });
  }
  if (schema['type'] === 'array') {
    const [first = goodValue(document, schema['items']), ...others] = (value ?? []) as unknown[];
    return [withBroken(document, schema['items'], pieces, { value: first, broken }), ...others];
  }
  const own = (isObject(value) ? value : goodValue(document, schema)) as Schema;
  const fields = (schema['properties'] ?? {}) as Schema;
  const field = fields[piece] ?? schema['additionalProperties'];
  const inner = withBroken(document, field, pieces, { value: own[piece], broken });
  const { [piece]: _replaced, ...others } = own;
  return inner === ABSENT ? others : { ...others, [piece]: inner };
}
