// The catalogue of node types: each type's schema joined with its other facts, as clients read it.
// Source: contract §12.1.

import { z } from 'zod';
import type { NodeSpec, PropertySpec } from '../../model/node-spec.ts';
import type { NodeType, PropertyFacts } from '../nodes/node-type.ts';
import { nodeTypes } from '../nodes/registry.ts';

/** Version of the catalogue's shape, and of every entry. */
export const SPEC_VERSION = '1.0.0';

/** The JSON Schema keywords that the node types' schemas use. */
const field = z.object({
  type: z.string().optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  enum: z.array(z.string()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.int().optional(),
  maxLength: z.int().optional(),
  required: z.array(z.string()).optional(),
  get properties() {
    return z.record(z.string(), field).optional();
  },
  get items() {
    return field.optional();
  },
});
type Field = z.infer<typeof field>;

/** All node types, sorted by name. */
export const catalogue: readonly NodeSpec[] = nodeTypes.map(specOf);

const byName = new Map(catalogue.map((spec) => [spec.name, spec]));

export function nodeSpecOf(name: string): NodeSpec | undefined {
  return byName.get(name);
}

function specOf(type: NodeType): NodeSpec {
  const { constraints } = type;
  const schema = field.parse(z.toJSONSchema(type.data, { io: 'input' }));
  return {
    name: type.name,
    display_name: type.displayName,
    description: type.description,
    llm_hint: type.hint,
    docs_url: null,
    category: type.category,
    icon: type.icon,
    version: SPEC_VERSION,
    properties: propertiesOf(schema, type.properties),
    examples: type.examples.map((example) => ({ ...example })),
    graph_constraints: {
      min_incoming: constraints.incomingMin,
      max_incoming: constraints.incomingMax,
      min_outgoing: constraints.outgoingMin,
      max_outgoing: constraints.outgoingMax,
      min_instances: constraints.instancesMin,
      max_instances: constraints.instancesMax,
    },
  };
}

function propertiesOf(
  schema: Field,
  facts: Readonly<Record<string, PropertyFacts>>,
): PropertySpec[] {
  return Object.entries(facts).map(([name, each]) => {
    const own = schema.properties?.[name] ?? {};
    return propertyOf(name, {
      own,
      facts: each,
      required: schema.required?.includes(name) === true,
    });
  });
}

function propertyOf(
  name: string,
  { own, facts, required }: { own: Field; facts: PropertyFacts; required: boolean },
): PropertySpec {
  const texts = own.type === 'array' ? own.items : own;
  return {
    name,
    type: facts.type,
    display_name: facts.displayName,
    description: own.description ?? '',
    llm_hint: facts.hint ?? null,
    default: facts.default ?? own.default ?? null,
    required,
    placeholder: facts.placeholder ?? null,
    display_options: shownIf(facts),
    options: optionsOf(own, facts),
    properties: facts.columns === undefined ? null : propertiesOf(own.items ?? {}, facts.columns),
    min_value: own.minimum ?? null,
    max_value: own.maximum ?? null,
    min_length: texts?.minLength ?? null,
    max_length: facts.lengthMax ?? texts?.maxLength ?? null,
    pattern: facts.pattern ?? null,
    editor: facts.editor ?? null,
    renderer_options:
      own.type === 'number' ? { layout: null, number_input: { fractional: true } } : null,
  };
}

function shownIf({ showIf }: PropertyFacts): PropertySpec['display_options'] {
  if (showIf === undefined) return null;
  const show = Object.entries(showIf).map(([name, values]) => [name, [...values]]);
  return { show: Object.fromEntries(show), hide: null };
}

function optionsOf(own: Field, { labels }: PropertyFacts): PropertySpec['options'] {
  if (own.enum === undefined) return null;
  return own.enum.map((value) => ({ value, label: labels?.[value] ?? value, description: null }));
}
