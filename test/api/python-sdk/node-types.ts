// The Python SDK's models of the catalogue of node types. They refuse every key that they do not declare, at
// every depth, and with it the whole node type. Source: see values.ts.

import { z } from 'zod';
import { anyObject, integer, text } from './values.ts';

const propertyType = z.enum([
  'string',
  'number',
  'boolean',
  'options',
  'multi_options',
  'fixed_collection',
  'json',
  'tool_refs',
  'document_refs',
  'recording_ref',
  'credential_ref',
  'mention_textarea',
  'url',
]);

const rendererOptions = z.strictObject({
  layout: z.strictObject({ column_span: integer.pipe(z.int().min(1).max(12)).nullish() }).nullish(),
  number_input: z.strictObject({ fractional: z.boolean().nullish() }).nullish(),
});

const conditions = z.record(z.string(), z.array(z.unknown())).nullish();

export const propertySpec = z.strictObject({
  name: text,
  type: propertyType,
  display_name: text,
  description: text.min(1),
  llm_hint: text.nullish(),
  default: z.unknown(),
  required: z.boolean().nullish(),
  placeholder: text.nullish(),
  display_options: z.strictObject({ show: conditions, hide: conditions }).nullish(),
  options: z
    .array(
      z.strictObject({
        value: z.union([text, z.number(), z.boolean()]),
        label: text,
        description: text.nullish(),
      }),
    )
    .nullish(),
  get properties() {
    return z.array(propertySpec).nullish();
  },
  min_value: z.number().nullish(),
  max_value: z.number().nullish(),
  min_length: integer.nullish(),
  max_length: integer.nullish(),
  pattern: text.nullish(),
  editor: text.nullish(),
  renderer_options: rendererOptions.nullish(),
});

export const nodeSpec = z.strictObject({
  name: text,
  display_name: text,
  description: text.min(1),
  llm_hint: text.nullish(),
  docs_url: text.nullish(),
  category: z.enum(['call_node', 'global_node', 'trigger', 'integration']),
  icon: text,
  version: text.nullish(),
  properties: z.array(propertySpec),
  examples: z
    .array(z.strictObject({ name: text, description: text.nullish(), data: anyObject }))
    .nullish(),
  graph_constraints: z
    .strictObject({
      min_incoming: integer.nullish(),
      max_incoming: integer.nullish(),
      min_outgoing: integer.nullish(),
      max_outgoing: integer.nullish(),
      min_instances: integer.nullish(),
      max_instances: integer.nullish(),
    })
    .nullish(),
});

export const nodeTypesResponse = z.object({ spec_version: text, node_types: z.array(nodeSpec) });
