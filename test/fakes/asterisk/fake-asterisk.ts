// An Asterisk for tests and for the demo: ARI over HTTP and websockets, chan_websocket, AudioSocket and RTP
// ends, telephones that follow a script. The gateway sees of it what it would see of a real one, as recorded
// from 22.10.1; it may play any version from 16 to 23, and suffer what machines suffer.

import type WebSocket from 'ws';
import { type Clock, systemClock } from '../../../src/std/clock.ts';
import { freePort } from '../free-port.ts';
import type { Channel } from './channel.ts';
import { sectionOf } from './config-file.ts';
import { type Dialplan, type Step, standardDialplan } from './dialplan.ts';
import { EventSocket, type EventSocketMeans } from './event-socket.ts';
import type { Faults } from './faults.ts';
import { MediaLegs } from './media/external-media.ts';
import { dialClient, type WebsocketClientFacts } from './media/websocket-client.ts';
import { OutboundSession } from './outbound-session.ts';
import { Pbx } from './pbx.ts';
import type { Phone } from './phone.ts';
import { apiDocs } from './rest/api-docs.ts';
import { AriHttp, type AriUser } from './rest/http.ts';
import { type RestAnswer, type RestRequest, Router } from './rest/rest.ts';
import { asteriskRoutes, type Machine, standardModules } from './rest/rest-asterisk.ts';
import { bridgeRoutes } from './rest/rest-bridges.ts';
import { channelRoutes } from './rest/rest-channels.ts';
import { eventRoutes } from './rest/rest-events.ts';
import { playbackRoutes } from './rest/rest-playbacks.ts';
import { settingsRoutes } from './rest/rest-settings.ts';
import { Runner } from './scenarios/runner.ts';
import type { StasisApps } from './stasis.ts';
import { type Endpoint, Trunk } from './trunk.ts';
import { versionOf } from './version.ts';

export interface FakeAsteriskOptions {
  clock?: Clock;
  /** As `/asterisk/info` gives it; default 22.10.1. */
  version?: string;
  /** Default: `gw` with `gwsecret`, and `gwro` with `rosecret`, who may only read. */
  users?: Record<string, AriUser>;
  /** websocket_client.conf: connections for client-mode media, by name. */
  websocketClients?: Record<string, WebsocketClientFacts>;
  /** Default application of inbound calls. */
  app?: string;
  /** Who answers a dialled number: an extension of the dialplan. */
  numbers?: Record<string, string>;
  /** Beside the standard one: contexts are merged. */
  dialplan?: Dialplan;
  /** PJSIP endpoints beside the standard ones. */
  endpoints?: Record<string, Endpoint>;
  /** The file http.conf. Default: one with the server enabled. */
  httpConf?: string;
  /** Default: a free one. */
  port?: number;
}

export interface InboundCall {
  from: string;
  /** The dialled extension. */
  to: string;
  name?: string;
  /** An extension of caller-sim: `talk`, `silent`, `tone`, `dtmf`, `short`, `echo`, `person`. */
  script?: string;
  /** The application that gets it; default: the option `app`. */
  app?: string;
  context?: string;
  /** The formats that the telephone offers. Default: ulaw. */
  formats?: string[];
}

/** A request as it came, and what was answered. */
export interface Asked {
  method: string;
  path: string;
  query: Record<string, string>;
  body: unknown;
  status: number | null;
}

const REQUESTS_KEPT_MAX = 10_000;

export async function startAsterisk(options: FakeAsteriskOptions = {}): Promise<FakeAsterisk> {
  const asterisk = new FakeAsterisk(options);
  await asterisk.start();
  return asterisk;
}

export class FakeAsterisk {
  readonly users: Record<string, AriUser>;
  readonly media: MediaLegs;
  /** Every telephone that there was, oldest first. */
  readonly phones: Phone[] = [];
  readonly requests: Asked[] = [];
  /** Loaded modules, without `.so`. */
  readonly machine: Machine;
  /** Told of each new telephone, before it hears or says anything. */
  onPhone: (phone: Phone) => void = () => undefined;
  readonly #pbx: Pbx;
  readonly #plan: Dialplan;
  readonly #runner: Runner;
  readonly #trunk: Trunk;
  readonly #http: AriHttp;
  readonly #router: Router;
  readonly #eventSockets = new Set<EventSocket>();
  readonly #isHttpEnabled: boolean;
  #port: number | null;

