// A gateway's Asterisk connector with a simulated Asterisk, and a call layer that records its events. Time
// is the test's: it runs as fast as the two can talk.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import type { CallStatus } from '../../../src/model/provider.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { ariProvider } from '../../../src/telephony/ari/provider.ts';
import { createChannelIds } from '../../../src/telephony/ari/rest/channel-ids.ts';
import type {
  MediaEvent,
  MediaListener,
  MediaSession,
  MediaStart,
} from '../../../src/telephony/provider/media-session.ts';
import type {
  PbxConnection,
  PbxInboundCall,
  PbxListener,
  PbxState,
  PbxStatus,
} from '../../../src/telephony/provider/pbx.ts';
import type { PbxMembers } from '../../../src/telephony/provider/pbx-members.ts';
import type { PbxProvider } from '../../../src/telephony/provider/provider.ts';
import type { ProviderCredentials } from '../../../src/telephony/provider/terms.ts';
import {
  createMediaServer,
  type MediaEndpoint,
} from '../../../src/transport/websocket/media-server.ts';
import {
  type FakeAsterisk,
  type FakeAsteriskOptions,
  startAsterisk,
} from '../../fakes/asterisk/fake-asterisk.ts';
import { pump } from '../../fakes/asterisk/media/pump.ts';
import { ask, MediaClient } from '../../fakes/asterisk/scenarios/ari-session.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

export const APP = 'app';
const ids = createChannelIds(APP, systemRandom);
/** A signal that never fires. */
export const patient = new AbortController().signal;
/** Real time that anything may take. */
const WAIT_MS_MAX = 10_000;
/** 20 ms of ulaw. */
const FRAME = new Uint8Array(160).fill(0x55);

/** Runs after the test, last first. No `afterEach` here: it would be that of the first file to import this alone. */
export function atEnd(close: () => unknown): void {
  onTestFinished(async () => void (await close()));
}

