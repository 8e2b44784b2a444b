// The far end of a call on an Asterisk, simulated or real, worked over ARI like any application: a channel,
// joined with a media leg of our own, through which a person hears and speaks. It knows no gateway.

import WebSocket from 'ws';
import { FRAME_MS, FRAME_SAMPLES } from '../../../src/audio/pcm.ts';
import { pcmu } from '../../../src/codec/g711.ts';
import { comfortNoise } from '../../audio/sounds.ts';
import { type Account, type AriSession, idOf } from '../../fakes/asterisk/scenarios/ari-session.ts';

/** What a person at a telephone does. */
export interface PersonsLine {
  /** Told of every 20 ms; silence where nothing came. Borrowed. */
  onFrame: (frame: Int16Array) => void;
  say(samples: Int16Array): void;
  press(keys: string): void;
  hangUp(): void;
  /** When the call is over: whether the person ended it. */
  readonly ended: Promise<{ byPerson: boolean }>;
}

/** What waits to be heard: more would be an answer to a question long past. */
const HEARD_FRAMES_MAX = 50;

export class AsteriskLine implements PersonsLine {
  onFrame: (frame: Int16Array) => void = () => undefined;
  readonly ended: Promise<{ byPerson: boolean }>;
  readonly #session: AriSession;
  readonly #names: { channel: string; leg: string; bridge: string };
  readonly #noise = comfortNoise({ seed: 7 });
  readonly #heard: Buffer[] = [];
  #speech: Int16Array = new Int16Array(0);
  #socket: WebSocket | null = null;
  #byPerson = false;

  private constructor(session: AriSession, channel: string) {
    this.#session = session;
    const name = crypto.randomUUID();
    this.#names = { channel, leg: `demo-leg-${name}`, bridge: `demo-bridge-${name}` };
    this.ended = this.#untilEnded();
  }

  /** Takes a channel that is in our application, and answers it if it rings. */
  static async open(account: Account, session: AriSession, channel: string): Promise<AsteriskLine> {
    const line = new AsteriskLine(session, channel);
    await line.#join(account);
    return line;
  }

  get channelId(): string {
    return this.#names.channel;
  }

  say(samples: Int16Array): void {
    const both = new Int16Array(this.#speech.length + samples.length);
    both.set(this.#speech);
    both.set(samples, this.#speech.length);
    this.#speech = both;
  }

  press(keys: string): void {
    const query = { dtmf: keys, between: '60', duration: '80' };
    this.#order('POST', `channels/${this.#names.channel}/dtmf`, query);
  }

  hangUp(): void {
    this.#byPerson = true;
    this.#order('DELETE', `channels/${this.#names.channel}`);
  }

  async #join(account: Account): Promise<void> {
    const { channel, leg, bridge } = this.#names;
    await this.#ask(`channels/${channel}/answer`);
    const made = await this.#ask('channels/externalMedia', {
      app: this.#session.app,
      channelId: leg,
      format: 'ulaw',
      transport: 'websocket',
      encapsulation: 'none',
      connection_type: 'server',
    });
    const { channelvars } = made as { channelvars: Record<string, string> }; // As Asterisk answers.
    const id = channelvars['MEDIA_WEBSOCKET_CONNECTION_ID'] ?? '';
    const url = `${account.url.replace(/^http/, 'ws')}/media/${id}`;
    const socket = new WebSocket(url, ['media'], { perMessageDeflate: false });
    socket.on('error', () => undefined); // The channel's end tells.
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary && this.#heard.length < HEARD_FRAMES_MAX) this.#heard.push(data);
    });
    await this.#session.event('StasisStart', leg);
    await this.#ask('bridges', { type: 'mixing', bridgeId: bridge });
    await this.#ask(`bridges/${bridge}/addChannel`, { channel: `${channel},${leg}` });
    this.#socket = socket;
    void this.#live();
  }

  /** 20 ms of the person's life after another, in real time. */
  async #live(): Promise<void> {
    const frame = new Int16Array(FRAME_SAMPLES);
    const payload = new Uint8Array(pcmu.frameBytes);
    for (let dueMs = performance.now(); this.#socket !== null; dueMs += FRAME_MS) {
      await new Promise((done) => setTimeout(done, Math.max(0, dueMs - performance.now())));
      this.#listen(frame);
      this.#noise.fill(frame);
      frame.set(this.#speech.subarray(0, FRAME_SAMPLES));
      this.#speech = this.#speech.subarray(Math.min(FRAME_SAMPLES, this.#speech.length));
      pcmu.encode(frame, payload);
      if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(payload);
    }
  }

  #listen(frame: Int16Array): void {
    const payload = this.#heard.shift();
    frame.fill(0);
    if (payload !== undefined) pcmu.decode(payload.subarray(0, pcmu.frameBytes), frame);
    this.onFrame(frame);
  }

  async #untilEnded(): Promise<{ byPerson: boolean }> {
    const { channel, leg, bridge } = this.#names;
    await new Promise<void>((resolve) => {
      this.#session.onEvent((event) => {
        if (event.type === 'StasisEnd' && idOf(event) === channel) resolve();
      });
    });
    this.#socket = null;
    this.#order('DELETE', `channels/${leg}`);
    this.#order('DELETE', `bridges/${bridge}`);
    return { byPerson: this.#byPerson };
  }

  /** Whether it was done shows in what follows: the call may be over, and so may the Asterisk. */
  #order(method: string, path: string, query: Record<string, string> = {}): void {
    this.#session.ask(method, path, query).catch(() => undefined);
  }

  async #ask(path: string, query: Record<string, string> = {}): Promise<unknown> {
    const { status, body } = await this.#session.ask('POST', path, query);
    if (status < 300) return body;
    throw new Error(`Asterisk refused POST ${path}: ${status} ${JSON.stringify(body)}`);
  }
}
