// The parameter `filters` of lists of runs: run-filter-query.ts reads what it describes. Source: contract §6.2.

import { z } from 'zod';
import type { RunList } from './run-filter-query.ts';

const CHARACTERS_MAX = 10_000;

const everyList = [
  '`dateRange` `{from?, to?}` (created between)',
  '`dispositionCode` `{codes: [...]}` (one of them)',
  '`duration` `{min?, max?}` (seconds)',
  '`status` `{status: completed or in_progress}`',
  '`tokenUsage` `{min?, max?}` (tokens)',
];

const organizationList = [
  ...everyList,
  '`runId`, `workflowId`, `campaignId` `{value}` (equal)',
  '`callTags` `{codes: [...]}` (all of them)',
  '`callerNumber`, `calledNumber` `{value}` (contained)',
  '`callDirection` `{status: inbound or outbound}`',
  '`callChannel` `{status: telephony, web or chat}`',
];

/** The parameter of a list of that kind. */
export function filtersParameter(list: RunList) {
  const attributes = list === 'organization' ? organizationList : everyList;
  return z
    .string()
    .max(CHARACTERS_MAX)
    .optional()
    .meta({
      description: `A JSON array of at most 20 \`{attribute, type, value}\`, all of which must fit. \`type\` is any text; without it an item is ignored. Attributes with their values: ${attributes.join(', ')}. Any other attribute is 403. Default: all runs.`,
      examples: ['[{"attribute":"duration","type":"numberRange","value":{"min":60}}]'],
    });
}
