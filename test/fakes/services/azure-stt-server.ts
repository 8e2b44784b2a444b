// Azure's speech websocket, strict: the frames, their order, one request id, and a WAV header in the first audio. Phrases
// end by silence. Written from the vendor's Speech SDK 1.52.

import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { HeardWord } from '../call/spoken-words.ts';
import type { Refusal } from './service-socket.ts';
import {
  type SessionHandler,
  type SttServer,
  type SttServerOptions,
  type SttSession,
  startSttServer,
} from './stt-server.ts';

const HEADS = /^Path: ([\w.]+)\r\nX-RequestId: ([0-9a-fA-F]{32})\r\nX-Timestamp: (\S+)\r\n/;
const PARAMETERS = new Set([
  ...['language', 'format', 'wordLevelTimestamps', 'profanity'],
  'segmentationSilenceTimeoutMs',
  // What an address has in a browser, which sets no headers: the SDK always has it.
  ...['Ocp-Apim-Subscription-Key', 'X-ConnectionId', 'connectionId'],
]);
const TICKS = 10_000;
const CONTEXT = new Set(['phraseDetection', 'phraseOutput', 'dgi']);
const vocabulary = z
  .strictObject({
    groups: z.array(
      z.strictObject({
        type: z.literal('Generic'),
        items: z.array(z.strictObject({ text: z.string() })),
      }),
    ),
    bias: z.number(),
  })
  .optional();

export interface AzureSttServer extends SttServer {
  /** Bodies of text messages, by their paths. */
  bodies: [path: string, body: unknown][];
}

export async function startAzureStt(
  options: SttServerOptions & { status?: string },
): Promise<AzureSttServer> {
  const bodies: AzureSttServer['bodies'] = [];
  const server = await startSttServer(options, {
    check: (request, url) => check(options.key, request, url),
    open: (session) => new Azure(session, bodies, options.status ?? 'Success'),
  });
  return Object.assign(server, { bodies });
}

function check(key: string, { headers }: IncomingMessage, url: URL): Refusal | undefined {
  if (url.pathname !== '/speech/recognition/conversation/cognitiveservices/v1') {
    return { status: 404, body: '' };
  }
  if (headers['ocp-apim-subscription-key'] !== key) return { status: 401, body: '' };
  if (!/^[0-9a-f]{32}$/i.test(String(headers['x-connectionid']))) return { status: 400, body: '' };
  const isKnown = [...url.searchParams.keys()].every((name) => PARAMETERS.has(name));
  return isKnown && url.searchParams.has('language') ? undefined : { status: 400, body: '' };
}

class Azure implements SessionHandler {
  readonly #session: SttSession;
  readonly #bodies: AzureSttServer['bodies'];
  readonly #status: string;
  #requestId: string | undefined;
  #hasHeader = false;
  #hasEnded = false;
  #words: HeardWord[] = [];

  constructor(session: SttSession, bodies: AzureSttServer['bodies'], status: string) {
    this.#session = session;
    this.#bodies = bodies;
    this.#status = status;
  }

  text(text: string): boolean {
    const [head, path = '', requestId] = HEADS.exec(text) ?? [];
    const body = text.split('\r\n\r\n')[1];
    if (head === undefined || body === undefined) {
      this.#session.violates('a frame of another form', 1007);
      return true;
    }
    this.#isSameRequest(requestId);
    this.#bodies.push([path, JSON.parse(body)]);
    if (path === 'speech.context') this.#checkContext(JSON.parse(body));
    if (path === 'speech.context') this.#send('turn.start', { context: { serviceTag: 't' } });
    return true;
  }

  #checkContext(context: Record<string, unknown>): void {
    const unknown = Object.keys(context).find((name) => !CONTEXT.has(name));
    if (unknown !== undefined) this.#session.violates(`unknown context ${unknown}`, 1007);
    const parsed = vocabulary.safeParse(context['dgi']);
    if (!parsed.success) this.#session.violates('a vocabulary of another form', 1007);
  }

  /** Audio behind its header, of which the first has a WAV header. */
  ulaw(data: Buffer): Uint8Array {
    const length = data.readUInt16BE(0);
    const [head, path, requestId] = HEADS.exec(data.toString('latin1', 2, 2 + length)) ?? [];
    this.#isSameRequest(requestId);
    if (head === undefined || path !== 'audio' || this.#bodies.length < 2) {
      this.#session.violates('audio of another form, or before its context', 1007);
    }
    const payload = data.subarray(2 + length);
    if (this.#hasEnded) this.#session.violates('audio behind its end', 1007);
    if (payload.length === 0) this.#end();
    if (this.#hasHeader) return payload;
    this.#hasHeader = true;
    const isUlaw = payload.toString('latin1', 0, 4) === 'RIFF' && payload.readUInt16LE(20) === 7;
    if (!isUlaw || payload.readUInt32LE(24) !== 8_000) {
      this.#session.violates('a WAV header of another form', 1007);
    }
    return payload.subarray(44);
  }

  audio(words: readonly HeardWord[]): void {
    this.#words.push(...words);
    if (words.length > 0) {
      const text = this.#session.interim(this.#words).map(({ word }) => word);
      this.#send('speech.hypothesis', { Text: text.join(' '), ...this.#span });
    } else if (this.#words.length > 0 && this.#session.finder.silenceMs >= 300) this.#phrase();
  }

  message(): void {
    this.#session.violates('a message without headers', 1007);
  }

  expired(): void {
    this.#send('turn.end', {});
  }

  /** An audio message without audio ends the request. */
  #end(): void {
    this.#hasEnded = true;
    if (this.#words.length > 0) this.#phrase();
    this.#send('speech.endDetected', { Offset: this.#session.audioMs * TICKS });
    this.#send('turn.end', {});
  }

  get #text(): string {
    return this.#words.map(({ word }) => word).join(' ');
  }

  get #span() {
    const [first] = this.#words;
    const startMs = first?.startMs ?? 0;
    const endMs = this.#words.at(-1)?.endMs ?? startMs;
    return { Offset: startMs * TICKS, Duration: (endMs - startMs) * TICKS };
  }

  #phrase(): void {
    const { closeOnFinalize, finals } = this.#session.faults;
    if (closeOnFinalize !== undefined) {
      this.#session.close(closeOnFinalize);
      return;
    }
    const best = {
      Confidence: 0.9,
      Lexical: this.#text,
      ITN: this.#text,
      MaskedITN: this.#text,
      Display: this.#text,
      Words: this.#words.map(({ word, startMs, endMs }) => ({
        Word: word,
        Offset: startMs * TICKS,
        Duration: (endMs - startMs) * TICKS,
      })),
    };
    const phrase = { RecognitionStatus: this.#status, ...this.#span, NBest: [best] };
    this.#words = [];
    if (finals === 'never') return;
    this.#session.inTurn(() => this.#send('speech.phrase', phrase));
    if (finals === 'twice') this.#send('speech.phrase', phrase);
  }

  #isSameRequest(requestId: string | undefined): void {
    this.#requestId ??= requestId;
    if (requestId !== this.#requestId) this.#session.violates('another request', 1007);
  }

  #send(path: string, body: object): void {
    const head = `X-RequestId:${this.#requestId}\r\nContent-Type:application/json; charset=utf-8\r\n`;
    this.#session.sendText(`${head}Path:${path}\r\n\r\n${JSON.stringify(body)}`);
  }
}
