// Schemas of tools. Source: contract §10.1.

import { z } from 'zod';
import { CONTEXT_LIMITS } from '../../model/json-limits.ts';
import { type Tool, toolStatus } from '../../model/tool.ts';
import { toolCategory, toolDefinition } from '../../workflow/tools/registry.ts';
import { wrongDestinations } from '../../workflow/tools/transfer-call-tool.ts';
import { providerIdOf } from '../accounts/user-schema.ts';
import {
  freeObject,
  idOut,
  isoTime,
  isoTimeOrNull,
  nameIn,
  timeOut,
  within,
} from '../http/values.ts';
import { maskHeaders } from './masked-headers.ts';

const DEFAULT_ICON = 'globe';
const DEFAULT_COLOR = '#3B82F6';

const name = nameIn(255).describe(
  'A name of 1 to 255 characters. In small letters, digits and `_` it is the name of the function that the model calls.',
);
const description = z.string().max(4_000);
const icon = z.string().max(100);
const UNCHANGED = 'Left out: unchanged.';
const definitionIn = within(toolDefinition, CONTEXT_LIMITS)
  .check(({ value, issues }) => {
    const message =
      'must be a telephone number with + and the country code, an extension, a SIP URI, an endpoint such as PJSIP/reception, or a template';
    for (const path of wrongDestinations(value)) {
      issues.push({ code: 'custom', message, path: ['config', ...path], input: undefined });
    }
  })
  .meta({ id: 'ToolDefinition', description: 'What the tool does: one shape for each type.' });

export const toolCreate = z
  .object({
    name,
    description: description
      .nullable()
      .default(null)
      .meta({ description: 'Tells the model when to use the tool, in up to 4,000 characters.' }),
    category: toolCategory
      .nullish()
      .meta({ description: 'The `type` of the definition, which is also the default.' }),
    icon: icon.nullable().default(DEFAULT_ICON).describe('Name of an icon for user interfaces.'),
    icon_color: icon
      .nullable()
      .default(DEFAULT_COLOR)
      .describe('Colour of the icon, for user interfaces.'),
    definition: definitionIn,
  })
  .refine(({ category, definition }) => !category || category === definition.type, {
    path: ['category'],
    error: 'category must be the type of the definition',
  });

/** Change of a tool. Null is "unchanged", except for optional fields, which it removes. */
export const toolUpdate = z.object({
  name: name
    .nullish()
    .describe('The new name, of 1 to 255 characters. Null or left out: unchanged.'),
  description: description
    .nullish()
    .describe(`When the model should use the tool. Null removes it. ${UNCHANGED}`),
  icon: icon.nullish().describe(`Name of an icon. Null removes it. ${UNCHANGED}`),
  icon_color: icon.nullish().describe(`Colour of the icon. Null removes it. ${UNCHANGED}`),
  definition: definitionIn
    .nullish()
    .describe(
      'Takes the place of the whole definition; its `type` is fixed. Masked headers stay as they are. Null or left out: unchanged.',
    ),
  status: toolStatus
    .nullish()
    .describe('Only `active` tools are offered to models. Null or left out: unchanged.'),
});

export const toolOut = z
  .object({
    id: idOut,
    tool_uuid: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    category: toolCategory,
    icon: z.string().nullable(),
    icon_color: z.string().nullable(),
    status: toolStatus,
    definition: freeObject,
    created_at: timeOut,
    updated_at: timeOut.nullable(),
    created_by: z.object({ id: idOut, provider_id: z.string() }).nullable(),
  })
  .meta({ id: 'ToolResponse', description: 'A tool; values of secret headers are masked.' });

export function toolOnWire(tool: Tool): z.infer<typeof toolOut> {
  const { userId } = tool;
  return {
    id: tool.id,
    tool_uuid: tool.uuid,
    name: tool.name,
    description: tool.description,
    category: tool.category,
    icon: tool.icon,
    icon_color: tool.iconColor,
    status: tool.status,
    definition: maskHeaders(tool.definition),
    created_at: isoTime(tool.createdAt),
    updated_at: isoTimeOrNull(tool.updatedAt),
    created_by: userId === null ? null : { id: userId, provider_id: providerIdOf(userId) },
  };
}

export const toolTest = z.object({
  llm_params: freeObject.nullish().meta({
    description: 'What a model would give, by the names of `parameters`. Default: nothing.',
  }),
  preset_params: freeObject.nullish().meta({
    description:
      'Values in place of the templates of `preset_parameters`, by name. Default: the templates, without variables of a call.',
  }),
});

export const toolTestOut = z
  .object({
    status: z
      .enum(['success', 'error'])
      .meta({ description: 'As in a call: `success` for a status from 200 to 299.' }),
    status_code: z.int().nullable().describe('HTTP status. Null: there was no answer.'),
    data: z.unknown(),
    error: z.string().nullable(),
    hint: z.string().nullable().meta({ description: 'What to look at.' }),
    request_method: z.string(),
    request_url: z.string(),
    request_headers: z.record(z.string(), z.string()).meta({ description: 'Values are masked.' }),
    request_body: z.unknown(),
    request_params: freeObject.nullable(),
    duration_ms: z.int().describe('Milliseconds from the request to the answer.'),
  })
  .meta({ id: 'ToolTestResponse', description: 'The request that was made, and its answer.' });
export type ToolTestOut = z.infer<typeof toolTestOut>;
