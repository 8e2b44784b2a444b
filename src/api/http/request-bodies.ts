// Request bodies: the bytes are kept, then read by their content type. JSON and forms only; anything
// else is an object that fits no schema. Not the checking of what is in them (validation.ts). Large JSON is read in a
// thread (json-thread.ts).

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

/** A workflow of 500 nodes with long prompts is well below 1 MiB. */
export const BODY_BYTES_MAX = 2_097_152;
/** Log-ins, which anyone may send: the longest password, address and name with every character escaped take 9,200. */
export const CREDENTIALS_BYTES_MAX = 10_240;
/** A workflow may hold 20,000 values, the variables and settings beside it some thousands. */
const BODY_VALUES_MAX = 25_000;
/** Providers send below 100. */
const PROVIDER_VALUES_MAX = 2_000;
/** The largest body in packets of 256 bytes: those of any network are larger. One by one they take 25 ms. */
const BODY_PIECES_MAX = 8_192;
/** A client that sends its body slower than this is cut off. */
export const BODY_MS_MAX = 30_000;
/** Larger JSON is read in a thread. Below, reading takes less than a millisecond, and a thread is not worth its trip. */
const INLINE_BYTES_MAX = 65_536;
/** Fields of a form; providers send below 60. */
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

/** Ends the connection unless the whole body has come in time. */
function limitTime(request: IncomingMessage, clock: Clock): void {
  if (request.complete) return;
  const timer = clock.after(BODY_MS_MAX, () => {
    if (!request.complete) request.destroy();
  });
  request.once('end', () => timer.cancel());
  request.once('close', () => timer.cancel());
}

/** Its reader gets the error as that of its body: BODY_IN_PIECES, after which the connection ends. */
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

/** JSON under the type of a form, as curl's `-d` sends it: no name of a field begins like that. */
const JSON_BEGINS = /^\ufeff?\s*[{[]/;

const COMPRESSED = 'the body has a Content-Encoding: send it without one';
const NOT_UTF8 = 'the body is not UTF-8';

/** What the schema will check. A body of another type stays text, which fits no object. */
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

/** The thread's answer, as long as the client waits for it. */
async function largeJson(request: FastifyRequest, thread: JsonThread): Promise<JsonReading> {
  const gone = new AbortController();
  const onClose = (): void => gone.abort(jsonError('The client went away', 0));
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

/** Undefined for what is no JSON, or JSON that no provider sends: the provider's own parser says what it misses. */
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

/** The text of the first FORM_FIELDS_MAX fields. */
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

/** A provider's request as its folder reads it. The URL is the configured one: what a provider signed,
 *  whatever a proxy made of the Host header. */
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

/** A query as FastAPI reads it: of a repeated name, the last value. */
export function readQuery(text: string): Record<string, string> {
  return lastValues(formFields(text));
}
