// Captures the messages between a client and a service as JSON lines in a file: without keys, with the length of audio
// in place of the audio. Recognised and spoken words stay. Each line is written at once: a killed process leaves whole
// lines.

import { isCredentialName } from '../../model/speech-services/description-secrets.ts';
import type { Clock } from '../../std/clock.ts';
import { isObject, parseJson } from '../../std/json.ts';

/** Lines at most: half an hour of a call with a packet every 60 ms. */
const LINES_MAX = 60_000;
const TEXT_CHARACTERS_MAX = 8_000;
/** Shortest base64 text that counts as audio. */
const BASE64_CHARACTERS_MIN = 200;
/** Shortest secret: shorter ones could be words. */
const SECRET_CHARACTERS_MIN = 6;
const SECRETS_MAX = 100;
const DEPTH_MAX = 30;
const KEY = 'KEY';
/** Headers whose whole value is a credential, or has one among its parts. */
const SECRET_HEADER = /^(set-cookie|sec-websocket-protocol)$/i;
/** A parameter of an address within a text. */
const PARAMETER = /([?&])([^=&?\s"'<>]{1,100})=([^&#\s"'<>]+)/g;
/** Headers of the connection, and those without information. */
const LEFT_OUT =
  /^(host|connection|upgrade|sec-websocket-(key|version|extensions|accept)|content-length|transfer-encoding|accept-encoding|date|server|via|alt-svc|strict-transport-security|cf-.*|x-request-id|request-id|nel|report-to|.*organization.*|.*project.*)$/i;

export type WireSide = 'client' | 'service';

export class WireCapture {
  /** Number of lines that were written. */
  lines = 0;
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #write: (line: string) => void;
  readonly #secrets = new Set<string>();

  constructor(options: { clock: Clock; write: (line: string) => void }) {
    this.#clock = options.clock;
    this.#startMs = options.clock.monotonicMs();
    this.#write = options.write;
  }

  request(session: number, of: { method: string; url: string; headers: object }): void {
    const url = URL.parse(of.url, 'http://localhost');
    const headers = this.#headers(of.headers);
    const query = [...(url?.searchParams ?? [])].map(([name, value]) => {
      return [name, this.#field(name, value, 0)];
    });
    this.#line(session, 'client', {
      method: of.method,
      path: this.#text(url?.pathname ?? ''),

      query,
      headers,
    });
  }

  answer(session: number, of: { status: number; headers: object }): void {
    this.#line(session, 'service', { status: of.status, headers: this.#headers(of.headers) });
  }

  text(session: number, from: WireSide, text: string): void {
    const json = parseJson(text);
    if (isObject(json) || Array.isArray(json)) {
      this.#line(session, from, { json: this.#value(json, 0) });
    } else if (text.trim() !== '') {
      this.#line(session, from, { text: this.#lines(text) });
    }
  }

  binary(session: number, from: WireSide, bytes: number): void {
    this.#line(session, from, { binaryBytes: bytes });
  }

  closed(session: number, from: WireSide, of: { code?: number; reason: string }): void {
    this.#line(session, from, { closed: of.code ?? null, reason: this.#text(of.reason) });
  }

  #line(session: number, from: WireSide, what: object): void {
    if (this.lines >= LINES_MAX) return;
    this.lines += 1;
    const atMs = Math.round(this.#clock.monotonicMs() - this.#startMs);
    this.#write(`${JSON.stringify({ session, atMs, from, ...what })}\n`);
  }

  #headers(headers: object): Record<string, unknown> {
    const kept = Object.entries(headers).filter(([name]) => !LEFT_OUT.test(name));
    return Object.fromEntries(kept.map(([name, value]) => [name, this.#field(name, value, 0)]));
  }

  #field(name: string, value: unknown, depth: number): unknown {
    const isCredential = SECRET_HEADER.test(name) || isCredentialName(name);
    if (!isCredential || depth >= DEPTH_MAX) return this.#value(value, depth);
    if (Array.isArray(value)) return value.map((each) => this.#field(name, each, depth + 1));
    if (typeof value !== 'string') return this.#value(value, depth);
    const [, scheme = '', secret = ''] = /^([A-Za-z]{2,12} )?(.*)$/s.exec(value) ?? [];
    this.#addSecret(secret);
    for (const part of secret.split(/[,;\s]+/)) this.#addSecret(part);
    return `${scheme}${KEY}`;
  }

  #value(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (depth >= DEPTH_MAX) return null;
    if (Array.isArray(value)) return value.map((each) => this.#value(each, depth + 1));
    if (!isObject(value)) return value;
    const fields = Object.entries(value).map(([name, each]) => {
      return [this.#text(name), this.#field(name, each, depth + 1)];
    });
    return Object.fromEntries(fields);
  }

  /** Captures the lines of server-sent events, each with JSON of its own. */
  #lines(text: string): string {
    return text
      .split('\n')
      .map((line) => {
        const data = /^data: ?(.*)$/.exec(line)?.[1];
        const json = data === undefined ? undefined : parseJson(data);
        return isObject(json) ? `data: ${JSON.stringify(this.#value(json, 0))}` : this.#text(line);
      })
      .join('\n');
  }

  #text(text: string): string {
    if (text.length >= BASE64_CHARACTERS_MIN && /^[A-Za-z0-9+/_=-]+$/.test(text)) {
      return `<${text.length} characters of Base64>`;
    }
    // Replaced before the text is cut: a part of a secret would not be found.
    let clean = text.replace(PARAMETER, (all, mark: string, name: string, value: string) => {
      if (!isCredentialName(name)) return all;
      this.#addSecret(value);
      return `${mark}${name}=${KEY}`;
    });
    for (const secret of this.#secrets) clean = clean.replaceAll(secret, KEY);
    return clean.slice(0, TEXT_CHARACTERS_MAX);
  }

  #addSecret(secret: string): void {
    if (secret.length < SECRET_CHARACTERS_MIN || this.#secrets.size >= SECRETS_MAX) return;
    this.#secrets.add(secret);
    this.#secrets.add(encodeURIComponent(secret));
  }
}
