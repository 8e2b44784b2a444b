// Vonage: JSON with a signed token, answered by an NCCO, and its media sockets: binary messages of exactly 20 ms of
// linear audio, JSON for everything else. Source: developer.vonage.com (webhook and websocket reference)

import { createHash, createHmac, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { pcmu } from '../../../src/codec/g711.ts';
import { HEADER_BYTES, writeBinaryHeader } from '../caller/media-client.ts';
import { FRAME_BYTES, MARK_BYTES, readMark } from '../caller/watermark.ts';
import { digitsOf, JSON_BODY, post, refusal, secretOf, uuidOf } from './announcement.ts';
import type {
  CallStream,
  GatewayListener,
  InboundCall,
  MediaTarget,
  StreamOptions,
  Wire,
} from './wire.ts';

/** 3,072 messages. */
const BUFFER_MS_MAX = 3_072 * 20;
/** 16-bit samples. */
const MESSAGE_BYTES = FRAME_BYTES * 2;

/** What comes after the media socket: the question what to do once that has closed. */
const question = z.object({
  action: z.literal('notify'),
  eventUrl: z.tuple([z.url()]),
  payload: z.record(z.string(), z.string()),
});
const ncco = z.tuple([
  z.object({
    action: z.literal('connect'),
    endpoint: z.tuple([
      z.object({
        type: z.literal('websocket'),
        uri: z.url({ protocol: /^wss?$/ }),
        'content-type': z.literal('audio/l16;rate=8000'),
        headers: z.record(z.string(), z.string()).default({}),
      }),
    ]),
  }),
  question,
]);
const incoming = z.discriminatedUnion('action', [
  z.object({ action: z.literal('clear') }),
  z.object({ action: z.literal('notify'), payload: z.object({ id: z.string() }) }),
]);

export const vonageWire: Wire = {
  callIdOf: uuidOf,
  payloadOf: linearOf,
  announce,
  stream: (options) => new VonageStream(options),
};

async function announce(call: InboundCall): Promise<MediaTarget> {
  const { webhookUrl, credentials, callId, from, to } = call;
  const body = JSON.stringify({
    from: digitsOf(from),
    to: digitsOf(to),
    uuid: callId,
    ['conversation_uuid']: `CON-${callId}`,
  });
  const claims = {
    iat: Math.floor(Date.now() / 1_000),
    jti: randomUUID(),
    iss: 'Vonage',
    ['payload_hash']: createHash('sha256').update(body).digest('hex'),
    ['api_key']: secretOf(credentials, 'api_key'),
    ['application_id']: secretOf(credentials, 'application_id'),
  };
  const token = signedToken(claims, secretOf(credentials, 'signature_secret'));
  const reply = await post(webhookUrl, body, { ...JSON_BODY, authorization: `Bearer ${token}` });
  const read = reply.status === 200 ? ncco.safeParse(parse(reply.text)).data : undefined;
  if (read === undefined) throw refusal(reply);
  const [endpoint] = read[0].endpoint;
  const { uri: url, 'content-type': contentType, headers } = endpoint;
  return { url, headers: {}, parameters: { 'content-type': contentType, ...headers } };
}

/** HS256 (RFC 7519). */
function signedToken(claims: object, secret: string): string {
  const text = [{ alg: 'HS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

/** Marks of the gateway's only frame, and the bytes that hold one. */
const marks = new Int32Array(1);
const markSamples = new Int16Array(MARK_BYTES);
const markMulaw = new Uint8Array(MARK_BYTES);

class VonageStream implements CallStream {
  readonly onClear = 'drop-marks';
  readonly bufferMsMax = BUFFER_MS_MAX;
  readonly #parameters: Readonly<Record<string, string>>;

  constructor({ parameters }: StreamOptions) {
    this.#parameters = parameters;
  }

  opening(): string[] {
    return [JSON.stringify({ event: 'websocket:connected', ...this.#parameters })];
  }

  audio(payload: Uint8Array): Buffer {
    const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
    writeBinaryHeader(frame, payload.length);
    frame.set(payload, HEADER_BYTES);
    return frame;
  }

  key(digit: string): string {
    return JSON.stringify({ event: 'websocket:dtmf', digit, duration: 260 });
  }

  played(id: string): string {
    return JSON.stringify({ event: 'websocket:notify', payload: { id } });
  }

  cleared(): string {
    return JSON.stringify({ event: 'websocket:cleared' });
  }

  stop(): undefined {
    return undefined;
  }

  readText(chunk: Buffer, from: number, to: number, listener: GatewayListener): void {
    const sent = incoming.safeParse(parse(chunk.toString('utf8', from, to))).data;
    if (sent === undefined) listener.onFault();
    else if (sent.action === 'clear') listener.onClear();
    else listener.onMark(sent.payload.id);
  }

  /** A message of another size makes Vonage drop the socket. */
  readBinary(chunk: Buffer, from: number, to: number, listener: GatewayListener): void {
    if (to - from !== MESSAGE_BYTES) {
      listener.onFault();
      return;
    }
    for (let i = 0; i < MARK_BYTES; i++) markSamples[i] = chunk.readInt16LE(from + 2 * i);
    pcmu.encode(markSamples, markMulaw);
    marks[0] = readMark(markMulaw, 0);
    listener.onAudio(marks, 1);
  }
}

/** 16-bit little endian. */
function linearOf(mulaw: Uint8Array): Uint8Array {
  const samples = new Int16Array(mulaw.length);
  pcmu.decode(mulaw, samples);
  const bytes = Buffer.alloc(samples.length * 2);
  for (const [i, sample] of samples.entries()) bytes.writeInt16LE(sample, 2 * i);
  return bytes;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Reported as a fault, or as a refusal.
  }
}
