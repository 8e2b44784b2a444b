// POST /channels/externalMedia: makes the media leg that a gateway asks for, over websocket (both ways),
// AudioSocket or RTP.

import { randomUUID } from 'node:crypto';
import type { Channel } from '../channel.ts';
import type { Pbx } from '../pbx.ts';
import { ok, type Params, Refusal, type RestAnswer, type Routes } from '../rest/rest.ts';
import { AudioSocketEnd } from './audiosocket-end.ts';
import { ChanWebsocket, type Direction, type MediaFacts } from './chan-websocket.ts';
import { codecOfFormat } from './media-format.ts';
import { RtpEnd } from './rtp-end.ts';
import { dialClient, type WebsocketClient } from './websocket-client.ts';

const INTERNAL = 'An internal error prevented this request from being handled';
/** Nobody has connected to a server-mode media socket for so long: the channel is given up. */
const CONNECT_MS_MAX = 31_300;
const UNREAD_POLL_MS = 20;

interface WebsocketHow {
  isServer: boolean;
  /** Address of the media; in client mode the connection's name. */
  host: string;
  direction: Direction;
}

export class MediaLegs {
  /** websocket_client.conf. */
  readonly clients = new Map<string, WebsocketClient>();
  /** By the id that the gateway has to connect to. */
  readonly waiting = new Map<string, ChanWebsocket>();
  readonly websockets: ChanWebsocket[] = [];
  readonly audioSockets: AudioSocketEnd[] = [];
  readonly rtp: RtpEnd[] = [];
  readonly #pbx: Pbx;
  /** Handshakes that hold the lock which every new leg needs (asterisk §0.2). */
  #wedges: Promise<void>[] = [];

  constructor(pbx: Pbx) {
    this.#pbx = pbx;
  }

