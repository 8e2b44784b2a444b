// A provider's REST interface as a description that judges our requests: path, query and body.

import { readFileSync } from 'node:fs';
import { Ajv, type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import type { Asked } from './rest-server.ts';

interface Operation {
  parameters?: { name: string; in: string; required?: boolean; schema: object }[];
  requestBody?: { content: Record<string, { schema: object }> };
}

/** `file`: OpenAPI 3.0 as JSON, without references. `root`: the path before the described ones. */
export function descriptionOf(file: string, root: string): (asked: Asked) => unknown[] {
  const api: { paths: Record<string, Record<string, Operation>> } = JSON.parse(
    readFileSync(file, 'utf8'),
  );
  const ajv = new Ajv({ strict: false, coerceTypes: true, allErrors: true });
  addFormats.default(ajv);
  return ({ method, path, body }) => {
    const url = new URL(path, 'http://x');
    const known = Object.keys(api.paths).find((template) =>
      new RegExp(`^${root}${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(url.pathname),
    );
    const operation = known && api.paths[known]?.[method.toLowerCase()];
    if (!operation) return [`no operation ${method} ${url.pathname}`];
    const faults: (string | ErrorObject)[] = queryFaults(url.searchParams, operation);
    const schema = operation.requestBody?.content['application/json']?.schema;
    if (schema === undefined) return body === '' ? faults : [...faults, 'a body'];
    const validate = ajv.compile(schema);
    if (!validate(JSON.parse(body))) faults.push(...(validate.errors ?? []));
    return faults;
  };

  function queryFaults(query: URLSearchParams, { parameters = [] }: Operation): string[] {
    const inQuery = parameters.filter((each) => each.in === 'query');
    const unknown = [...query.keys()].filter((name) => inQuery.every((each) => each.name !== name));
    const wrong = inQuery.filter(({ name, required, schema }) => {
      const value = query.get(name);
      return value === null ? required === true : !ajv.validate(schema, { value }.value);
    });
    return [...unknown, ...wrong.map(({ name }) => name)];
  }
}
