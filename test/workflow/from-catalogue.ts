// Node data made from nothing but the catalogue, as a form or a builder would make it.

import fc from 'fast-check';
import type { NodeSpec, PropertySpec } from '../../src/model/node-spec.ts';

/** Data in which every required property is there and any other may be. */
export function dataOf(spec: Pick<NodeSpec, 'properties'>): fc.Arbitrary<Record<string, unknown>> {
  const requiredKeys = spec.properties.filter(({ required }) => required).map(({ name }) => name);
  return fc.record(
    Object.fromEntries(spec.properties.map((property) => [property.name, propertyValue(property)])),
    // A slot without choices needs its grammar, which a catalogue cannot say but in a hint.
    { requiredKeys: spec.properties.some(isGrammar) ? [...requiredKeys, 'type'] : requiredKeys },
  );
}

function isGrammar({ name, options }: PropertySpec): boolean {
  return name === 'type' && options?.some(({ value }) => value === 'yes_no') === true;
}

function propertyValue(property: PropertySpec): fc.Arbitrary<unknown> {
  const { type, options, min_value: min, max_value: max } = property;
  switch (type) {
    case 'boolean':
      return fc.boolean();
    case 'number':
      return property.renderer_options?.number_input.fractional === true
        ? fc.double({ min: min ?? 0, max: max ?? 1_000, noNaN: true })
        : fc.integer({ min: min ?? 0, max: max ?? 1_000 });
    case 'options':
      return fc.constantFrom(...(options ?? []).map(({ value }) => value));
    case 'json':
      return fc.dictionary(fc.string(), fc.jsonValue());
    case 'fixed_collection':
      return fc.array(dataOf({ properties: property.properties ?? [] }), { maxLength: 3 });
    case 'multi_options':
    case 'tool_refs':
    case 'document_refs':
      return fc.array(textOf(property), { maxLength: 3 });
    default:
      return textOf(property);
  }
}

function textOf({ pattern, required, min_length: min, max_length: max }: PropertySpec) {
  const lengths = { minLength: min ?? 0, maxLength: max ?? 40 };
  if (pattern !== null) return fc.stringMatching(new RegExp(pattern)).filter(shorterThan(max));
  return fc.string(lengths).filter((text) => !required || text.trim() !== '');
}

function shorterThan(max: number | null) {
  return (text: string) => text.length <= (max ?? text.length);
}
