// Last changes to schemas in the API's description: a field that may be null has its description beside the union, where
// tools look for it, and a response has that of its schema.

import { isObject } from '../../std/json.ts';
import { OTHER_FORMS } from '../../telephony/registry/configuration.ts';

type Json = Record<string, unknown>;

const COMPONENT = /^#\/components\/schemas\/(.+)$/;

/** The same value, with descriptions of fields that may be null moved out of their unions, and with other forms. */
export function finishedSchemas(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(finishedSchemas);
  if (!isObject(value)) return value;
  const inner = Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, finishedSchemas(each)]),
  );
  return withOtherForms(withOuterDescription(inner));
}

/** A union with the forms that the schema of the check does not have. */
function withOtherForms({ [OTHER_FORMS]: forms, ...schema }: Json): Json {
  const { anyOf } = schema;
  return Array.isArray(forms) && Array.isArray(anyOf)
    ? { ...schema, anyOf: [...anyOf, ...forms] }
    : schema;
}

function withOuterDescription(schema: Json): Json {
  const { anyOf } = schema;
  const only = Array.isArray(anyOf) ? onlyChoice(anyOf) : undefined;
  if (only?.['description'] === undefined) return schema;
  const { description, ...rest } = only;
  return {
    description,
    ...schema,
    anyOf: (anyOf as unknown[]).map((each) => (each === only ? rest : each)),
  };
}

/** The schema beside `null`, if there is only one. */
function onlyChoice(choices: readonly unknown[]): Json | undefined {
  const others = choices.filter((each) => isObject(each) && each['type'] !== 'null');
  const [only] = others;
  return others.length === 1 && choices.length === 2 && isObject(only) ? only : undefined;
}

/** Gives a response the description of the component that it refers to, if it has none of its own. */
export function describeResponse(response: unknown, schemas: Json): void {
  if (!isObject(response) || response['description'] !== NO_DESCRIPTION) return;
  const { content } = response;
  const [body] = isObject(content) ? Object.values(content) : [];
  const schema = isObject(body) ? body['schema'] : undefined;
  const reference = isObject(schema) ? schema['$ref'] : undefined;
  const [, name = ''] = typeof reference === 'string' ? (COMPONENT.exec(reference) ?? []) : [];
  const component = schemas[name];
  if (isObject(component) && typeof component['description'] === 'string') {
    response['description'] = component['description'];
  }
}

/** What the plugin writes in place of a description that is missing. */
const NO_DESCRIPTION = 'Default Response';
