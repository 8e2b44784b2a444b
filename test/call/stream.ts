// Twilio's end of one media socket, in the fake clock's time: it says what the caller's line brings,
// plays what it is sent and returns marks. Source: twilio.com/docs/voice/media-streams/websocket-messages

import { pcmu } from '../../src/codec/g711.ts';
import type { MediaSocket, MediaSocketListener } from '../../src/transport/media-socket.ts';
import { FarEnd } from '../fakes/call/far-end.ts';
import type { FakeClock } from '../fakes/fake-clock.ts';
import { hum } from '../fakes/speech-services.ts';

const STREAM = 'MZ00000000000000000000000000000001';
const VOICE = payload(hum(20, 8_000));
const SILENCE = payload(new Int16Array(160));

export class Stream implements MediaSocket {
  readonly callId: string;
  readonly farEnd: FarEnd;
  /** What the caller's line brings. */
  line: 'silence' | 'voice' | 'nothing' = 'silence';
  /** What it brings first, at 8 kHz. */
  sound: Int16Array = new Int16Array(0);
  /** How our side closed the socket. */
  closed: { code: number; reason: string; atMs: number } | undefined;
  bufferedBytes = 0;
  /** Audio messages that came, and how many of them a test has waited for. */
  frames = 0;
  framesAwaited = 0;
  /** Nothing that is sent is taken any more. */
  broken = false;
  readonly #clock: FakeClock;
  #listener: MediaSocketListener | undefined;
  #timestampMs = 0;
  #sequence = 0;

  constructor(options: { clock: FakeClock; callId: string; oneWayMs: number }) {
    this.#clock = options.clock;
    this.callId = options.callId;
    this.farEnd = new FarEnd({
      clock: options.clock,
      codec: pcmu,
      semantics: 'echo-on-clear',
      oneWayMs: options.oneWayMs,
    });
    this.farEnd.onMark = (name) => this.tell({ event: 'mark', mark: { name } });
  }

  get open(): boolean {
    return this.closed === undefined;
  }

  listen(listener: MediaSocketListener): void {
    this.#listener = listener;
  }

  // What the gateway sends.

  sendText(message: string): void {
    if (this.broken) throw new Error('the socket is broken');
    const sent = JSON.parse(message);
    if (sent.event === 'media') {
      this.frames += 1;
      this.farEnd.audio(Buffer.from(sent.media.payload, 'base64'));
    }
    if (sent.event === 'mark') this.farEnd.mark(sent.mark.name);
    if (sent.event === 'clear') this.farEnd.clear();
  }

  sendBinary(): void {
    throw new Error('Twilio takes no binary messages');
  }

  close(code: number, reason: string): void {
    if (this.closed !== undefined) return;
    this.closed = { code, reason, atMs: this.#clock.monotonicMs() };
    this.#listener?.onClose(code, reason);
  }

  // What Twilio sends.

  text(message: string): void {
    if (this.closed === undefined) this.#listener?.onText(message);
  }

  tell(event: Record<string, unknown>): void {
    this.#sequence += 1;
    this.text(
      JSON.stringify({ sequenceNumber: String(this.#sequence), streamSid: STREAM, ...event }),
    );
  }

  start(callId = this.callId): void {
    this.text('{"event":"connected","protocol":"Call","version":"1.0.0"}');
    const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
    const start = { streamSid: STREAM, callSid: callId, tracks: ['inbound'], mediaFormat };
    this.tell({ event: 'start', start });
  }

  /** 20 ms have passed. */
  frame(): void {
    const timestamp = String(this.#timestampMs);
    this.#timestampMs += 20;
    if (this.line === 'nothing') return;
    const media = {
      track: 'inbound',
      chunk: String(this.#timestampMs / 20),
      timestamp,
      payload: this.#payload(),
    };
    this.tell({ event: 'media', media });
  }

  #payload(): string {
    if (this.sound.length < 160) return this.line === 'voice' ? VOICE : SILENCE;
    const frame = this.sound.subarray(0, 160);
    this.sound = this.sound.subarray(160);
    return payload(frame);
  }

  key(digit: string): void {
    this.tell({ event: 'dtmf', dtmf: { track: 'inbound_track', digit } });
  }

  /** The caller hangs up: the stream stops, then the socket closes. */
  hangUp(): void {
    this.tell({ event: 'stop', stop: { callSid: this.callId } });
    this.lose(1000);
  }

  /** The socket closes without a word; with 1006 it breaks. */
  lose(code = 1005, reason = ''): void {
    if (this.closed !== undefined) return;
    this.closed = { code, reason, atMs: this.#clock.monotonicMs() };
    this.#listener?.onClose(code, reason);
  }
}

function payload(pcm: Int16Array): string {
  const bytes = new Uint8Array(pcm.length);
  pcmu.encode(pcm, bytes);
  return Buffer.from(bytes).toString('base64');
}
