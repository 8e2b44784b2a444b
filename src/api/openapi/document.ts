// The API's description (OpenAPI 3.1), generated from the schemas that check the requests: the plugin's document with
// shared error responses and examples, and without its mistakes (a path that ends in `*`).

import { readFileSync } from 'node:fs';
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { ErrorCode } from '../../errors/gateway-error.ts';
import { isObject } from '../../std/json.ts';
import { IGNORED_PROPERTIES } from '../../telephony/provider/provider-definition.ts';
import { OTHER_FORMS } from '../../telephony/registry/configuration.ts';
import { ERROR_CODES } from '../http/error-schema.ts';
import { ErrorResponses } from './error-responses.ts';

type Json = Record<string, unknown>;

interface Example {
  request?: unknown;
  response?: unknown;
}

/** Requests and their replies by operation, recorded from the running API (test/api/openapi/examples.test.ts). */
const examples: Readonly<Record<string, Example>> = JSON.parse(
  readFileSync(new URL('./examples.json', import.meta.url), 'utf8'),
);

const tags = [
  { name: 'service', description: 'Whether the gateway is up.' },
  { name: 'accounts', description: 'Users, how they log in, and what organizations prefer.' },
  { name: 'keys', description: 'Keys for this API.' },
  { name: 'services', description: 'What recognises, answers and speaks in calls.' },
  { name: 'telephony', description: 'Telephony configurations and phone numbers.' },
  { name: 'workflows', description: 'Agents: graphs of conversation nodes, in versions.' },
  { name: 'documents', description: 'The knowledge base, which this version does not have.' },
  { name: 'tools', description: 'What agents may use in calls, and credentials for it.' },
  { name: 'calls', description: 'Starting calls, and those that go on.' },
  { name: 'campaigns', description: 'Calls to a list of contacts.' },
  { name: 'recordings', description: 'Recorded speech and background noise for agents.' },
  { name: 'runs', description: 'What became of calls: status, transcript, recording.' },
  { name: 'text chat', description: 'Conversations with an agent in writing.' },
  { name: 'webhooks', description: 'Called by telephony providers, and webhooks after calls.' },
];

export function openApiOptions({
  version,
  publicUrl,
}: {
  version: string;
  publicUrl: string;
}): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Patchbay',
        version,
        description: 'Voice agents over telephone calls.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: publicUrl }],
      tags,
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
          bearer: { type: 'http', scheme: 'bearer' },
        },
      },
    },
    transform: jsonSchemaTransform,
    // The plugin's document type is a union with OpenAPI 2; this one is 3.1.
    transformObject: (document) =>
      completed(jsonSchemaTransformObject(document) as unknown as Json) as never,
  };
}

/** The same document, finished in place. */
function completed(document: Json): Json {
  const errors = new ErrorResponses();
  const components = isObject(document['components']) ? document['components'] : {};
  const schemas = isObject(components['schemas']) ? components['schemas'] : {};
  const paths: Json = {};
  for (const [path, item] of Object.entries(document['paths'] ?? {})) {
    if (!isObject(item)) continue;
    for (const operation of Object.values(item)) {
      if (isObject(operation)) completeOperation(operation, { errors, schemas });
    }
    paths[path.replace('{*}', '{key}').replace(/\/$/, '')] = {
      ...(paths[path.replace(/\/$/, '')] ?? {}),
      ...item,
    };
  }
  const used = usedSchemas(schemas, [paths, errors.components]);
  return renamed({
    ...document,
    paths,
    components: { ...components, responses: errors.components, schemas: used },
  });
}

/** Removes the plugin's extra names: it names a schema of a request `…Input`, also if no response has that schema. */
function renamed(document: Json & { components: Json & { schemas: Json } }): Json {
  const { schemas } = document.components;
  const names = new Map<string, string>();
  for (const name of Object.keys(schemas)) {
    const plain = name.replace(/Input$/, '');
    if (plain !== name && !(plain in schemas)) names.set(name, plain);
  }
  const rename = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(rename);
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([key, each]) => {
      if (key !== '$ref' || typeof each !== 'string') return [key, rename(each)];
      const [, prefix = each, name = ''] = /^(.*\/)([^/]*)$/.exec(each) ?? [];
      return [key, prefix + (names.get(name) ?? name)];
    });
    return Object.fromEntries(entries);
  };
  const all = Object.entries(schemas).map(([name, each]) => [
    names.get(name) ?? name,
    withIgnored(rename(finishedSchemas(each))),
  ]);
  const components = { ...document.components, schemas: Object.fromEntries(all) };
  const paths = rename(finishedSchemas(document['paths']));
  return { ...document, paths, components };
}

