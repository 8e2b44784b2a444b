// An OpenAPI document as a list of operations, for tests that go through all of them.

import { isObject } from '../../src/std/json.ts';

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: unknown;
}

/** A response may be a reference, under `$ref`. */
type Shared = { [Key in '$ref']?: string };

export interface Operation {
  method: string;
  path: string;
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security: unknown;
  parameters: Parameter[];
  /** Schema of the JSON body, if there is one. */
  body: unknown;
  /** By status, the schemas by content type. */
  responses: Record<string, Shared & { content?: Record<string, { schema: unknown }> }>;
  schemas: object[];
}

export function operationsOf(document: Record<string, unknown>): Operation[] {
  const paths = document['paths'] as Record<string, Record<string, unknown>>;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => {
      const facts = raw as Record<string, unknown>;
      const parameters = (facts['parameters'] ?? []) as Parameter[];
      const responses = (facts['responses'] ?? {}) as Operation['responses'];
      const content = (facts['requestBody'] as { content?: object } | undefined)?.content;
      const body = Object.values(content ?? {})[0]?.schema;
      const answers = Object.values(responses).flatMap((each) => Object.values(each.content ?? {}));
      return {
        method,
        path,
        operationId: String(facts['operationId'] ?? ''),
        summary: String(facts['summary'] ?? ''),
        description: String(facts['description'] ?? ''),
        tags: (facts['tags'] ?? []) as string[],
        security: facts['security'],
        parameters,
        body,
        responses,
        schemas: [...parameters, ...answers, { schema: body }]
          .map(({ schema }) => schema)
          .filter((schema) => isObject(schema)),
      };
    }),
  );
}

/** Every `$ref` anywhere in it. */
export function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    key === '$ref' && typeof each === 'string' ? [each] : referencesIn(each),
  );
}
