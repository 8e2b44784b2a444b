// Capture of one call: the traffic between provider and gateway as JSON lines. Requests and answers of REST, webhooks
// and replies, messages of the media socket with the length of audio in place of the audio, and findings. Everything is
// redacted before it is written (capture-redaction.ts).

import { codeOf } from '../../errors/gateway-error.ts';
import type { Clock } from '../../std/clock.ts';
import { isObject, parseJson } from '../../std/json.ts';
import type { ProviderRequest, WebhookReply } from '../../telephony/provider/provider.ts';
import type { RestExchange } from '../../telephony/provider/rest-client.ts';
import type { MediaSocket, MediaSocketListener } from '../../transport/media-socket.ts';
import type { CaptureRedaction } from './capture-redaction.ts';

/** Version of the line format. */
const FORMAT = 1;
/** Lines at most; a call of a minute has about 200. */
const LINES_MAX = 2_000;
const BYTES_MAX = 1_000_000;
/** Messages with audio that are written out, for each side; the rest is counted. */
const AUDIO_LINES_MAX = 5;
/** Longest body that is read. */
const BODY_BYTES_MAX = 65_536;
/** Longest message of the media socket that is read: 100 ms of wideband audio have 5,000 characters. */
const MESSAGE_CHARACTERS_MAX = 16_384;
/** Characters of all messages of the media socket that are read: a call of 40 s has up to four million. Reading them
 *  takes time from the API. */
const MESSAGES_CHARACTERS_MAX = 12_000_000;

export type Side = 'provider' | 'gateway';

interface Counted {
  messages: number;
  bytes: number;
}

export class CallCapture {
  readonly #clock: Clock;
  readonly #redaction: CaptureRedaction;
  readonly #startMs: number;
  readonly #lines: string[] = [];
  #bytes = 0;
  #messageCharacters = 0;
  #isFull = false;
  /** Audio that was written out, and audio that was counted since the last line. */
  readonly #shown: Record<Side, number> = { provider: 0, gateway: 0 };
  readonly #counted: Record<Side, Counted> = { provider: none(), gateway: none() };

  constructor(options: {
    clock: Clock;
    redaction: CaptureRedaction;
    /** The capture's first line. */
    about: { provider: string; gateway: string };
  }) {
    this.#clock = options.clock;
    this.#redaction = options.redaction;
    this.#startMs = options.clock.monotonicMs();
    this.#line({ kind: 'capture', format: FORMAT, ...options.about });
  }

  /** Milliseconds since the capture began. */
  get atMs(): number {
    return Math.round(this.#clock.monotonicMs() - this.#startMs);
  }

  /** One JSON object a line. */
  get text(): string {
    this.#flushAudio();
    return this.#lines.join('');
  }

  rest({ request, response, error, tookMs }: RestExchange): void {
    const { action, method, url, headers, body } = request;
    this.#line({
      kind: 'rest',
      action,
      tookMs: Math.round(tookMs),
      request: {
        method,
        url: this.#redaction.url(url),
        headers: this.#redaction.headers(headers),
        body: this.#body(body ?? '', headers['content-type'] ?? ''),
      },
      ...(response === undefined
        ? { failed: codeOf(error) ?? 'unknown' }
        : { answer: { status: response.status, body: this.#body(response.body, '') } }),
    });
  }

  /** Writes a webhook and its reply. `event`: the name that the provider's parser gave it. */
  webhook(
    { method, url, headers, rawBody }: ProviderRequest,
    outcome: { isVerified: boolean; event: string; reply: WebhookReply | undefined },
  ): void {
    const { isVerified, event, reply } = outcome;
    this.#line({
      kind: 'webhook',
      isVerified,
      event,
      request: {
        method,
        url: this.#redaction.url(url),
        headers: this.#redaction.headers(headers),
        body: this.#body(bodyText(rawBody), headers['content-type'] ?? ''),
      },
      reply: reply && { ...reply, body: this.#body(reply.body, '') },
    });
  }

  upgrade(headers: Readonly<Record<string, unknown>>, verdict: string): void {
    this.#line({ kind: 'upgrade', verdict, headers: this.#redaction.headers(headers) });
  }

  message(from: Side, text: string): void {
    if (this.#isFull) return;
    this.#messageCharacters += text.length;
    if (text.length > MESSAGE_CHARACTERS_MAX || this.#messageCharacters > MESSAGES_CHARACTERS_MAX) {
      this.#media(from, { characters: text.length });
      return;
    }
    const json = parseJson(text);
    if (!isObject(json)) {
      this.#media(from, { text: this.#redaction.text(text) });
      return;
    }
    const shown = this.#redaction.field('', json);
    const bytes = audioBytesIn(shown);
    if (bytes === 0) this.#media(from, { json: shown });
    else this.#audio(from, bytes, { json: shown });
  }

  binary(from: Side, bytes: number): void {
    this.#audio(from, bytes, { binaryBytes: bytes });
  }

  closed(code: number, reason: string): void {
    this.#media('provider', { closed: code, reason: this.#redaction.text(reason) });
  }

  /** Writes a finding. */
  step(step: { key: string; verdict: string; message: string }): void {
    const { key, verdict, message } = step;
    this.#line({ kind: 'step', key, verdict, message: this.#redaction.text(message) });
  }

  #audio(from: Side, bytes: number, what: object): void {
    if (this.#shown[from] < AUDIO_LINES_MAX) {
      this.#shown[from] += 1;
      this.#media(from, what);
      return;
    }
    const counted = this.#counted[from];
    counted.messages += 1;
    counted.bytes += bytes;
  }

  #media(from: Side, what: object): void {
    this.#line({ kind: 'media', from, ...what });
  }

