// What a scenario of the comparison can do with an Asterisk, simulated or real, and what is kept of it. Only
// ARI and media sockets: nothing that a simulator could do alone.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  type Account,
  AriSession,
  type Event,
  idOf,
  MediaClient,
  type Reply,
} from './ari-session.ts';

/** Something that was seen, in the order in which it was. */
export type Note =
  | { kind: 'reply'; asked: string; status: number; body: unknown }
  | { kind: 'event'; event: Event }
  | { kind: 'media'; text: string }
  | { kind: 'closed'; code: number }
  | { kind: 'audiosocket'; hex: string };

export interface Place {
  account: Account;
  /** Waits in the PBX's time. */
  pause: (ms: number) => Promise<void>;
  /** Where the connection `media_gw` of websocket_client.conf leads; null: that is not tried. */
  mediaPort: number | null;
}

type Query = Record<string, string>;

/** Runs on either Asterisk. */
export type Scenario = (stage: Stage) => Promise<void>;

/** Ids of one run do not meet those of another. */
let runs = 0;

export class Stage {
  readonly notes: Note[] = [];
  readonly place: Place;
  readonly #prefix: string;
  readonly #session: AriSession;
  readonly #closers: (() => void)[] = [];
  #noted = 0;

  private constructor(place: Place, session: AriSession, prefix: string) {
    this.place = place;
    this.#session = session;
    this.#prefix = prefix;
  }

  static async open(place: Place): Promise<Stage> {
    runs += 1;
    const prefix = `q${process.pid.toString(36)}r${runs}x`;
    return new Stage(place, await AriSession.open(place.account, prefix), prefix);
  }

  get app(): string {
    return this.#prefix;
  }

  /** A channel or bridge id of this run; names are of equal length, so that none begins another. */
  id(name: string): string {
    return `${this.#prefix}-${name.padEnd(8, '_')}`;
  }

  async ask(method: string, path: string, query: Query = {}, body?: unknown): Promise<Reply> {
    const reply = await this.#session.ask(method, path, query, body);
    this.#catchUp();
    const asked = `${method} ${path}`;
    this.notes.push({ kind: 'reply', asked, status: reply.status, body: reply.body });
    return reply;
  }

  async event(type: string, channelId?: string): Promise<Event> {
    return await this.#session.event(type, channelId);
  }

  /** Until the channel has answered or is gone; true for the former. */
  async settled(channelId: string): Promise<boolean> {
    const isEnd = (event: Event): boolean =>
      idOf(event) === channelId && ['StasisStart', 'ChannelDestroyed'].includes(event.type);
    await this.#session.until(() => this.#session.events.some(isEnd), `end of ${channelId}`);
    return this.#session.events.find(isEnd)?.type === 'StasisStart';
  }

  async dialStatus(status: string, channelId: string): Promise<void> {
    const { events } = this.#session;
    const isIt = (event: Event): boolean =>
      event.type === 'Dial' && event['dialstatus'] === status && idOf(event) === channelId;
    await this.#session.until(() => events.some(isIt), status);
  }

  async dial(endpoint: string, name = 'call', more: Query = {}): Promise<string> {
    const channelId = this.id(name);
    const callerId = '"Bob" <5551234>';
    const query = { endpoint, app: this.app, appArgs: 'out,r1', channelId, timeout: '3', callerId };
    await this.ask('POST', 'channels', { ...query, ...more });
    return channelId;
  }

  /** A caller rings: the far half is a script of caller-sim. Gives both halves' ids. */
  async inbound(script: string): Promise<{ far: string; near: string }> {
    const far = this.id('caller');
    const query = { endpoint: 'Local/8000@pbx-in/n', extension: script, context: 'caller-sim' };
    const caller = { priority: '1', callerId: '"Bob" <5551234>', channelId: far };
    await this.ask(
      'POST',
      'channels',
      { ...query, ...caller },
      {
        variables: { ['__TARGET']: this.app },
      },
    );
    return { far, near: idOf(await this.#session.event('StasisStart')) };
  }

  /** A media leg in server mode, connected. */
  async mediaLeg(name: string, query: Query = {}): Promise<{ id: string; media: MediaClient }> {
    const id = this.id(name);
    const reply = await this.ask('POST', 'channels/externalMedia', {
      app: this.app,
      format: 'ulaw',
      transport: 'websocket',
      encapsulation: 'none',
      connection_type: 'server',
      channelId: id,
      data: 'media,1',
      ...query,
    });
    const { channelvars } = reply.body as { channelvars: Query }; // As recorded.
    const key = channelvars['MEDIA_WEBSOCKET_CONNECTION_ID'] ?? '';
    const media = new MediaClient(this.place.account, key);
    this.#watch(media.socket);
    await media.until(() => media.socket.readyState === media.socket.OPEN);
    await this.event('StasisStart', id);
    return { id, media };
  }

  /** Takes the connections that `media_gw` makes. */
  async mediaServer(port: number): Promise<void> {
    const server = new WebSocketServer({ port, host: '127.0.0.1' });
    await once(server, 'listening');
    server.on('connection', (socket) => this.#watch(socket));
    this.#closers.push(() => server.close());
  }

  /** Takes AudioSocket connections; gives the port and the sockets. */
  async audioSocketServer(): Promise<{ port: number; sockets: Socket[] }> {
    const sockets: Socket[] = [];
    const server: Server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined); // The close tells.
      socket.on('data', (data) => {
        const hex = data.toString('hex');
        this.notes.push({ kind: 'audiosocket', hex });
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    this.#closers.push(() => server.close());
    return { port: (server.address() as AddressInfo).port, sockets }; // Of a TCP server.
  }

  async closed(media: MediaClient): Promise<void> {
    await media.until(() => media.closedWith !== null);
  }

  async said(media: MediaClient, part: string): Promise<void> {
    await media.until(() => media.texts.some((text) => text.includes(part)));
  }

  async heard(media: MediaClient, frames: number): Promise<void> {
    await media.until(() => media.frames.length >= frames);
  }

  /** A second event socket for the same application. */
  async replaced(): Promise<void> {
    const second = await AriSession.open(this.place.account, this.app);
    await this.event('ApplicationReplaced');
    second.close();
  }

  async close(): Promise<void> {
    // What is still on its way belongs to the scenario.
    await this.place.pause(200);
    this.#catchUp();
    this.#session.close();
    for (const close of this.#closers) close();
  }

  /** What was seen, with names that are the same in every run. */
  named(): Note[] {
    return JSON.parse(JSON.stringify(this.notes).replaceAll(this.#prefix, 'app'));
  }

  #watch(socket: WebSocket): void {
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (!isBinary) this.notes.push({ kind: 'media', text: data.toString() });
    });
    socket.once('close', (code: number) => this.notes.push({ kind: 'closed', code }));
  }

  #catchUp(): void {
    for (; this.#noted < this.#session.events.length; this.#noted += 1) {
      const event = this.#session.events[this.#noted];
      if (event !== undefined) this.notes.push({ kind: 'event', event });
    }
  }
}
