// Our reading of Cloudonix' REST interface, as a judge of our requests. It proves that we agree with our reading.

import { readFileSync } from 'node:fs';
import { Ajv, type ErrorObject, type SchemaObject } from 'ajv';
import addFormats from 'ajv-formats';
import type { Asked } from '../provider/rest-server.ts';

interface Operation {
  requestBody?: { content: { 'application/json': { schema: SchemaObject } } };
}
const api: { paths: Record<string, Record<string, Operation>> } = JSON.parse(
  readFileSync('fixtures/wire/cloudonix/cloudonix.handmade.json', 'utf8'),
);
const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);

/** What is wrong with a request: unknown path, field, type or value. */
export function faultsOf(asked: Asked): (string | ErrorObject)[] {
  const template = Object.keys(api.paths).find((path) =>
    new RegExp(`^${path.replace(/\{\w+\}/g, '[^/?]+')}$`).test(asked.path),
  );
  const operation = template && api.paths[template]?.[asked.method.toLowerCase()];
  if (!operation) return [`no operation ${asked.method} ${asked.path}`];
  const schema = operation.requestBody?.content['application/json'].schema;
  if (schema === undefined) return asked.body === '' ? [] : ['a body where none belongs'];
  const validate = ajv.compile(schema);
  return validate(JSON.parse(asked.body)) ? [] : (validate.errors ?? []);
}
