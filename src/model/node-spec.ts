// The catalogue of node types as clients read it: the fields of a node's `data`, how a form shows them, and where
// the node may appear in a graph. Every key is present, null where it has no value.
// Source: contract §12.1 and Appendix D.

import { z } from 'zod';

export const propertyType = z.enum([
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
export type PropertyType = z.infer<typeof propertyType>;

const propertyOption = z
  .object({
    value: z.union([z.string(), z.number(), z.boolean()]),
    label: z.string(),
    description: z.string().nullable(),
  })
  .meta({ id: 'PropertyOption' });

/** Options for forms. The reference's Python client refuses the whole catalogue if there is any other key. */
const rendererOptions = z
  .object({
    layout: z.null(),
    /** Whether the number may have a fraction. Default: an integer. */
    number_input: z.object({ fractional: z.boolean() }).meta({ id: 'NumberInputOptions' }),
  })
  .meta({ id: 'PropertyRendererOptions' });

/** For each other property, the values with which this one is shown or hidden. */
const conditions = z.record(z.string(), z.array(z.unknown())).nullable();

export const propertySpec = z
  .object({
    name: z.string(),
    type: propertyType,
    display_name: z.string(),
    description: z.string(),
    llm_hint: z.string().nullable(),
    default: z.unknown(),
    required: z.boolean(),
    placeholder: z.string().nullable(),
    display_options: z
      .object({ show: conditions, hide: conditions })
      .meta({ id: 'DisplayOptions' })
      .nullable(),
    options: z.array(propertyOption).nullable(),
    get properties() {
      return z.array(propertySpec).nullable();
    },
    min_value: z.number().nullable().describe('Smallest value.'),
    max_value: z.number().nullable().describe('Largest value.'),
    min_length: z.int().nullable().describe('Fewest characters or items.'),
    max_length: z.int().nullable().describe('Most characters or items.'),
    pattern: z.string().nullable(),
    editor: z.string().nullable(),
    renderer_options: rendererOptions.nullable(),
  })
  .meta({ id: 'PropertySpec' });
export type PropertySpec = z.infer<typeof propertySpec>;

export const nodeExample = z
  .object({
    name: z.string(),
    description: z.string().nullable(),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'NodeExample' });
export type NodeExample = z.infer<typeof nodeExample>;

export const nodeCategory = z.enum(['call_node', 'global_node', 'trigger', 'integration']);

export const nodeSpec = z
  .object({
    name: z.string(),
    display_name: z.string(),
    description: z.string(),
    llm_hint: z.string().nullable(),
    docs_url: z.string().nullable(),
    category: nodeCategory,
    icon: z.string(),
    version: z.string(),
    properties: z.array(propertySpec),
    examples: z.array(nodeExample),
    graph_constraints: z
      .object({
        min_incoming: z.int().nullable().describe('Fewest edges that lead to a node.'),
        max_incoming: z.int().nullable().describe('Most edges that lead to a node.'),
        min_outgoing: z.int().nullable().describe('Fewest edges that leave a node.'),
        max_outgoing: z.int().nullable().describe('Most edges that leave a node.'),
        min_instances: z.int().nullable().describe('Fewest nodes of the type in an agent.'),
        max_instances: z.int().nullable().describe('Most nodes of the type in an agent.'),
      })
      .meta({ id: 'GraphConstraints' })
      .nullable(),
  })
  .meta({ id: 'NodeSpec', description: 'A node type, with the fields of its `data`.' });
export type NodeSpec = z.infer<typeof nodeSpec>;
