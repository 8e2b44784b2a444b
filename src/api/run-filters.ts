// The `filters` of a list of runs: a JSON array of {attribute, type, value}. Source: contract §6.2.

import { z } from 'zod';
import { GatewayError } from '../errors.ts';
import { isObject, parseJson } from '../std/json.ts';
import type { RunFilter } from '../store/run-pages.ts';

/** More say nothing new. */
const FILTERS_MAX = 20;

export interface RunFilters {
  filter: RunFilter;
  /** No run can fit, whatever is stored. */
  isEmpty: boolean;
  applied: Record<string, unknown>[];
}

const item = z.looseObject({ attribute: z.string(), type: z.string().optional() });
const moment = z.iso
  .datetime({ offset: true, local: true })
  .or(z.iso.date())
  .transform((text) => new Date(text));
const range = z.object({ min: z.number().nullish(), max: z.number().nullish() });

/** Each attribute's value, as a filter of the store. */
const readers: Readonly<Record<string, (value: unknown) => RunFilter | 'empty'>> = {
  dateRange(value) {
    const { from, to } = z.object({ from: moment.nullish(), to: moment.nullish() }).parse(value);
    return { ...(from ? { createdFrom: from } : {}), ...(to ? { createdTo: to } : {}) };
  },
  dispositionCode(value) {
    const { codes } = z.object({ codes: z.array(z.string()).max(200) }).parse(value);
    return codes.length === 0 ? {} : { dispositions: codes };
  },
  duration(value) {
    const { min, max } = range.parse(value);
    return {
      ...(typeof min === 'number' ? { durationMinS: min } : {}),
      ...(typeof max === 'number' ? { durationMaxS: max } : {}),
    };
  },
  status(value) {
    const { status } = z.object({ status: z.enum(['completed', 'in_progress']) }).parse(value);
    return { completed: status === 'completed' };
  },
  /** Nothing here costs tokens: every run has none. */
  tokenUsage(value) {
    const { min, max } = range.parse(value);
    return (min ?? 0) > 0 || (max ?? 0) < 0 ? 'empty' : {};
  },
};

/** Throws FILTER_INVALID, FILTER_FORBIDDEN. An item without `type` is ignored. */
export function parseFilters(text: string | undefined): RunFilters {
  const filters: RunFilters = { filter: {}, isEmpty: false, applied: [] };
  if (text === undefined || text === '') return filters;
  const items = z.array(item).max(FILTERS_MAX).safeParse(parseJson(text));
  if (!items.success) throw new GatewayError('FILTER_INVALID');
  for (const each of items.data) {
    const read = Object.hasOwn(readers, each.attribute) ? readers[each.attribute] : undefined;
    if (read === undefined) {
      throw new GatewayError('FILTER_FORBIDDEN', { attribute: each.attribute.slice(0, 100) });
    }
    if (each.type === undefined) continue;
    const outcome = filterBy(read, each['value']);
    if (outcome === 'empty') filters.isEmpty = true;
    else Object.assign(filters.filter, outcome);
    if (isObject(each)) filters.applied.push(each);
  }
  return filters;
}

function filterBy(
  read: (value: unknown) => RunFilter | 'empty',
  value: unknown,
): RunFilter | 'empty' {
  try {
    return read(value);
  } catch (error) {
    throw new GatewayError('FILTER_INVALID', {}, error);
  }
}
