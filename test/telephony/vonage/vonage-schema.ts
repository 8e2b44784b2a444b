// Vonage's descriptions of its Voice API and of call control objects, as judges of our requests.

import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import type { Asked } from '../provider/rest-server.ts';

interface Operation {
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema: object }> };
}
const read = (name: string) =>
  JSON.parse(readFileSync(`fixtures/wire/vonage/${name}.json`, 'utf8'));
const api: { paths: Record<string, Record<string, Operation>>; components: object } =
  read('voice.pruned');
const { $schema: _draft4, ...nccoSchema } = read('ncco-schema');
const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);
const ncco = ajv.compile(nccoSchema);

/** What the description finds wrong with a request: unknown path, parameter or value. */
export function faultsOf(asked: Asked): unknown[] {
  const url = new URL(asked.path, 'http://x');
  const path = url.pathname.replace(/^\/v1/, '');
  const template = Object.keys(api.paths).find((each) =>
    new RegExp(`^${each.replace(/\{\w+\}/g, '[\\w-]+')}$`).test(path),
  );
  const operation = template && api.paths[template]?.[asked.method.toLowerCase()];
  if (!operation) return [`no operation ${asked.method} ${path}`];
  const known = new Set((operation.parameters ?? []).map(({ name }) => name));
  const faults: unknown[] = [...url.searchParams.keys()].filter((name) => !known.has(name));
  const schema = operation.requestBody?.content['application/json']?.schema;
  if (schema === undefined) return faults;
  const validate = ajv.compile({ ...schema, components: api.components });
  if (!validate(JSON.parse(asked.body))) faults.push(...(validate.errors ?? []));
  return faults;
}

export function nccoFaults(document: unknown): unknown[] {
  return ncco(document) ? [] : (ncco.errors ?? []);
}
