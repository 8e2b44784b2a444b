// Request bodies: keeps the bytes and parses JSON and forms by content type; any other body is an object that fits no
// schema. validation.ts checks the values. Large JSON is read in a thread (json-thread.ts).

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import type { ProviderRequest } from '../../telephony/provider/provider.ts';
import type { RequestAdmission } from '../admission/admission.ts';
import type { Api } from './api-deps.ts';
import { type JsonReading, readJson } from './json-body.ts';
import { JsonThread } from './json-thread.ts';
import { PieceCount } from './piece-count.ts';
import { jsonError } from './validation.ts';

/** Largest body: a workflow of 500 nodes with long prompts is well below 1 MiB. */
export const BODY_BYTES_MAX = 2_097_152;
/** Largest body of a log-in, which anyone may send: the longest password, address and name with every character
 *  escaped take 9,200 bytes. */
export const CREDENTIALS_BYTES_MAX = 10_240;
/** Values of a body: a workflow may hold 20,000, its variables and settings some thousands. */
const BODY_VALUES_MAX = 25_000;
/** Values of a provider's body; providers send fewer than 100. */
const PROVIDER_VALUES_MAX = 2_000;
/** Pieces of a body: the largest one in packets of 256 bytes, and those of any network are larger. One by one they
 *  take 25 ms. */
const BODY_PIECES_MAX = 8_192;
/** Time to receive a body; a slower client is disconnected. */
export const BODY_MS_MAX = 30_000;
/** Largest JSON that is read on the event loop, which takes less than a millisecond; larger JSON is read in a
 *  thread. */
const INLINE_BYTES_MAX = 65_536;
/** Fields of a form; providers send fewer than 60. */
const FORM_FIELDS_MAX = 500;

export function readBodies(
  api: Api,
  { clock, log, admission }: { clock: Clock; log: Log; admission: RequestAdmission },
): void {
  const thread = new JsonThread({ clock, log });
  api.addHook('onClose', () => thread.close());
  api.decorateRequest('rawBody');
  api.addHook('onRequest', async (request) => {
    request.rawBody = Buffer.alloc(0);
  });
  api.addHook('preParsing', async (request, reply) => {
    if (request.routeOptions.config.streamedBody === true) return;
    limitTime(request.raw, clock);
    limitPieces(request.raw, () => reply.header('Connection', 'close'));
  });
  api.removeAllContentTypeParsers();
  api.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: unknown) => {
      request.rawBody = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
      if (request.routeOptions.config.providerBody === true) return null;
      await admission.resume(request);
      return apiBody(request, thread);
    },
  );
}

/** Closes the connection unless the whole body arrives in time. */
function limitTime(request: IncomingMessage, clock: Clock): void {
  if (request.complete) return;
  const timer = clock.after(BODY_MS_MAX, () => {
    if (!request.complete) request.destroy();
  });
  request.once('end', () => timer.cancel());
  request.once('close', () => timer.cancel());
}

/** Limits the pieces of a body: its reader gets the error BODY_IN_PIECES, after which the connection closes. */
function limitPieces(request: IncomingMessage, beforeRefusal: () => void): void {
  if (request.complete) return;
  new PieceCount(request, (pieces) => {
    if (pieces !== BODY_PIECES_MAX + 1) return;
    // A body that no route reads has no reader.
    if (request.listenerCount('error') === 0) {
      request.destroy();
      return;
    }
    beforeRefusal();
    request.pause();
    request.emit('error', new GatewayError('BODY_IN_PIECES', { max: BODY_PIECES_MAX }));
  });
}

/** Beginning of JSON under the content type of a form, as curl's `-d` sends it: no field name begins like that. */
const JSON_BEGINS = /^\ufeff?\s*[{[]/;

const COMPRESSED = 'the body has a Content-Encoding: send it without one';
const NOT_UTF8 = 'the body is not UTF-8';

/** The value that the schema checks. A body of another type stays text, which fits no object. */
async function apiBody(request: FastifyRequest, thread: JsonThread): Promise<unknown> {
  const { rawBody } = request;
  if (rawBody.length === 0) return undefined;
  const { 'content-encoding': coding = 'identity' } = request.headers;
  if (coding.trim().toLowerCase() !== 'identity') throw jsonError(COMPRESSED, 0);
  const type = contentType(request);
  if (type === '' || type === 'application/json' || type.endsWith('+json')) {
    // Decoding would store replacement characters in place of what was sent.
    if (!isUtf8(rawBody)) throw jsonError(NOT_UTF8, 0);
    const reading =
      rawBody.length > INLINE_BYTES_MAX
        ? await largeJson(request, thread)
        : readJson(rawBody, BODY_VALUES_MAX);
    return checkedValue(reading, BODY_VALUES_MAX);
  }
  const text = rawBody.toString('utf8');
  const isForm = type === 'application/x-www-form-urlencoded' && !JSON_BEGINS.test(text);
  return isForm ? lastValues(formFields(text)) : text;
}

function contentType(request: FastifyRequest): string {
  return (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** The thread's answer, while the client waits for it. */
async function largeJson(request: FastifyRequest, thread: JsonThread): Promise<JsonReading> {
  const gone = new AbortController();
  const onClose = (): void => gone.abort(jsonError('The client closed the connection', 0));
  const { socket } = request.raw;
  if (socket.destroyed) onClose();
  socket.once('close', onClose);
  try {
    return await thread.read(request.rawBody, BODY_VALUES_MAX, gone.signal);
  } finally {
    socket.off('close', onClose);
  }
}

/** Throws BODY_VALUES, RequestInvalid. */
function checkedValue(reading: JsonReading, valuesMax: number): unknown {
  if (reading.kind === 'value') return reading.value;
  if (reading.kind === 'invalid') throw jsonError(reading.reason, reading.at);
  throw new GatewayError('BODY_VALUES', { max: valuesMax });
}

/** Parsed JSON; undefined if the bytes are not JSON, or no JSON that a provider sends: the provider's own parser
 *  reports what is missing. */
function jsonOrNothing(bytes: Buffer): unknown {
  const reading = readJson(bytes, PROVIDER_VALUES_MAX);
  return reading.kind === 'value' ? reading.value : undefined;
}

function formFields(text: string): Record<string, string[]> {
  const fields: Record<string, string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(firstFields(text))) {
    const values = fields[name];
    if (values === undefined) fields[name] = [value];
    else values.push(value);
  }
  return fields;
}

/** The part of a form with its first FORM_FIELDS_MAX fields. */
function firstFields(text: string): string {
  let end = -1;
  for (let count = 0; count < FORM_FIELDS_MAX; count += 1) {
    end = text.indexOf('&', end + 1);
    if (end < 0) return text;
  }
  return text.slice(0, end);
}

function lastValues(fields: Record<string, string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, all]) => [name, all.at(-1) ?? '']));
}

/** A provider's request in the form that its folder reads. The URL is built from the configured one: the one that a
 *  provider signed, whatever a proxy did to the Host header. */
export function providerRequest(request: FastifyRequest, publicUrl: string): ProviderRequest {
  const { rawBody } = request;
  const isForm = contentType(request) === 'application/x-www-form-urlencoded';
  const formAll = isForm ? formFields(rawBody.toString('utf8')) : {};
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
    json: isForm ? undefined : jsonOrNothing(rawBody),
  };
}

/** A query in FastAPI's reading: the last value of a repeated name counts. */
export function readQuery(text: string): Record<string, string> {
  return lastValues(formFields(text));
}