  #body(text: string, contentType: string): unknown {
    if (text === '') return null;
    if (text.length > BODY_BYTES_MAX) return { characters: text.length };
    const json = parseJson(text);
    if (isObject(json) || Array.isArray(json)) return { json: this.#redaction.field('', json) };
    if (!contentType.includes('urlencoded')) return { text: this.#redaction.text(text) };
    const form = [...new URLSearchParams(text)].map(([name, value]) => [
      this.#redaction.text(name),
      this.#redaction.field(name, value),
    ]);
    return { form };
  }

  #flushAudio(): void {
    for (const from of ['provider', 'gateway'] as const) {
      const counted = this.#counted[from];
      if (counted.messages === 0) continue;
      this.#counted[from] = none();
      this.#write({ kind: 'audio', from, ...counted });
    }
  }

  #line(what: object): void {
    this.#flushAudio();
    this.#write(what);
  }

  #write(what: object): void {
    if (this.#isFull) return;
    let line = `${JSON.stringify({ atMs: this.atMs, ...what })}\n`;
    // The line has a secret that the redaction has missed: it is left out.
    if (this.#redaction.leaksIn(line)) {
      line = `${JSON.stringify({ atMs: this.atMs, kind: 'omitted', bytes: line.length })}\n`;
    }
    this.#bytes += line.length;
    this.#isFull =
      this.#bytes > BYTES_MAX ||
      this.#lines.length >= LINES_MAX ||
      this.#messageCharacters > MESSAGES_CHARACTERS_MAX;
    this.#lines.push(this.#isFull ? `${JSON.stringify({ kind: 'full' })}\n` : line);
  }
}

function none(): Counted {
  return { messages: 0, bytes: 0 };
}

function bodyText(rawBody: Buffer): string {
  return rawBody.toString('utf8');
}

/** Bytes of audio in a message, from the texts that replace the audio. */
function audioBytesIn(value: unknown): number {
  if (typeof value === 'string') return Number(/^<audio (\d+) bytes>$/.exec(value)?.[1] ?? 0);
  const parts = isObject(value) ? Object.values(value) : Array.isArray(value) ? value : [];
  return parts.reduce<number>((sum, part) => sum + audioBytesIn(part), 0);
}

/** Wraps the socket: captures messages of the gateway. */
export function capturedSocket(socket: MediaSocket, capture: CallCapture): MediaSocket {
  return {
    sendText(message) {
      capture.message('gateway', message);
      socket.sendText(message);
    },
    sendBinary(message) {
      capture.binary('gateway', message.length);
      socket.sendBinary(message);
    },
    get bufferedBytes() {
      return socket.bufferedBytes;
    },
    get open() {
      return socket.open;
    },
    close: (code, reason) => socket.close(code, reason),
  };
}

/** Wraps the listener: captures messages of the provider. */
export function capturedListener(
  listener: MediaSocketListener,
  capture: CallCapture,
): MediaSocketListener {
  return {
    onText(message) {
      capture.message('provider', message);
      listener.onText(message);
    },
    onBinary(message) {
      capture.binary('provider', message.length);
      listener.onBinary(message);
    },
    onClose(code, reason) {
      capture.closed(code, reason);
      listener.onClose(code, reason);
    },
  };
}
