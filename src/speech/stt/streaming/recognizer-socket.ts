// Connection of a recogniser with JSON messages: sends audio in packets, receives one JSON object per message, and
// reports the billed time at its end. The clients interpret the messages.

import { RATE_HZ } from '../../../audio/pcm.ts';
import { isObject, parseJson } from '../../../std/json.ts';
import type { FaultKind } from '../../service/service-fault.ts';
import { isServiceCount, type ServiceMeans } from '../../service/service-means.ts';
import { VendorSocket, type VendorSocketOptions } from '../../service/vendor-socket.ts';
import { AudioPackets, type SttAudioFormat } from '../audio-packets.ts';
import type { RecognizerListener } from '../stt.ts';

interface RecognizerSocketOptions
  extends Pick<
    VendorSocketOptions,
    | 'service'
    | 'url'
    | 'locate'
    | 'headers'
    | 'secrets'
    | 'opening'
    | 'isReadyMessage'
    | 'keepalive'
    | 'kindOfClose'
  > {
  means: ServiceMeans;
  model: string;
  format: SttAudioFormat;
  packetMs: number;
  /** See `AudioPackets`. */
  restMsMin?: number;
  /** Parses a message to an object. Default: JSON. */
  read?: (text: string) => unknown;
  /** Converts a packet to a message. Default: one binary message. */
  messageOf?: (packet: Uint8Array) => string | Uint8Array;
  /** `audio`: the audio sent; `session`: the time from ready to the end. */
  billing: 'audio' | 'session';
  listener: RecognizerListener;
  /** Called for each message, an object. Must not throw; it reports with `fail` what it cannot read. */
  onMessage(message: Record<string, unknown>): void;
  /** Called when the connection has failed. The listener is informed afterwards. */
  onEnd(): void;
}

/** End of a session in which the service sends the last message. */
interface SessionEnd {
  /** Message that is sent after all audio. */
  last(): string | Uint8Array;
  /** Whether the service has sent everything. False if the service then closes the connection. */
  isOver(message: Record<string, unknown>): boolean;
}

export class RecognizerSocket {
  readonly #options: RecognizerSocketOptions;
  readonly #socket: VendorSocket;
  readonly #packets: AudioPackets;
  #sentSamples = 0;
  #sentPackets = 0;
  /** Seconds that the service bills, by its own count. */
  #countedSeconds: number | undefined;
  #isFinishing = false;
  #readyAt: number | undefined;
  #hasEnded = false;

  constructor(options: RecognizerSocketOptions) {
    this.#options = options;
    const { means, format, packetMs, restMsMin, listener } = options;
    const { messageOf = (packet) => packet } = options;
    const { clock, egress, warm } = means;
    this.#packets = new AudioPackets({
      format,
      packetMs,
      restMsMin,
      send: (packet) => {
        this.#sentPackets += 1;
        this.#socket.send(messageOf(packet));
      },
    });
    this.#socket = new VendorSocket({
      ...options,
      job: 'stt',
      clock,
      egress,
      warm,
      listener: {
        onReady: () => {
          this.#readyAt = clock.monotonicMs();
        },
        onText: (text) => this.#text(text),
        onFault: (fault) => {
          this.#end();
          options.onEnd();
          listener.onError(fault);
        },
      },
    });
  }

  /** Milliseconds of audio pushed since the first sample. */
  get pushedMs(): number {
    return (this.#sentSamples * 1_000) / RATE_HZ;
  }

  /** Number of messages with audio that were sent. */
  get sentPackets(): number {
    return this.#sentPackets;
  }

  get isReady(): boolean {
    return this.#socket.isReady;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  push(frame: Int16Array): void {
    if (this.#hasEnded || this.#isFinishing) return;
    this.#sentSamples += frame.length;
    this.#packets.push(frame);
  }

  /** Sends an incomplete packet, once it is long enough for the service. */
  flush(): void {
    if (!this.#hasEnded && !this.#isFinishing) this.#packets.flush();
  }

  /** Sends a message after the complete packets of the audio before it. An incomplete packet stays. */
  send(message: Record<string, unknown>): void {
    this.#packets.flushComplete();
    this.#socket.send(JSON.stringify(message));
  }

  /** Sends a message that is not a JSON object. */
  sendText(text: string): void {
    this.#packets.flushComplete();
    this.#socket.send(text);
  }

  expectAnswer(ms: number): void {
    this.#socket.expectAnswer(ms);
  }

  fail(kind: FaultKind, detail: string, vendorCode?: string): void {
    this.#socket.fail(kind, detail, vendorCode === undefined ? {} : { vendorCode });
  }

  close(last: Record<string, unknown> | string | undefined): void {
    if (this.#hasEnded) return;
    this.#packets.flushComplete();
    this.#end();
    this.#socket.close(isObject(last) ? JSON.stringify(last) : last);
  }

  /** Closes like `close`, but still passes on messages until the session is over, 2 s at most. Then resolves; never
   *  rejects. */
  async finish({ last, isOver }: SessionEnd): Promise<void> {
    if (this.#hasEnded || this.#isFinishing) return;
    this.#packets.flushComplete();
    this.#isFinishing = true;
    const { read = parseJson } = this.#options;
    await this.#socket.finish(last(), (text) => {
      const message = read(text);
      return isObject(message) && isOver(message);
    });
    this.#end();
  }

  /** Stores the service's own count of the session, from its last messages. */
  counted(seconds: number): void {
    if (this.#isFinishing && isServiceCount(seconds)) this.#countedSeconds = seconds;
  }

  #text(text: string): void {
    const { read = parseJson } = this.#options;
    const message = read(text);
    if (!isObject(message)) {
      this.fail('protocol', 'a message that is not a JSON object');
      return;
    }
    this.#options.listener.onActivity?.();
    // The listener may have closed the recogniser.
    if (!this.#hasEnded) this.#options.onMessage(message);
  }

  /** Reports the usage. Audio that still waits for the connection should not be billed, but is counted in the few calls
   *  that fail. */
  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { means, service, model, billing, listener } = this.#options;
    if (this.#readyAt === undefined) return;
    const sessionMs = means.clock.monotonicMs() - this.#readyAt;
    const counted = this.#countedSeconds;
    const ms = billing === 'audio' ? this.pushedMs : sessionMs;
    const amount = Math.round(counted === undefined ? ms : counted * 1_000) / 1_000;
    if (amount <= 0) return;
    listener.onUsage?.({
      job: 'stt',
      service,
      model,
      unit: 'seconds',
      amount,
      source: counted === undefined ? 'counted' : 'vendor',
    });
  }
}

/** The address of the websocket. `base`: ws, wss, http or https URL, with or without a path of its own. */
export function serviceUrl(base: string, path: string): string {
  return `${base.replace(/^http/, 'ws').replace(/\/+$/, '')}${path}`;
}
