// Request bodies: the bytes are kept, then read by their content type. JSON and forms only; anything
// else is an object that fits no schema. Not the checking of what is in them (validation.ts).

import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../std/clock.ts';
import { isObject } from '../std/json.ts';
import type { ProviderRequest } from '../telephony/provider.ts';
import type { Api } from './deps.ts';
import { jsonError } from './validation.ts';

/** A workflow of 500 nodes with long prompts is well below 1 MiB. */
export const BODY_BYTES_MAX = 2_097_152;
/** A client that sends its body slower than this is cut off. */
export const BODY_MS_MAX = 30_000;
/** Levels of nesting; workflows need less than 10. Deeper ones overflow the stack further on. */
const NESTING_MAX = 64;
/** Fields of a form; providers send below 60. */
const FORM_FIELDS_MAX = 500;

export function readBodies(api: Api, clock: Clock): void {
  api.decorateRequest('rawBody');
  api.addHook('onRequest', async (request) => {
    request.rawBody = Buffer.alloc(0);
  });
  api.addHook('preParsing', async (request) => {
    if (request.routeOptions.config.streamedBody !== true) limitTime(request.raw, clock);
  });
  api.removeAllContentTypeParsers();
  api.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: unknown) => {
      request.rawBody = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
      return request.routeOptions.config.providerBody === true ? null : apiBody(request);
    },
  );
}

/** Ends the connection unless the whole body is there in time. */
function limitTime(request: IncomingMessage, clock: Clock): void {
  if (request.complete) return;
  const timer = clock.after(BODY_MS_MAX, () => {
    if (!request.complete) request.destroy();
  });
  request.once('end', () => timer.cancel());
  request.once('close', () => timer.cancel());
}

/** What the schema will check. A body of another type stays text, which fits no object. */
function apiBody(request: FastifyRequest): unknown {
  const { rawBody } = request;
  if (rawBody.length === 0) return undefined;
  const text = rawBody.toString('utf8');
  const type = contentType(request);
  if (type === '' || type === 'application/json' || type.endsWith('+json')) return json(text);
  if (type === 'application/x-www-form-urlencoded') return lastValues(formFields(text));
  return text;
}

function contentType(request: FastifyRequest): string {
  return (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

function json(text: string): unknown {
  try {
    return cleaned(JSON.parse(text), 0);
  } catch (error) {
    if (error instanceof RangeError) throw jsonError(error.message, 0);
    throw jsonError('Expecting value', offsetOf(error));
  }
}

function offsetOf(error: unknown): number {
  const at = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined;
  return at === undefined ? 0 : Number(at);
}

/** A copy without keys that would set a prototype when copied on. Throws RangeError if nested too deep. */
function cleaned(value: unknown, depth: number): unknown {
  if (depth > NESTING_MAX) throw new RangeError(`nested deeper than ${NESTING_MAX} levels`);
  if (Array.isArray(value)) return value.map((each) => cleaned(each, depth + 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== '__proto__')
      .map(([key, each]) => [key, cleaned(each, depth + 1)]),
  );
}

/** Undefined for what is no JSON, or JSON that no provider sends. */
function jsonOrNothing(text: string): unknown {
  try {
    return json(text);
  } catch {
    return undefined; // The provider's own parser says what it misses.
  }
}

function formFields(text: string): Record<string, string[]> {
  const fields: Record<string, string[]> = Object.create(null);
  let count = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    count += 1;
    if (count > FORM_FIELDS_MAX) break;
    const values = fields[name];
    if (values === undefined) fields[name] = [value];
    else values.push(value);
  }
  return fields;
}

function lastValues(fields: Record<string, string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, all]) => [name, all.at(-1) ?? '']));
}

/** A provider's request as its folder reads it. The URL is the configured one: what a provider signed,
 *  whatever a proxy made of the Host header. */
export function providerRequest(request: FastifyRequest, publicUrl: string): ProviderRequest {
  const { rawBody } = request;
  const isForm = contentType(request) === 'application/x-www-form-urlencoded';
  const text = rawBody.toString('utf8');
  const formAll = isForm ? formFields(text) : {};
  return {
    method: request.method,
    url: publicUrl + request.raw.url,
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(', ') : value,
      ]),
    ),
    rawBody,
    form: lastValues(formAll),
    formAll,
    json: isForm ? undefined : jsonOrNothing(text),
  };
}

/** A query as FastAPI reads it: of a repeated name, the last value. */
export function readQuery(text: string): Record<string, string> {
  return lastValues(formFields(text));
}