/** A schema with the properties that requests may have but that are ignored; the schema of the check does not have
 *  them. */
function withIgnored(schema: unknown): unknown {
  if (!isObject(schema) || !isObject(schema[IGNORED_PROPERTIES])) return schema;
  const { [IGNORED_PROPERTIES]: ignored, properties, ...rest } = schema;
  return {
    ...rest,
    properties: {
      ...(isObject(properties) ? properties : {}),
      ...(isObject(ignored) ? ignored : {}),
    },
  };
}

function completeOperation(
  operation: Json,
  { errors, schemas }: { errors: ErrorResponses; schemas: Json },
): void {
  operation['security'] ??= [];
  const parameters = list(operation['parameters']);
  for (const parameter of parameters) {
    if (parameter['name'] === '*') parameter['name'] = 'key';
  }
  const responses = isObject(operation['responses']) ? operation['responses'] : {};
  for (const response of Object.values(responses)) describeResponse(response, schemas);
  const security = list(operation['security']);
  const id = String(operation['operationId']);
  const hasBody = operation['requestBody'] !== undefined;
  const traits = {
    operationId: id,
    wantsKey: security.length > 0,
    isStart: security.length === 1,
    hasBody,
    hasInput: hasBody || parameters.length > 0,
  };
  operation['responses'] = {
    ...Object.fromEntries(
      Object.entries(responses).filter(([status]) => !isOfCodes(status, responses)),
    ),
    ...errors.of(traits, codesOf(responses)),
  };
  addExamples(operation, examples[id] ?? {});
}

function isOfCodes(status: string, responses: Json): boolean {
  return codesIn(responses[status]) !== undefined;
}

function codesOf(responses: Json): Map<number, ErrorCode[]> {
  const codes = new Map<number, ErrorCode[]>();
  for (const [status, response] of Object.entries(responses)) {
    const named = codesIn(response);
    if (named !== undefined && named.length > 0) codes.set(Number(status), named);
  }
  return codes;
}

/** Codes that `faults` wrote into a response; undefined for any other response. */
function codesIn(response: unknown): ErrorCode[] | undefined {
  const schema = jsonContent(response)?.['schema'];
  const codes = isObject(schema) ? schema[ERROR_CODES] : undefined;
  return Array.isArray(codes) ? codes : undefined;
}

function addExamples(operation: Json, { request, response }: Example): void {
  const body = jsonContent(operation['requestBody']);
  if (body !== undefined && request !== undefined) body['example'] = request;
  const responses = operation['responses'];
  const answer = isObject(responses) ? jsonContent(responses['200']) : undefined;
  if (answer !== undefined && response !== undefined) answer['example'] = response;
}

function jsonContent(holder: unknown): Json | undefined {
  const content = isObject(holder) ? holder['content'] : undefined;
  const json = isObject(content) ? content['application/json'] : undefined;
  return isObject(json) ? json : undefined;
}

/** The schemas to which `roots` refer, directly or through others. */
function usedSchemas(schemas: Json, roots: readonly unknown[]): Json {
  const used = new Set<string>();
  const waiting = [...roots];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    for (const name of schemasIn(value)) {
      if (used.has(name)) continue;
      used.add(name);
      waiting.push(schemas[name]);
    }
  }
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
}

/** The names of the schemas that `value` refers to. */
function schemasIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(schemasIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, each]) => {
    if (key !== '$ref' || typeof each !== 'string') return schemasIn(each);
    const [, name] = /^#\/components\/schemas\/(.+)$/.exec(each) ?? [];
    return name === undefined ? [] : [name];
  });
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

const COMPONENT = /^#\/components\/schemas\/(.+)$/;

/** The same value, with descriptions of fields that may be null moved out of their unions, and with other forms. */
function finishedSchemas(value: unknown): unknown {
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
function describeResponse(response: unknown, schemas: Json): void {
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