  constructor(options: FakeAsteriskOptions) {
    const pbx = new Pbx(options.clock ?? systemClock, versionOf(options.version ?? '22.10.1'));
    this.#pbx = pbx;
    this.#port = options.port ?? null;
    const { httpConf } = options;
    this.#isHttpEnabled =
      httpConf === undefined || sectionOf(httpConf, 'general')['enabled'] === 'yes';
    this.users = options.users ?? {
      gw: { password: 'gwsecret' },
      gwro: { password: 'rosecret', isReadOnly: true },
    };
    const plan = merged(standardDialplan, options.dialplan ?? {});
    this.#plan = plan;
    this.#runner = new Runner(pbx, { plan, app: options.app ?? 'gw' });
    this.#runner.onPhone = (phone) => {
      this.phones.push(phone);
      this.onPhone(phone);
    };
    this.#trunk = new Trunk(pbx, this.#runner);
    Object.assign(this.#trunk.endpoints, options.endpoints);
    for (const [number, extension] of Object.entries(options.numbers ?? {})) {
      this.#trunk.numbers.set(number, extension);
    }
    this.media = new MediaLegs(pbx);
    for (const [name, client] of Object.entries(options.websocketClients ?? {})) {
      this.media.clients.set(name, { ...client, lastVariables: [] });
    }
    this.machine = { startedAt: pbx.timestamp(), modules: standardModules(pbx) };
    this.#router = new Router({
      ...channelRoutes({ pbx, trunk: this.#trunk, runner: this.#runner }),
      ...this.media.routes,
      ...bridgeRoutes(pbx),
      ...playbackRoutes(pbx),
      ...settingsRoutes(this.media.clients, this.#trunk),
      ...asteriskRoutes(pbx, this.machine),
      ...eventRoutes(pbx),
    });
    this.#http = new AriHttp({
      users: this.users,
      rest: (request) => this.#rest(request),
      refusesMedia: (id) => this.#refusesMedia(id),
      onMedia: (id, socket) => this.media.waiting.get(id)?.attach(socket),
      onEvents: (facts, socket) => this.#openEvents(socket, facts),
      upgrade: () => pbx.faults.upgrade,
      apiDocs,
    });
  }

  /** `http://127.0.0.1:<port>`, without `/ari`. */
  get url(): string {
    return `http://127.0.0.1:${this.#port ?? 0}`;
  }

  get faults(): Faults {
    return this.#pbx.faults;
  }

  /** What was sent to applications, and a tap to change it. */
  get stasis(): StasisApps {
    return this.#pbx.stasis;
  }

  /** What a real PBX would suffer from, in words. */
  get complaints(): readonly string[] {
    return this.#pbx.complaints;
  }

  /** Listed channels. */
  get channels(): readonly Channel[] {
    return [...this.#pbx.channels.values()].filter(({ isHidden }) => !isHidden);
  }

  get bridgeIds(): readonly string[] {
    return [...this.#pbx.bridges.keys()];
  }

  get openEventSockets(): number {
    return this.#eventSockets.size;
  }

  /** The last telephone that plays an extension. */
  phone(extension: string): Phone {
    const found = this.phones.findLast((phone) => phone.extension === extension);
    if (found === undefined) throw new Error(`nobody plays ${extension}`);
    return found;
  }

  /** Who answers a number that is dialled from now on. */
  answerNumber(number: string, extension: string): void {
    this.#trunk.numbers.set(number, extension);
  }

  /** Changes the lines of an extension, for calls from now on; undefined: it has none any more. */
  setExtension(context: string, extension: string, steps: Step[] | undefined): void {
    const lines = { ...this.#plan[context] };
    if (steps === undefined) delete lines[extension];
    else lines[extension] = steps;
    this.#plan[context] = lines;
  }

  /** A telephone outside rings the PBX. */
  placeCall(call: InboundCall): Phone {
    const variables: Record<string, string> =
      call.app === undefined ? {} : { ['TARGET']: call.app };
    const { phone, channel } = this.#trunk.bringIn({
      from: { name: call.name ?? '', number: call.from },
      to: call.to,
      context: call.context ?? 'pbx-in',
      script: call.script ?? 'person',
      variables,
    });
    if (call.formats !== undefined) channel.formats = call.formats;
    return phone;
  }

  /** The telephone of a channel transfers its call. Returns the channel that takes its place. */
  transferByPhone(channelId: string): { id: string; hangUp(): void } {
    const channel = this.#pbx.find(channelId);
    if (channel === undefined) throw new Error(`there is no channel ${channelId}`);
    const other = this.#pbx.transfer(channel);
    return { id: other.id, hangUp: () => this.#pbx.hangUp(other, 16, { cause: 16 }) };
  }

  /** ARI outbound websocket: Asterisk dials the gateway, and again `reconnectIntervalMs` after each loss.
   *  Returns what ends it, as `ari shutdown websocket session`; dialling again is `ari start outbound-websocket`. */
  dialOut(client: WebsocketClientFacts & { apps: string[]; isReadOnly?: boolean }): () => void {
    let isWanted = true;
    let current: WebSocket | undefined;
    const outbound = new OutboundSession(this.#pbx, client.apps);
    const again = (): void => void this.#pbx.later(client.reconnectIntervalMs ?? 500, connect);
    const connect = (): void => {
      if (!isWanted) return;
      void dialClient(
        this.#pbx,
        { ...client, reconnectAttempts: 1 },
        {
          parameters: [],
          isWanted: () => isWanted,
          onOpen: (socket) => {
            current = socket;
            socket.once('close', again);
            const facts = { apps: client.apps, subscribesAll: false, outbound };
            this.#openEvents(socket, { ...facts, isReadOnly: client.isReadOnly === true });
          },
          onFailed: again,
        },
      );
    };
    connect();
    return () => {
      isWanted = false;
      outbound.end();
      current?.close(1000);
    };
  }

  /** How often audio was taken back (FLUSH_MEDIA) by the media legs that the other half of a channel's call
   *  is joined with. */
  flushesAgainst(channelId: string): number {
    const members = this.#pbx.channels.get(channelId)?.partner?.bridge?.channels ?? [];
    const legs = this.media.websockets.filter(({ channelId: id }) =>
      members.some((member) => member.id === id),
    );
    const commands = legs.flatMap((leg) => leg.commands);
    return commands.filter((command) => command.includes('FLUSH_MEDIA')).length;
  }

  /** Event sockets break; calls go on. */
  cutEvents(): void {
    for (const socket of this.#eventSockets) socket.cut();
  }

  /** Event sockets stay open, and nothing comes or goes any more. */
  freezeEvents(): void {
    for (const socket of this.#eventSockets) socket.freeze();
  }

  /** All sockets are reset at once, and none can be opened until `restoreNetwork`; calls go on. */
  async loseNetwork(): Promise<void> {
    await this.#http.kill();
  }

  async restoreNetwork(): Promise<void> {
    await this.#http.listen(this.#port ?? 0);
  }

  /** As by `kill -9`: every call and every connection is gone. */
  async crash(): Promise<void> {
    this.#pbx.crash();
    await this.#http.kill();
  }

  /** Also after a crash, at the same port. */
  async start(): Promise<void> {
    this.#port ??= await freePort();
    if (this.#isHttpEnabled) await this.#http.listen(this.#port);
    this.machine.startedAt = this.#pbx.timestamp();
  }

  /** For good. */
  async stop(): Promise<void> {
    await this.crash();
  }

  async #rest(request: RestRequest): Promise<RestAnswer | undefined> {
    const { method, path, query, body } = request;
    const asked: Asked = { method, path, query: Object.fromEntries(query), body, status: null };
    if (this.requests.length < REQUESTS_KEPT_MAX) this.requests.push(asked);
    const fault = this.#pbx.faults.rest(request);
    if (fault === 'hang') return undefined;
    const makesChannel = method === 'POST' && /^channels(\/create)?$/.test(path);
    if (makesChannel) await this.media.unwedged();
    const answer = fault ?? (await this.#router.answer(request));
    asked.status = answer.status;
    return answer;
  }

  #refusesMedia(id: string): number | null {
    const leg = this.media.waiting.get(id);
    if (leg === undefined || leg.isUsedUp) return 404;
    return leg.isConnected ? 409 : null;
  }

  #openEvents(
    socket: WebSocket,
    facts: Pick<EventSocketMeans, 'apps' | 'subscribesAll' | 'isReadOnly' | 'outbound'>,
  ): void {
    const events = new EventSocket(socket, {
      ...facts,
      pbx: this.#pbx,
      rest: (request) => this.#rest(request),
    });
    this.#eventSockets.add(events);
    socket.once('close', () => this.#eventSockets.delete(events));
  }
}

function merged(base: Dialplan, more: Dialplan): Dialplan {
  const whole = { ...base };
  for (const [context, extensions] of Object.entries(more)) {
    whole[context] = { ...whole[context], ...extensions };
  }
  return whole;
}
