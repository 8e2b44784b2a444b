// Values of recorded answers in a form that does not change from one run to the next, under names that an organization
// would give.

import { isObject } from '../../../src/std/json.ts';
import { MARK } from '../world.ts';

/** Items of a list, and characters of a text, that an example of a response shows. */
const ITEMS_MAX = 2;
const CHARACTERS_MAX = 200;

/** Replaces what differs from one run to the next. */
export function steadied() {
  const ids = new Map<string, string>();
  return function steady(value: unknown, { whole }: { whole: boolean }, key = ''): unknown {
    if (Array.isArray(value)) {
      const shown = whole ? value : value.slice(0, ITEMS_MAX);
      return shown.map((each) => steady(each, { whole }, key));
    }
    if (isObject(value)) {
      return Object.fromEntries(
        Object.entries(value).map(([name, each]) =>
          isAuthors(name, value) ? [name, renamed(each)] : [name, steady(each, { whole }, name)],
        ),
      );
    }
    return leaf(value, whole, key);
  };

  function leaf(value: unknown, whole: boolean, key: string): unknown {
    if (typeof value === 'number') return VARYING.test(key) ? 2 : value;
    if (typeof value !== 'string') return value;
    const text = isId(key, value) ? numbered(value) : plain(value, key);
    return whole ? text : text.slice(0, CHARACTERS_MAX);
  }

  function numbered(id: string): string {
    const known = ids.get(id) ?? String(42 + ids.size);
    ids.set(id, known);
    return known;
  }
}

function isId(key: string, value: string): boolean {
  return /(^|_)id$/.test(key) && !/node_id$/.test(key) && /^\d+$/.test(value);
}

/** Whether a field has what an author wrote, with ids of the author's own; or an id that is everywhere the same. */
function isAuthors(name: string, { kind, template_name }: Record<string, unknown>): boolean {
  if (name === 'id') return kind !== undefined || template_name !== undefined;
  return AUTHORS.has(name);
}

/** Other values of single fields. */
const byKey: Readonly<Record<string, string>> = {
  secret: 'whsec_AbCdEfGhIjKlMnOpQrStUvWxYz012345',
  date: '2026-01-15',
  app_name: 'patchbay',
  node: 'gateway-1',
};

function plain(text: string, key: string): string {
  if (key === 'api_key' && text.startsWith('pbk_')) return `pbk_${'Ab1'.repeat(14)}X`;
  if (key === 'key_prefix' || key === 'secret_prefix') return text.replace(/(?<=_).*/, 'Ab1A');
  if (key === 'token' && text.startsWith('eyJ'))
    return 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2ln';
  const known = byKey[key];
  if (known !== undefined) return known;
  return named(text)
    .replace(/^\*{4,}[-\w]{4}$/, '************d7Kq')
    .replace(/\d{4}-\d\d-\d\d(?=$|T)/g, '2026-01-15')
    .replace(/(?<=2026-01-15)T[\d:.]+(?=Z|\+)/g, 'T09:30:00.000')
    .replace(/(?<=turn_)[0-9a-f]{12}/g, '4f9c2d1ab03e')
    .replace(/(?<=patchbay_)[0-9a-f]{12}/g, '4f9c2d1ab03e')
    .replace(/\b[0-9a-f]{16}\b/g, '4f9c2d1ab03e77d5')
    .replace(/(?<=expires=)\d+/g, '1768470600')
    .replace(/(?<=signature=)[\w-]+/g, 'c2lnbmF0dXJl')
    .replace(/(?<=(recordings|campaigns|ambient_noise|transcripts)\/)\d+/g, '7')
    .replace(/(?<=WR-TEXT-)[0-9A-F]{6}/g, '1A2B3C')
    .replace(/(?<=WR-[A-Z-]+-)\d{4,}/g, '1234');
}

function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamed);
  if (typeof value === 'string') return named(value);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, renamed(each)]));
}

function named(text: string): string {
  const renamed = names.reduce((so, [of, name]) => so.replaceAll(of, name), text);
  return renamed.replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, UUID);
}

/** Names and addresses in the world, and what an organization calls them. */
const names: readonly (readonly [RegExp | string, string])[] = [
  [new RegExp(`${MARK}-recording-\\d+`, 'g'), 'greeting'],
  [`${MARK}.csv`, 'contacts.csv'],
  [`${MARK} pbx`, 'PBX of the office'],
  [`${MARK} trunked`, 'Cloudonix'],
  [`${MARK} trunk`, 'Europe'],
  [`${MARK} number`, 'Reception'],
  [`${MARK} line`, 'Main number'],
  [`${MARK} key`, 'Dialler'],
  [`${MARK} agent`, 'Appointments'],
  [`${MARK} run`, 'WR-TEL-IN-00004821'],
  [`${MARK} folder`, 'Support'],
  [`${MARK} webhook`, 'CRM'],
  [`${MARK} writer`, 'Chat of the website'],
  [`${MARK} chat`, 'Visitor of the website'],
  [`${MARK} campaign`, 'Reminders in spring'],
  [`${MARK} words`, 'Thank you for calling.'],
  [`${MARK} credential`, 'CRM'],
  [`${MARK} tool`, 'Look up customer'],
  [`${MARK} server`, 'Calendar'],
  [MARK, 'acme'],
  ['Shall we end?', 'How can I help you?'],
  ['http://pbx:8088', 'http://10.0.0.5:8088'],
  ['http://127.0.0.1/', 'https://crm.example.com/customers'],
];

/** Fields with ids and texts of an author's. */
const AUTHORS = new Set([
  'workflow_definition',
  'workflow_json',
  'template_json',
  'template_id',
  'llm_params',
]);
/** Numbers that differ from one run to the next. */
const VARYING = /^(loop_lag_.*|duration_ms|.*latency.*)$/;
const UUID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
