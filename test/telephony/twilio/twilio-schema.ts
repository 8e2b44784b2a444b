// Twilio's own description of its REST interface, as a judge of our requests.

import { readFileSync } from 'node:fs';
import { Ajv, type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import type { Asked } from '../provider/rest-server.ts';

interface Operation {
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema: FormSchema }> };
}
interface FormSchema {
  properties: Record<string, { type: string }>;
  required?: string[];
}
const api: { paths: Record<string, Record<string, Operation>>; components: object } = JSON.parse(
  readFileSync('fixtures/wire/twilio/twilio_api_v2010.calls.pruned.json', 'utf8'),
);
const ajv = new Ajv({ strict: false, coerceTypes: true, allErrors: true });
addFormats.default(ajv);
for (const known of ['endpoint', 'http-method', 'phone-number', 'twiml'])
  ajv.addFormat(known, true);

/** What Twilio's description finds wrong with a request: unknown path, field, type or value. */
export function faultsOf(asked: Asked): (string | ErrorObject)[] {
  const url = new URL(asked.path, 'http://x');
  const template = Object.keys(api.paths).find((path) =>
    new RegExp(`^${path.replace(/\./g, '\\.').replace(/\{\w+\}/g, '[A-Za-z0-9]+')}$`).test(
      url.pathname,
    ),
  );
  const operation = template && api.paths[template]?.[asked.method.toLowerCase()];
  if (!operation) return [`no operation ${asked.method} ${url.pathname}`];
  const known = new Set((operation.parameters ?? []).map(({ name }) => name));
  const faults: (string | ErrorObject)[] = [...url.searchParams.keys()].filter(
    (n) => !known.has(n),
  );
  const schema = operation.requestBody?.content['application/x-www-form-urlencoded']?.schema;
  if (asked.method === 'POST' && schema) faults.push(...formFaults(asked.body, schema));
  return faults;
}

function formFaults(body: string, schema: FormSchema): ErrorObject[] {
  const form = new URLSearchParams(body);
  const value = Object.fromEntries(
    [...new Set(form.keys())].map((name) => [
      name,
      schema.properties[name]?.type === 'array' ? form.getAll(name) : form.get(name),
    ]),
  );
  const validate = ajv.compile({
    ...schema,
    components: api.components,
    additionalProperties: false,
  });
  return validate(value) ? [] : (validate.errors ?? []);
}
