// Filters of the list of runs: from the address to the query of the API, and to that of the report.

import type { paths } from '../../api/schema.d.ts';

/** Names of the filters in the address. Moments are in ISO 8601, lengths in seconds. */
export const FILTER_NAMES = [
  'text',
  'number',
  'agent',
  'attention',
  'from',
  'to',
  'campaign',
  'direction',
  'state',
  'disposition',
  'provider',
  'min',
  'max',
] as const;
type FilterName = (typeof FILTER_NAMES)[number];
export type RunFilters = Partial<Record<FilterName, string>>;

type RunQuery = NonNullable<paths['/api/v1/runs']['get']['parameters']['query']>;

/** Parameters of the API by the names in the address. */
const IN_QUERY: Readonly<Record<FilterName, keyof RunQuery>> = {
  text: 'text',
  number: 'number',
  agent: 'workflow_id',
  attention: 'attention',
  from: 'from',
  to: 'to',
  campaign: 'campaign_id',
  direction: 'direction',
  state: 'state',
  disposition: 'disposition',
  provider: 'provider',
  min: 'min_duration',
  max: 'max_duration',
};

/** Filters that may have what people say or are: they are not stored on a device. */
const PERSONAL: readonly FilterName[] = ['text', 'number'];
/** Filters that the report has, too. */
const IN_REPORT: readonly FilterName[] = [
  'agent',
  'from',
  'to',
  'campaign',
  'direction',
  'disposition',
  'min',
  'max',
];

const FILTER_LABELS: Readonly<Record<FilterName, string>> = {
  text: 'words',
  number: 'number',
  agent: 'agent',
  attention: 'needs attention',
  from: 'from',
  to: 'until',
  campaign: 'campaign',
  direction: 'direction',
  state: 'state',
  disposition: 'disposition',
  provider: 'provider',
  min: 'shortest length',
  max: 'longest length',
};

export function filtersIn(search: URLSearchParams): RunFilters {
  const filters: RunFilters = {};
  for (const name of FILTER_NAMES) {
    const value = search.get(name)?.trim();
    if (value !== undefined && value !== '') filters[name] = value;
  }
  return filters;
}

/** The address below /console, without a position: the first page. */
export function hrefOf(filters: RunFilters, after?: string): string {
  const search = new URLSearchParams(filters);
  if (after !== undefined) search.set('after', after);
  return search.size === 0 ? '/runs' : `/runs?${search}`;
}

/** What is stored under a name: the address's query without what is personal. */
export function storedQueryOf(filters: RunFilters): string {
  const kept = Object.entries(filters).filter(([name]) => !isIn(PERSONAL, name));
  return new URLSearchParams(kept).toString();
}

export function hasPersonal(filters: RunFilters): boolean {
  return PERSONAL.some((name) => filters[name] !== undefined);
}

/** The filters as parameters of `GET /api/v1/runs`, which refuses what is not valid in an address. */
export function queryOf(filters: RunFilters): RunQuery {
  const entries = Object.entries(filters) as [FilterName, string][];
  return Object.fromEntries(
    entries.map(([name, value]) => [IN_QUERY[name], name === 'attention' ? true : value]),
  );
}

/** Names of the filters that the report ignores. */
export function outsideReport(filters: RunFilters): string[] {
  return Object.keys(filters)
    .filter((name) => !isIn(IN_REPORT, name))
    .map((name) => FILTER_LABELS[name as FilterName]);
}

/** Address of the CSV report of completed calls with these filters. */
export function reportHref(filters: RunFilters): string {
  const { agent, campaign, direction, disposition, from, to, min, max } = filters;
  const items: { attribute: string; type: string; value: object }[] = [];
  const add = (attribute: string, value: object) => items.push({ attribute, type: 'is', value });
  if (agent !== undefined) add('workflowId', { value: agent });
  if (campaign !== undefined) add('campaignId', { value: campaign });
  if (direction !== undefined) add('callDirection', { status: direction });
  if (disposition !== undefined) add('dispositionCode', { codes: [disposition] });
  if (min !== undefined || max !== undefined)
    add('duration', { min: numberOf(min), max: numberOf(max) });
  const search = new URLSearchParams();
  if (from !== undefined) search.set('start_date', from);
  if (to !== undefined) search.set('end_date', to);
  if (items.length > 0) search.set('filters', JSON.stringify(items));
  return `/api/v1/organizations/usage/runs/report?${search}`;
}

function numberOf(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

function isIn(names: readonly string[], name: string): boolean {
  return names.includes(name);
}

/** A moment for an input of the type `datetime-local`, in the device's time zone; empty if it is none. */
export function localTime(iso: string | undefined): string {
  const at = iso === undefined ? Number.NaN : Date.parse(iso);
  if (Number.isNaN(at)) return '';
  const date = new Date(at);
  return new Date(at - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The moment of an input of the type `datetime-local` in ISO 8601; undefined if it is empty. */
export function isoOf(local: string): string | undefined {
  const at = Date.parse(local);
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}