export async function until(isSo: () => boolean, what = 'it'): Promise<void> {
  const timeUp = AbortSignal.timeout(WAIT_MS_MAX);
  while (!isSo()) {
    if (timeUp.aborted) expect.fail(`${what} did not come about`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A call's audio as the call has it. */
export class Audio implements MediaListener {
  readonly media: MediaSession;
  readonly starts: MediaStart[] = [];
  readonly frames: Uint8Array[] = [];
  /** That were played, and that were dropped. */
  readonly marks: string[] = [];
  readonly dropped: string[] = [];
  /** What is not played yet, as it was reported. */
  readonly unplayedMs: number[] = [];
  /** Losses of the media, times on hold, and what came of them. */
  readonly outages: string[] = [];
  digits = '';
  /** How it ended; `over`: by our side. */
  closedWith: 'over' | 'ended' | 'lost' | 'inactive' | 'fault' | null = null;

  constructor(media: MediaSession) {
    this.media = media;
    media.attach(this);
  }

  say(frames: number): void {
    for (let nth = 0; nth < frames; nth++) this.media.audio(FRAME);
  }

  mark(name: string): void {
    this.media.mark(name);
  }

  clear(): void {
    this.media.clear();
  }

  close(): void {
    this.closedWith ??= 'over';
    this.media.close('over');
  }

  onAudio(payload: Uint8Array): void {
    this.frames.push(Uint8Array.from(payload));
  }

  onEvent(event: MediaEvent): void {
    switch (event.type) {
      case 'started':
        this.starts.push(event.start);
        break;
      case 'digit':
        this.digits += event.digit;
        break;
      case 'mark':
        (event.outcome === 'played' ? this.marks : this.dropped).push(event.name);
        break;
      case 'unplayed':
        this.unplayedMs.push(event.ms);
        break;
      case 'interrupted':
        this.outages.push('interrupted');
        break;
      case 'restored':
        this.outages.push(event.explained ? 'restored after music' : 'restored');
        break;
      case 'held':
      case 'unheld':
        this.outages.push(event.type);
        break;
      case 'closed':
        this.closedWith = event.reason;
    }
  }
}

/** Keeps the events of a connection. */
export class Room implements PbxListener {
  readonly states: PbxState[] = [];
  readonly inbound: PbxInboundCall[] = [];
  readonly early: { callId: string; runId: string }[] = [];
  readonly answered: { callId: string; runId: string }[] = [];
  readonly statuses: PbxStatus[] = [];

  onState(state: PbxState): void {
    this.states.push(state);
  }

  onInbound(call: PbxInboundCall): void {
    this.inbound.push(call);
  }

  onEarlyMedia(call: { callId: string; runId: string }): void {
    this.early.push(call);
  }

  onAnswered(call: { callId: string; runId: string }): void {
    this.answered.push(call);
  }

  onStatus(status: PbxStatus): void {
    this.statuses.push(status);
  }

  /** Statuses of a call, in order. */
  of(callId: string): CallStatus[] {
    return this.statuses.filter((each) => each.callId === callId).map(({ status }) => status);
  }
}

export interface Gateway {
  provider: PbxProvider;
  credentials: ProviderCredentials;
  connection: PbxConnection;
  harness: Room;
  lines: () => Record<string, unknown>[];
}

export interface Table extends Gateway {
  clock: FakeClock;
  asterisk: FakeAsterisk;
}

export function credentialsOf(
  asterisk: { url: string },
  more: ProviderCredentials = {},
): ProviderCredentials {
  const login = { app_name: 'gw', app_password: 'gwsecret', stasis_app_name: APP };
  const dialling = { dial_template: 'Local/{number}@out-dest/n' };
  return { ari_endpoint: asterisk.url, ...login, ...dialling, ...more };
}

/** Another provider object is another process. */
export function gateway(
  clock: FakeClock,
  credentials: ProviderCredentials,
  provider = ariProvider.create({ clock, random: systemRandom }),
  members?: PbxMembers,
): Gateway {
  const { log, lines } = quietLog();
  const harness = new Room();
  const account = { configurationId: '1', credentials };
  const connection = provider.pbx.connect(account, { listener: harness, log, members });
  atEnd(() => connection.close());
  return { provider, credentials, connection, harness, lines };
}

export async function isUp({ connection }: { connection: PbxConnection }): Promise<void> {
  await until(() => connection.state.kind === 'up', 'the connection');
}

/** Connected, and Asterisk dials us for the audio over its connection `gw`. */
export async function clientTable(): Promise<Table> {
  const clock = new FakeClock();
  const made: { table?: Table } = {};
  const uri = await mediaDoor(clock, () => {
    if (made.table === undefined) throw new Error('there is no table yet');
    return made.table.provider;
  });
  made.table = await table({
    clock,
    asterisk: { websocketClients: { gw: { uri, protocols: 'media' } } },
    credentials: { media: 'websocket_client', ws_client_name: 'gw' },
  });
  return made.table;
}

/** Connected. */
export async function table(
  options: {
    asterisk?: FakeAsteriskOptions;
    credentials?: ProviderCredentials;
    clock?: FakeClock;
  } = {},
): Promise<Table> {
  const clock = options.clock ?? new FakeClock();
  const asterisk = await startAsterisk({ clock, app: APP, ...options.asterisk });
  atEnd(() => asterisk.stop());
  atEnd(pump(clock));
  const made = gateway(clock, credentialsOf(asterisk, options.credentials));
  await isUp(made);
  return { clock, asterisk, ...made };
}

export type Phone = ReturnType<FakeAsterisk['placeCall']>;

/** A caller rings. */
export async function rings(
  { asterisk, harness }: Pick<Table, 'asterisk' | 'harness'>,
  script = 'person',
): Promise<{ phone: Phone; call: PbxInboundCall }> {
  const before = harness.inbound.length;
  const phone = asterisk.placeCall({ from: '5551234', to: '8000', script });
  await until(() => harness.inbound.length > before, 'the call');
  const call = harness.inbound[before];
  if (call === undefined) throw new Error('there is no call');
  return { phone, call };
}

export interface Talk {
  callId: string;
  phone: Phone;
  audio: Audio;
}

/** Audio passes both ways from now on. */
export async function talkBothWays({ audio, phone }: Talk): Promise<void> {
  const [before, heard] = [phone.arrivals.length, audio.frames.length];
  audio.say(3);
  phone.say(new Int16Array(1_600).fill(500));
  await until(
    () => phone.arrivals.length >= before + 3 && audio.frames.length > heard,
    'audio both ways',
  );
}

/** A caller who is connected. */
export async function talks(at: Table, script = 'person'): Promise<Talk> {
  const { phone, call } = await rings(at, script);
  const media = await at.connection.openMedia(call.callId, patient);
  return { callId: call.callId, phone, audio: new Audio(media) };
}

export async function dial(
  { provider, credentials }: Gateway,
  to: string,
  more: { runId?: string; ringS?: number } = {},
): Promise<string> {
  const request = { to, from: '', runId: '77', ringS: 20, ...more };
  const { callId } = await provider.control.dial(credentials, { ...noAnswer, ...request }, patient);
  return callId;
}

const noAnswer = { answerUrl: '', statusUrl: '', answeredByUrl: '', callS: 3_600 };

/** No channel and no bridge is there. */
export async function nothingLeft({ asterisk }: { asterisk: FakeAsterisk }): Promise<void> {
  const left = (): string[] => [
    ...asterisk.channels.map(({ name }) => name),
    ...asterisk.bridgeIds,
  ];
  const timeUp = AbortSignal.timeout(5_000);
  while (left().length > 0 && !timeUp.aborted) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(left()).toEqual([]);
}

/** The media leg that there is now. */
export function legOf({ asterisk }: { asterisk: FakeAsterisk }) {
  const leg = asterisk.media.websockets.findLast(({ isUsedUp }) => !isUsedUp);
  if (leg === undefined) throw new Error('there is no media leg');
  return leg;
}

/** Somebody at the PBX ends a channel: a media leg's socket dies of it. */
export async function cut({ asterisk }: { asterisk: FakeAsterisk }, id: string): Promise<void> {
  const account = { url: asterisk.url, user: 'admin', password: 'admin' };
  asterisk.users['admin'] = { password: 'admin' };
  await ask(account, { method: 'DELETE', path: `channels/${encodeURIComponent(id)}` });
}

/** A media channel that was asked for by somebody who does not wait for it any more, with its socket. */
export async function strayLeg({ asterisk }: { asterisk: FakeAsterisk }): Promise<MediaClient> {
  const account = { url: asterisk.url, user: 'gw', password: 'gwsecret' };
  const kind = { format: 'ulaw', transport: 'websocket', encapsulation: 'none' };
  const query = { app: APP, ...kind, connection_type: 'server', channelId: ids.make('m') };
  await ask(account, { method: 'POST', path: 'channels/externalMedia', query });
  return new MediaClient(account, asterisk.media.websockets.at(-1)?.facts.connectionId ?? '');
}

/** The channel that a transfer rings, once it is there. */
export async function transferLeg({ asterisk }: { asterisk: FakeAsterisk }): Promise<string> {
  const leg = (): string | undefined =>
    asterisk.channels.find(({ id }) => ids.kindOf(id) === 't')?.id;
  await until(() => leg() !== undefined, 'the transfer');
  return leg() ?? '';
}

/** The gateway's listener for sockets that Asterisk opens; returns the address for websocket_client.conf. */
async function mediaDoor(clock: FakeClock, provider: () => PbxProvider): Promise<string> {
  const { log } = quietLog();
  const endpoint: MediaEndpoint = {
    isInUse: () => true,
    accept: (socket, arrival) => provider().pbx.takeSocket(socket, arrival),
  };
  const authorize = () => Promise.resolve({ refuse: 4_401, reason: 'no run' });
  const media = createMediaServer({
    log,
    clock,
    authorize,
    endpoints: new Map([['ari', endpoint]]),
  });
  const server = createServer();
  server.on('upgrade', (request, socket, head) => media.handleUpgrade(request, socket, head));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // Of a TCP server.
  return `ws://127.0.0.1:${port}/api/v1/telephony/ws/ari`;
}

/** As by `kill -9` of the gateway: it asks nothing any more, and its sockets break. */
export async function kill({ asterisk, connection }: Table, audio?: Audio): Promise<void> {
  const login = asterisk.users['gw'];
  asterisk.users['gw'] = { password: 'nobody knows it any more' };
  await connection.close();
  audio?.close();
  await until(() => asterisk.openEventSockets === 0, 'the end');
  asterisk.users['next'] = login ?? { password: 'gwsecret' };
}

/** The gateway is started anew. */
export async function restart({ clock, asterisk }: Table): Promise<Gateway> {
  const next = gateway(clock, credentialsOf(asterisk, { app_name: 'next' }));
  await isUp(next);
  return next;
}
