// The least gateway that can hold a Twilio call, made of the real provider and the real media server:
// it verifies every request, answers calls with a stream, and keeps what comes. For the fake's own tests.

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLog } from '../../../src/log.ts';
import { systemClock } from '../../../src/std/clock.ts';
import type { MediaProtocol } from '../../../src/telephony/provider/media-protocol.ts';
import type {
  MediaEvent,
  MediaListener,
  MediaStart,
} from '../../../src/telephony/provider/media-session.ts';
import type { ProviderEvent, WebhookReply } from '../../../src/telephony/provider/provider.ts';
import { twilioProvider } from '../../../src/telephony/twilio/provider.ts';
import type { MediaSocket } from '../../../src/transport/media-socket.ts';
import { createMediaServer } from '../../../src/transport/websocket/media-server.ts';
import { bare, formPost } from '../../telephony/provider/provider-request.ts';

/** What the gateway sees of one call. */
export class Line implements MediaListener {
  readonly protocol: MediaProtocol;
  readonly socket: MediaSocket;
  start: MediaStart | undefined;
  audio: Buffer[] = [];
  timestamps: number[] = [];
  digits = '';
  marks: string[] = [];
  stopped = false;
  closed: number | undefined;
  onChange: () => void = () => undefined;

  constructor(protocol: MediaProtocol, socket: MediaSocket) {
    this.protocol = protocol;
    this.socket = socket;
  }

  onAudio(payload: Uint8Array, timestampMs: number): void {
    this.audio.push(Buffer.from(payload));
    this.timestamps.push(timestampMs);
  }
  onEvent(event: MediaEvent): void {
    switch (event.type) {
      case 'started':
        this.start = event.start;
        this.onChange();
        break;
      case 'digit':
        this.digits += event.digit;
        break;
      case 'mark':
        this.marks.push(event.name);
        break;
      case 'interrupted':
      case 'restored':
      case 'held':
      case 'unheld':
        throw new Error('Twilio opens no other media');
      case 'unplayed':
        throw new Error('Twilio does not report what it has not played');
      case 'closed':
        this.stopped = true;
    }
  }

  /** Sends mu-law in messages of 20 ms, all at once, and a mark after it. */
  play(audio: Uint8Array, mark: string): void {
    for (let at = 0; at < audio.length; at += 160) {
      this.socket.sendText(String(this.protocol.encodeAudio(audio.subarray(at, at + 160))));
    }
    this.socket.sendText(this.protocol.encodeMark(mark) ?? '');
  }
}

export interface SmallGateway {
  base: string;
  events: ProviderEvent[];
  lines: Line[];
  /** Requests whose signature was not right. */
  refused: number;
  reply: () => WebhookReply;
  /** Settles when the next stream has started. */
  nextLine(): Promise<Line>;
  close(): Promise<void>;
}

export async function startSmallGateway(authToken: string): Promise<SmallGateway> {
  const provider = twilioProvider.create({ clock: systemClock });
  const credentials = { auth_token: authToken };
  let waiting: ((line: Line) => void)[] = [];
  const http = createServer((request, response) => {
    void receive(request).then(({ status, contentType, body }) => {
      response.writeHead(status, { 'content-type': contentType }).end(body);
    });
  });
  const media = createMediaServer({
    log: createLog({ level: 'silent', pii: false }),
    clock: systemClock,
    authorize: (_path, headers, url) => {
      const upgrade = bare(`${self.base.replace('http', 'ws')}${url}`, headers);
      if (!provider.webhook.verifyUpgrade?.(upgrade, credentials)) {
        self.refused += 1;
        return Promise.resolve({ refuse: 4401, reason: 'signature' });
      }
      return Promise.resolve({ accept });
    },
  });
  function accept(socket: MediaSocket) {
    const line = new Line(provider.createMedia(), socket);
    self.lines.push(line);
    line.onChange = () => {
      for (const wake of waiting.splice(0)) wake(line);
    };
    return {
      onText: (message: string) => line.protocol.decodeText(message, line),
      onBinary: (message: Uint8Array) => line.protocol.decodeBinary?.(message, line),
      onClose: (code: number) => {
        line.closed = code;
      },
    };
  }
  async function receive(request: IncomingMessage): Promise<WebhookReply> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const url = `${self.base}${request.url}`;
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const asked = formPost(url, Buffer.concat(chunks).toString(), headers);
    if (
      !provider.webhook.recognises(asked) ||
      !provider.webhook.verify(asked, credentials, Date.now())
    ) {
      self.refused += 1;
      return { status: 401, contentType: 'text/plain', body: 'no' };
    }
    const event = provider.webhook.parse(asked);
    self.events.push(event);
    const wantsMarkup = /inbound|answer$/.test(url);
    return wantsMarkup ? self.reply() : provider.webhook.acknowledge();
  }
  http.on('upgrade', (request, socket, head) => void media.handleUpgrade(request, socket, head));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo; // A TCP server has an address of this kind.
  const base = `http://127.0.0.1:${port}`;
  const self: SmallGateway = {
    base,
    events: [],
    lines: [],
    refused: 0,
    reply: () =>
      provider.webhook.answer({
        runId: '3',
        callId: '',
        isAnswered: false,
        statusUrl: '',
        answeredByUrl: '',
        mediaUrl: `${base.replace('http', 'ws')}/api/v1/telephony/ws/1/2/3/t`,
      }).reply,
    nextLine: () => new Promise((resolve) => waiting.push(resolve)),
    close: async () => {
      waiting = [];
      await media.close(1001);
      await new Promise<void>((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      });
    },
  };
  return self;
}
