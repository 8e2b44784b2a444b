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

const name = nameIn(255);
const description = z.string().max(4_000);
const icon = z.string().max(100);
const definitionIn = within(toolDefinition, CONTEXT_LIMITS).check(({ value, issues }) => {
  const message =
    'must be a telephone number with + and the country code, an extension, a SIP URI, an endpoint such as PJSIP/reception, or a template';
  for (const path of wrongDestinations(value)) {
    issues.push({ code: 'custom', message, path: ['config', ...path], input: undefined });
  }
});

export const toolCreate = z
  .object({
    name,
    description: description
      .nullable()
      .default(null)
      .meta({ description: 'Tells the model when to use the tool.' }),
    category: toolCategory.nullish().meta({ description: 'As the type of the definition.' }),
    icon: icon.nullable().default(DEFAULT_ICON),
    icon_color: icon.nullable().default(DEFAULT_COLOR),
    definition: definitionIn,
  })
  .refine(({ category, definition }) => !category || category === definition.type, {
    path: ['category'],
    error: 'category must be the type of the definition',
  });

/** Change of a tool. Null is "unchanged", except for optional fields, which it removes. */
export const toolUpdate = z.object({
  name: name.nullish(),
  description: description.nullish(),
  icon: icon.nullish(),
  icon_color: icon.nullish(),
  definition: definitionIn.nullish(),
  status: toolStatus.nullish(),
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
  .meta({ id: 'ToolResponse' });

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
  llm_params: freeObject
    .nullish()
    .meta({ description: 'What a model would give, by the names of `parameters`.' }),
  preset_params: freeObject
    .nullish()
    .meta({ description: 'What stands in for the templates of `preset_parameters`.' }),
});

export const toolTestOut = z
  .object({
    status: z
      .enum(['success', 'error'])
      .meta({ description: 'As in a call: `success` for a status from 200 to 299.' }),
    status_code: z.int().nullable(),
    data: z.unknown(),
    error: z.string().nullable(),
    hint: z.string().nullable().meta({ description: 'What to look at.' }),
    request_method: z.string(),
    request_url: z.string(),
    request_headers: z.record(z.string(), z.string()).meta({ description: 'Values are masked.' }),
    request_body: z.unknown(),
    request_params: freeObject.nullable(),
    duration_ms: z.int(),
  })
  .meta({ id: 'ToolTestResponse' });
export type ToolTestOut = z.infer<typeof toolTestOut>;