  get routes(): Routes {
    return { 'POST channels/externalMedia': (_, params) => this.#create(params) };
  }

  /** Until no socket of ours is left unread, and no deletion waits for a handshake. */
  async unwedged(): Promise<void> {
    while (this.#wedges.length > 0) await Promise.race(this.#wedges);
    while (this.websockets.some(({ isUnread }) => isUnread)) {
      await new Promise<void>((resolve) => void this.#pbx.clock.after(UNREAD_POLL_MS, resolve));
    }
  }

  async #create(params: Params): Promise<RestAnswer> {
    await this.unwedged();
    const encapsulation = params.get('encapsulation') || 'rtp';
    const transport = params.get('transport') || 'udp';
    const isWebsocket = transport === 'websocket' && this.#pbx.version.chanWebsocket;
    const direction = directionOf(params);
    if (isWebsocket && encapsulation !== 'none') {
      throw new Refusal(400, "encapsulation must be 'none' for websocket transport");
    }
    const isServer = isWebsocket && params.get('connection_type') === 'server';
    const host = params.get('external_host');
    if (host === '' && !isServer) {
      const what = 'external_host is required for all but websocket server connections';
      throw new Refusal(400, what);
    }
    if (isWebsocket) return this.#websocket(params, { isServer, host, direction });
    if (encapsulation === 'rtp') {
      if (transport === 'udp') return await this.#packets(params, host, 'rtp');
      throw new Refusal(400, "transport must be 'udp' for rtp encapsulation");
    }
    const isAudioSocket = encapsulation === 'audiosocket' && transport === 'tcp';
    if (isAudioSocket && this.#pbx.version.audioSocket) {
      return await this.#packets(params, host, 'audiosocket');
    }
    throw new Refusal(501, 'The encapsulation and/or transport is not supported');
  }

  #websocket(params: Params, how: WebsocketHow): RestAnswer {
    const client = this.clients.get(how.host);
    if (!how.isServer && client === undefined) {
      throw new Refusal(400, 'external_host must be a valid websocket_client connection id.');
    }
    const options = params.get('transport_data');
    const data = optionsOf(options);
    const facts = this.#mediaFacts(params, how, data);
    const name = how.isServer ? 'INCOMING' : how.host;
    const channel = this.#channel(params, `WebSocket/${name}/${this.#pbx.pointer()}`);
    show(channel, {
      ...params.variables,
      ['MEDIA_WEBSOCKET_CONNECTION_ID']: facts.connectionId,
      ['MEDIA_WEBSOCKET_OPTIMAL_FRAME_SIZE']: String(facts.codec.frameBytes),
    });
    const leg = new ChanWebsocket(this.#pbx, channel, facts, () => this.#pbx.farAnswers(channel));
    channel.line = leg;
    this.websockets.push(leg);
    const answer = ok(channel.snapshot());
    const wanted = params.has('direction') ? `${options}d(${how.direction})` : options;
    const begin = this.#begin(channel, params, wanted === '' ? name : `${name}/${wanted}`);
    if (client === undefined || how.isServer) this.#awaitClient(channel, leg, begin);
    else this.#dialClient(channel, leg, { client, variables: data['v'] ?? '', begin });
    return answer;
  }

  #mediaFacts(params: Params, how: WebsocketHow, data: Record<string, string>): MediaFacts {
    const isControlKnown = [undefined, 'json', 'plain-text'].includes(data['f']);
    if (!isControlKnown) this.#mayCrash('an unknown f() value');
    const format = codecOfFormat(data['c'] ?? params.get('format'));
    const isForbidden = how.isServer && data['v'] !== undefined;
    if (format === undefined || isForbidden) throw new Refusal(500, INTERNAL);
    const direction = data['d'] ?? how.direction;
    return {
      connectionId: how.isServer ? randomUUID() : how.host,
      format: format.name,
      codec: format.codec,
      isJson: data['f'] === 'json' && this.#pbx.version.mediaJson,
      direction: isDirection(direction) ? direction : how.direction,
      answersItself: data['n'] === undefined,
      side: how.isServer ? 'server' : 'client',
    };
  }

  #awaitClient(channel: Channel, leg: ChanWebsocket, begin: () => void): void {
    this.#now(begin);
    const id = leg.facts.connectionId;
    this.waiting.set(id, leg);
    this.#pbx.later(CONNECT_MS_MAX, () => {
      if (!leg.isConnected) this.#pbx.hangUp(channel, 19, null);
    });
  }

  #dialClient(
    channel: Channel,
    leg: ChanWebsocket,
    how: { client: WebsocketClient; variables: string; begin: () => void },
  ): void {
    const { client } = how;
    const own = how.variables === '' ? [] : how.variables.split(',');
    // Kept in the connection, not in the call: who brings none gets those of the call before.
    const crossed = this.#pbx.faults.crossedVariables && client.lastVariables.length > 0;
    const sent = own.length === 0 || crossed ? client.lastVariables : own;
    if (own.length > 0) client.lastVariables = own;
    this.#now(() => {
      const handshake = dialClient(this.#pbx, client, {
        parameters: sent,
        isWanted: () => !channel.isOver,
        onOpen: (socket) => {
          how.begin();
          leg.attach(socket);
        },
        onFailed: () => this.#pbx.hangUp(channel, 3, null),
      });
      // A deletion during the handshake waits for it, and everything else for the deletion.
      const { gone } = leg;
      leg.gone = () => {
        if (!leg.isConnected) this.#wedge(handshake);
        gone.call(leg);
      };
    });
  }

  /** After the answer to the request, as it mostly is. */
  #now(run: () => void): void {
    if (this.#pbx.faults.eventsBeforeAnswer) run();
    else this.#pbx.soon(run);
  }

  #wedge(until: Promise<void>): void {
    this.#wedges.push(until);
    void until.then(() => {
      this.#wedges = this.#wedges.filter((each) => each !== until);
    });
  }

  async #packets(params: Params, host: string, kind: 'rtp' | 'audiosocket'): Promise<RestAnswer> {
    const [, address = '', port = ''] = /^(.+):(\d+)$/.exec(host) ?? [];
    if (address === '' && kind === 'rtp') {
      const what = 'external_host must be <host>:<port> for all transports other than websocket';
      throw new Refusal(400, what);
    }
    const data = params.get('data');
    if (kind === 'audiosocket' && data === '') throw new Refusal(400, 'data can not be empty');
    const format = codecOfFormat(params.get('format'));
    if (format === undefined) throw new Refusal(500, INTERNAL);
    const target = { address, port: Number(port), format, uuid: data };
    const end =
      kind === 'rtp' ? new RtpEnd(this.#pbx, target) : new AudioSocketEnd(this.#pbx, target);
    if (!(await end.open())) throw new Refusal(500, INTERNAL);
    const channel = this.#channel(params, end.channelName);
    show(channel, { ...params.variables, ...end.channelVariables });
    channel.line = end;
    if (end instanceof RtpEnd) this.rtp.push(end);
    else this.audioSockets.push(end);
    const answer = ok(channel.snapshot());
    const begin = this.#begin(channel, params, end.dialString);
    this.#now(() => {
      begin();
      end.start(channel);
      this.#pbx.farAnswers(channel);
    });
    return answer;
  }

  #channel(params: Params, name: string): Channel {
    const id = params.get('channelId') || this.#pbx.uniqueId();
    if (this.#pbx.isIdTaken(id)) {
      this.#mayCrash('a channel id that is taken');
      throw new Refusal(409, 'Channel with given unique ID already exists');
    }
    const app = params.get('app');
    if (app === '') throw new Refusal(400, 'app is required');
    const facts = { appName: 'AppDial2', appData: '(Outgoing Line)' };
    const channel = this.#pbx.add({ id, name, context: 'default', exten: 's', ...facts });
    channel.followers.add(app);
    return channel;
  }

  /** What tells that the leg is dialled. */
  #begin(channel: Channel, params: Params, dialString: string): () => void {
    const args = params.get('data') === '' ? [] : params.get('data').split(',');
    const app = params.get('app');
    const onAnswer = (): void => {
      if (!this.#pbx.enterStasis(channel, app, args)) this.#pbx.hangUp(channel, 16, null);
    };
    channel.dialling = { dialString, originated: true, onAnswer };
    return () => this.#pbx.tellDial(channel, '');
  }

  #mayCrash(why: string): void {
    if (!this.#pbx.version.crashesOnBadMedia) return;
    this.#pbx.complaints.push(`${why} for a media leg: this Asterisk dies of it`);
    this.#pbx.crash();
    throw new Refusal(500, INTERNAL);
  }
}

function show(channel: Channel, variables: Record<string, string>): void {
  for (const [name, value] of Object.entries(variables)) channel.variables.set(name, value);
  channel.shownVariables = Object.keys(variables);
}

function directionOf(params: Params): Direction {
  const direction = params.get('direction') || 'both';
  if (!isDirection(direction)) throw new Refusal(400, 'Invalid direction specified');
  return direction;
}

function isDirection(text: string): text is Direction {
  return text === 'both' || text === 'in' || text === 'out';
}

/** `c(slin16)f(json)n` to its letters. */
function optionsOf(text: string): Record<string, string> {
  const options: Record<string, string> = {};
  for (const [, letter = '', value = ''] of text.matchAll(/([a-z])(?:\(([^)]*)\))?/g)) {
    options[letter] = value;
  }
  return options;
}
