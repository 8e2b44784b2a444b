// The `filters` of a list of runs: a JSON array of {attribute, type, value}. Lists of one agent or one campaign accept
// fewer attributes than an organization's. Source: contract §6.2.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { configuredProviderName, direction } from '../../model/provider.ts';
import { isObject, parseJson } from '../../std/json.ts';
import type { RunFilter } from '../../store/runs/run-filters.ts';
import { readValue } from '../http/validation.ts';
import { idIn, momentIn } from '../http/values.ts';

/** Filters of a query; more add nothing. */
const FILTERS_MAX = 20;
/** Words of one filter; the next constant limits the characters of a word. */
const CODES_MAX = 200;
const CODE_LENGTH_MAX = 255;

export interface RunFilters {
  filter: RunFilter;
  applied: Record<string, unknown>[];
}

/** Kind of a list, which decides the accepted attributes. */
export type RunList = 'agent' | 'campaign' | 'organization';

const item = z.looseObject({ attribute: z.string(), type: z.string().optional() });
const range = z.object({ min: z.number().nullish(), max: z.number().nullish() });
const word = z.string().max(CODE_LENGTH_MAX);
const codes = z.object({ codes: z.array(word).max(CODES_MAX) });
const part = z.object({ value: word });
const oneId = z.object({ value: idIn });
const channel = z.object({ status: z.enum(['telephony', 'web', 'chat']) });

/** Run modes by channel, including those of earlier versions of the reference platform. */
const channelModes = {
  telephony: [...configuredProviderName.options, 'stasis', 'VOICE'],
  web: ['web', 'webrtc', 'smallwebrtc'],
  chat: ['textchat', 'CHAT'],
} as const;

type Readers = Readonly<Record<string, (value: unknown) => RunFilter>>;

/** Readers of each attribute's value, as a filter of the store. */
const readers: Readers = {
  dateRange(value) {
    const { from, to } = z
      .object({ from: momentIn.nullish(), to: momentIn.nullish() })
      .parse(value);
    return { ...(from ? { createdFrom: from } : {}), ...(to ? { createdTo: to } : {}) };
  },
  dispositionCode(value) {
    const { codes: dispositions } = codes.parse(value);
    return dispositions.length === 0 ? {} : { dispositions };
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
  tokenUsage(value) {
    const { min, max } = range.parse(value);
    return {
      ...(typeof min === 'number' ? { tokensMin: min } : {}),
      ...(typeof max === 'number' ? { tokensMax: max } : {}),
    };
  },
};

const readersOfOrganization: Readers = {
  ...readers,
  runId: (value) => ({ id: oneId.parse(value).value }),
  workflowId: (value) => ({ workflowId: oneId.parse(value).value }),
  campaignId: (value) => ({ campaignId: oneId.parse(value).value }),
  callTags(value) {
    const { codes: tags } = codes.parse(value);
    return tags.length === 0 ? {} : { tags };
  },
  callerNumber(value) {
    const { value: callerNumber } = part.parse(value);
    return callerNumber === '' ? {} : { callerNumber };
  },
  calledNumber(value) {
    const { value: calledNumber } = part.parse(value);
    return calledNumber === '' ? {} : { calledNumber };
  },
  callDirection: (value) => ({ direction: z.object({ status: direction }).parse(value).status }),
  callChannel: (value) => ({ modes: channelModes[channel.parse(value).status] }),
};

/** Parses the filters. An item without `type` is ignored. Of two items with the same attribute the later one counts.
 *  Throws FILTER_INVALID, FILTER_FORBIDDEN. */
export function parseFilters(text: string | undefined, list: RunList): RunFilters {
  const filters: RunFilters = { filter: {}, applied: [] };
  if (text === undefined || text === '') return filters;
  const items = readValue(z.array(item).max(FILTERS_MAX), parseJson(text));
  if (items?.success !== true) throw new GatewayError('FILTER_INVALID');
  const known = list === 'organization' ? readersOfOrganization : readers;
  for (const each of items.data) {
    const read = Object.hasOwn(known, each.attribute) ? known[each.attribute] : undefined;
    if (read === undefined) {
      const attributes = Object.keys(known).join(', ');
      throw new GatewayError('FILTER_FORBIDDEN', {
        attribute: each.attribute.slice(0, 100),
        attributes,
      });
    }
    if (each.type === undefined) continue;
    Object.assign(filters.filter, filterBy(read, each['value']));
    if (isObject(each)) filters.applied.push(each);
  }
  return filters;
}

function filterBy(read: (value: unknown) => RunFilter, value: unknown): RunFilter {
  try {
    return read(value);
  } catch (error) {
    throw new GatewayError('FILTER_INVALID', {}, error);
  }
}
