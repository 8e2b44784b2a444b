// What can go wrong with the simulated Asterisk, and the directions in which it dials: each of the faults of
// asterisk §2.9 can be had, and is what it says.

import { createSocket } from 'node:dgram';
import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { FakeClock } from '../fake-clock.ts';
import { type FakeAsterisk, type FakeAsteriskOptions, startAsterisk } from './fake-asterisk.ts';
import { pump } from './media/pump.ts';
import { type Account, AriSession, idOf, MediaClient } from './scenarios/ari-session.ts';

const media = { app: 'app', format: 'ulaw', transport: 'websocket', encapsulation: 'none' };
const closers: (() => unknown)[] = [];

let asterisk: FakeAsterisk;
let account: Account;
let session: AriSession;

async function begin(options: FakeAsteriskOptions = {}): Promise<void> {
  const clock = new FakeClock();
  asterisk = await startAsterisk({ clock, app: 'app', ...options });
  account = { url: asterisk.url, user: 'gw', password: 'gwsecret' };
  session = await AriSession.open(account, 'app');
  const stop = pump(clock);
  closers.push(
    () => asterisk.stop(),
    stop,
    () => session.close(),
  );
}

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A server that a PBX dials; what it does with upgrades is the test's. */
async function listening(): Promise<{ server: Server; uri: string }> {
  const server = createHttpServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // Of a TCP server.
  return { server, uri: `ws://127.0.0.1:${port}/media` };
}

async function until(isSo: () => boolean): Promise<void> {
  const timeUp = AbortSignal.timeout(10_000);
  while (!isSo()) {
    timeUp.throwIfAborted();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function serverLeg(channelId: string, query: Record<string, string> = {}) {
  const reply = await session.ask('POST', 'channels/externalMedia', {
    ...media,
    connection_type: 'server',
    channelId,
    ...query,
  });
  const { channelvars } = reply.body as { channelvars: Record<string, string> }; // As recorded.
  return channelvars['MEDIA_WEBSOCKET_CONNECTION_ID'] ?? '';
}

describe('client mode', () => {
  let sockets: { url: string; authorization: string; socket: WebSocket }[];

  async function client(query: Record<string, string>): Promise<void> {
    await session.ask('POST', 'channels/externalMedia', {
      ...media,
      external_host: 'gw',
      ...query,
    });
  }

  async function beginAsServer(): Promise<void> {
    const { server, uri } = await listening();
    sockets = [];
    const accepting = new WebSocketServer({ server });
    accepting.on('connection', (socket, request) => {
      const authorization = request.headers.authorization ?? '';
      sockets.push({ url: request.url ?? '', authorization, socket });
    });
    const login = { username: 'mediauser', password: 'mediapass' };
    await begin({ websocketClients: { gw: { uri, protocols: 'media', ...login } } });
  }

  it('dials the connection with its login and the parameters of the call', async () => {
    await beginAsServer();
    await client({ channelId: 'leg-1', transport_data: 'f(json)v(call=7,run=9)' });
    await session.event('StasisStart', 'leg-1');
    expect(sockets[0]).toMatchObject({
      url: '/media?call=7&run=9',
      authorization: `Basic ${Buffer.from('mediauser:mediapass').toString('base64')}`,
      socket: { protocol: 'media' },
    });
  });

  it('gives a call without parameters those of the call before', async () => {
    await beginAsServer();
    await client({ channelId: 'leg-1', transport_data: 'v(call=7)' });
    await session.event('StasisStart', 'leg-1');
    await client({ channelId: 'leg-2' });
    await session.event('StasisStart', 'leg-2');
    expect(sockets.map(({ url }) => url)).toEqual(['/media?call=7', '/media?call=7']);
  });

  it('tries three times where it is refused, then gives up with cause 3', async () => {
    const { server, uri } = await listening();
    let tries = 0;
    server.on('upgrade', (_, socket) => {
      tries += 1;
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    });
    await begin({ websocketClients: { gw: { uri } } });
    await client({ channelId: 'leg-1' });
    expect(await session.event('ChannelDestroyed', 'leg-1')).toMatchObject({ cause: 3 });
    expect(tries).toBe(3);
  });

  it('waits for ever for an upgrade, and a deletion then stops all media legs (22.10)', async () => {
    const { server, uri } = await listening();
    const held: Socket[] = [];
    server.on('upgrade', (_, socket) => void held.push(socket as Socket)); // Of a TCP server.
    await begin({ websocketClients: { gw: { uri } } });
    await client({ channelId: 'leg-1' });
    await until(() => held.length === 1);
    await session.ask('DELETE', 'channels/leg-1');
    let isMade = false;
    const made = serverLeg('leg-2').then(() => {
      isMade = true;
    });
    expect((await session.ask('GET', 'channels')).status).toBe(200);
    for (let nth = 0; nth < 50; nth++) await new Promise((resolve) => setImmediate(resolve));
    expect(isMade).toBe(false);
    held[0]?.destroy();
    await made;
  });

  it('gives an upgrade up after a second (22.11)', async () => {
    const { server, uri } = await listening();
    server.on('upgrade', () => undefined);
    await begin({ version: '22.11.0', websocketClients: { gw: { uri } } });
    await client({ channelId: 'leg-1' });
    expect(await session.event('ChannelDestroyed', 'leg-1')).toMatchObject({ cause: 3 });
  });
});

describe('server mode', () => {
  beforeEach(() => begin());

  it('accepts no other id than the one it gave, and each only once', async () => {
    const refused = async (id: string): Promise<number | null> => {
      const socket = new MediaClient(account, id).socket;
      return await new Promise((resolve) => {
        socket.once('unexpected-response', (_, response) => resolve(response.statusCode ?? null));
      });
    };
    const id = await serverLeg('leg-1');
    expect(await refused('nothing')).toBe(404);
    const first = new MediaClient(account, id);
    await first.until(() => first.texts.length > 0);
    expect(await refused(id)).toBe(409);
    first.socket.close();
    await session.event('ChannelDestroyed', 'leg-1');
    expect(await refused(id)).toBe(404);
  });

  it('gives up after 31 s without a connection', async () => {
    await serverLeg('leg-1');
    expect(await session.event('ChannelDestroyed', 'leg-1')).toMatchObject({ cause: 19 });
    expect(session.events.map(({ type }) => type)).toEqual(['Dial', 'ChannelDestroyed']);
  });

  it('can send audio before MEDIA_START', async () => {
    asterisk.faults.audioBeforeStart = true;
    const leg = new MediaClient(account, await serverLeg('leg-1'));
    const order: string[] = [];
    leg.socket.on('message', (_, isBinary) => order.push(isBinary ? 'audio' : 'text'));
    await leg.until(() => order.length === 2);
    expect(order).toEqual(['audio', 'text']);
  });

  it('can lose beats, so that the queue never catches up', async () => {
    asterisk.faults.lostBeats = 20;
    const leg = new MediaClient(account, await serverLeg('leg-1', { transport_data: 'f(json)' }));
    await session.event('StasisStart', 'leg-1');
    leg.socket.send(Buffer.alloc(30 * 160));
    leg.socket.send('{"command":"MARK_MEDIA","correlation_id":"end"}');
    leg.socket.send('{"command":"GET_STATUS"}');
    await leg.until(() => leg.texts.some((text) => text.includes('"queue_length":30')));
    await leg.until(() => leg.texts.some((text) => text.includes('"end"')));
  });

  it('complains of what a real one would suffer from', async () => {
    const leg = new MediaClient(account, await serverLeg('leg-1', { transport_data: 'f(json)' }));
    await session.event('StasisStart', 'leg-1');
    leg.socket.send(Buffer.alloc(1_600));
    leg.socket.send(JSON.stringify({ command: 'MARK_MEDIA', correlation_id: 'x'.repeat(120) }));
    leg.socket.send(JSON.stringify({ command: 'mark_media' }));
    await until(() => asterisk.complaints.length === 3);
  });
});

describe('versions', () => {
  it.each([
    ['16.28.0', 501, 404],
    ['20.7-cert4', 501, 404],
    ['20.18.0', 200, 200],
    ['22.10.1', 200, 200],
    ['23.4.1', 200, 200],
  ])('%s answers external media over websocket with %i', async (version, status, module) => {
    await begin({ version });
    const query = { ...media, connection_type: 'server', external_host: 'INCOMING' };
    const reply = await session.ask('POST', 'channels/externalMedia', query);
    expect(reply.status).toBe(status);
    const loaded = await session.ask('GET', 'asterisk/modules/chan_websocket.so');
    expect(loaded.status).toBe(module);
  });

  it('22.6 says neither JSON nor the channel id in its first message', async () => {
    await begin({ version: '22.6.0' });
    const leg = new MediaClient(account, await serverLeg('leg-1', { transport_data: 'f(json)' }));
    await leg.until(() => leg.texts.length > 0);
    expect(leg.texts[0]).toMatch(/^MEDIA_START connection_id:\S+ channel:\S+ format:ulaw /);
  });
});

describe('AudioSocket', () => {
  it('dials, says its UUID, and passes what comes straight on', async () => {
    await begin();
    const chunks: Buffer[] = [];
    let socket: Socket | undefined;
    const server = createServer((opened) => {
      socket = opened;
      opened.on('data', (data: Buffer) => void chunks.push(data));
      opened.on('error', () => undefined); // The close tells.
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    closers.push(() => server.close());
    const { port } = server.address() as AddressInfo; // Of a TCP server.
    asterisk.placeCall({ from: '1', to: '8000', script: 'tone' });
    const callId = idOf(await session.event('StasisStart'));
    await session.ask('POST', `channels/${callId}/answer`);
    await session.ask('POST', 'channels/externalMedia', {
      app: 'app',
      format: 'slin16',
      transport: 'tcp',
      encapsulation: 'audiosocket',
      external_host: `127.0.0.1:${port}`,
      data: 'a1b2c3d4-0000-4000-8000-000000000001',
      channelId: 'leg-1',
    });
    await session.event('StasisStart', 'leg-1');
    await session.ask('POST', 'bridges', { bridgeId: 'b' });
    await session.ask('POST', 'bridges/b/addChannel', { channel: `leg-1,${callId}` });
    await until(() => Buffer.concat(chunks).length > 19 + 643);
    const bytes = Buffer.concat(chunks);
    expect(bytes.subarray(0, 19).toString('hex')).toBe('010010a1b2c3d4000040008000000000000001');
    expect(bytes.subarray(19, 22).toString('hex')).toBe('120280');
    socket?.write(Buffer.concat([Buffer.from('120500', 'hex'), Buffer.alloc(1_280, 0x11)]));
    const phone = asterisk.phone('tone');
    await until(() => phone.arrivals.length > 0);
    expect(phone.arrivals.map(({ samples }) => samples)).toEqual([320]);
    phone.press('7');
    await until(() => Buffer.concat(chunks).includes(Buffer.from('03000137', 'hex')));
    socket?.write(Buffer.from('000000', 'hex'));
    await session.event('ChannelDestroyed', 'leg-1');
  });
});

describe('RTP', () => {
  it.each([
    ['ulaw', 0, 160, 0, 1],
    ['slin16', 118, 640, 118, 0],
  ])('sends %s as type %i, and understands it back or not', async (...values) => {
    const [format, type, bytes, sentType, arrivals] = values;
    await begin();
    const socket = createSocket('udp4');
    const packets: Buffer[] = [];
    socket.on('message', (packet) => void packets.push(packet));
    await new Promise<void>((resolve) => void socket.bind(0, '127.0.0.1', resolve));
    closers.push(() => socket.close());
    asterisk.placeCall({ from: '1', to: '8000', script: 'tone' });
    const callId = idOf(await session.event('StasisStart'));
    await session.ask('POST', `channels/${callId}/answer`);
    const reply = await session.ask('POST', 'channels/externalMedia', {
      app: 'app',
      format,
      external_host: `127.0.0.1:${socket.address().port}`,
      channelId: 'leg-1',
    });
    const { channelvars } = reply.body as { channelvars: Record<string, string> }; // As recorded.
    await session.event('StasisStart', 'leg-1');
    await session.ask('POST', 'bridges', { bridgeId: 'b' });
    await session.ask('POST', 'bridges/b/addChannel', { channel: `leg-1,${callId}` });
    await until(() => packets.length > 1);
    expect((packets[0]?.readUInt8(1) ?? 0) & 0x7f).toBe(type);
    expect(packets[0]).toHaveLength(12 + bytes);
    const packet = Buffer.alloc(12 + bytes, 0x11);
    packet.set([0x80, sentType]);
    const [end] = asterisk.media.rtp;
    socket.send(packet, Number(channelvars['UNICASTRTP_LOCAL_PORT']), '127.0.0.1');
    await until(() => end?.packetsIn.length === 1);
    expect(asterisk.phone('tone').arrivals).toHaveLength(arrivals);
  });
});

describe('ARI outbound websocket', () => {
  it('dials, registers the application, takes requests, and dials again when it is closed', async () => {
    const { server, uri } = await listening();
    const opened: { socket: WebSocket; messages: Record<string, unknown>[] }[] = [];
    new WebSocketServer({ server }).on('connection', (socket) => {
      const messages: Record<string, unknown>[] = [];
      socket.on('message', (data: Buffer) => void messages.push(JSON.parse(data.toString())));
      opened.push({ socket, messages });
    });
    await begin();
    const end = asterisk.dialOut({
      uri,
      protocols: 'ari',
      apps: ['out'],
      reconnectIntervalMs: 500,
    });
    await until(() => opened[0]?.messages.length === 1);
    expect(opened[0]?.messages[0]).toMatchObject({
      type: 'ApplicationRegistered',
      application: 'out',
    });
    expect(opened[0]?.socket.protocol).toBe('ari');
    const request = { type: 'RESTRequest', request_id: 'r', transaction_id: 't', method: 'GET' };
    opened[0]?.socket.send(JSON.stringify({ ...request, uri: 'channels/none' }));
    await until(() => opened[0]?.messages.length === 2);
    expect(opened[0]?.messages[1]).toMatchObject({
      type: 'RESTResponse',
      request_id: 'r',
      transaction_id: 't',
      status_code: 404,
      reason_phrase: 'Not Found',
      message_body: '{"message":"Channel not found"}',
    });
    opened[0]?.socket.close();
    await until(() => opened.length === 2);
    end();
  });
});

describe('REST over the event socket', () => {
  beforeEach(() => begin());

  it.each([
    ['{', 'Failed to parse request message JSON', undefined],
    ['{"type":"x"}', 'Bad request', '{"message":"Unknown request type."}'],
    ['{"type":"RESTRequest"}', 'Bad request', `{"message":"Empty or missing 'uri' property."}`],
  ])('refuses %s', async (message, reason, body) => {
    session.send(message);
    const reply = await session.event('RESTResponse');
    expect(reply).toMatchObject({ status_code: 400, reason_phrase: reason, request_id: '' });
    expect(reply['message_body']).toBe(body);
  });
});

describe('machines', () => {
  beforeEach(() => begin());

  it('can be killed with every call, and comes back at the same port with none', async () => {
    const phone = asterisk.placeCall({ from: '1', to: '8000' });
    await session.event('StasisStart');
    await asterisk.crash();
    await until(() => !session.isOpen);
    expect(phone.isOver).toBe(true);
    await asterisk.start();
    const again = await AriSession.open(account, 'app');
    expect((await again.ask('GET', 'channels')).body).toEqual([]);
    again.close();
  });

  it('die of a channel that is dialled twice, unless it rings', async () => {
    for (const [endpoint, second] of [
      ['PJSIP/noanswer@loop', 409],
      ['PJSIP/early@loop', 500],
    ] as const) {
      const channelId = endpoint.includes('early') ? 'twice-2' : 'twice-1';
      await session.ask('POST', 'channels/create', { endpoint, app: 'app', channelId });
      await session.event('StasisStart', channelId);
      const path = `channels/${channelId}/dial`;
      expect((await session.ask('POST', path)).status).toBe(204);
      await until(() =>
        asterisk.stasis.sent.some(
          (each) => /RINGING|PROGRESS/.test(JSON.stringify(each)) && idOf(each) === channelId,
        ),
      );
      expect((await session.ask('POST', path)).status).toBe(second);
    }
    expect(asterisk.complaints).toEqual([expect.stringContaining('dialled twice')]);
    expect(asterisk.channels).toEqual([]);
  });

  it('can send StasisStart before it answers the request', async () => {
    asterisk.faults.eventsBeforeAnswer = true;
    const asked = session.ask('POST', 'channels', {
      endpoint: 'Local/instant@out-dest/n',
      app: 'app',
      channelId: 'call-1',
    });
    await session.event('StasisStart', 'call-1');
    expect(await asked).toMatchObject({ status: 200, body: { state: 'Down' } });
  });

  it('can leave a request without an answer, or give a set answer', async () => {
    asterisk.faults.rest = ({ path }) => (path === 'bridges' ? 'hang' : undefined);
    const hung = session.ask('GET', 'bridges').then(() => 'answered');
    const other = session.ask('GET', 'channels').then(() => 'other');
    expect(await Promise.race([hung, other])).toBe('other');
    asterisk.faults.rest = () => ({ status: 503, body: { message: 'busy' } });
    expect((await session.ask('GET', 'channels')).status).toBe(503);
    hung.catch(() => undefined); // It breaks off with the server.
  });

  it('can repeat, drop and invent events', async () => {
    asterisk.stasis.tap = (event) =>
      event.type === 'StasisStart' ? [event, event, { type: 'SomethingNew' }] : [];
    asterisk.placeCall({ from: '1', to: '8000' });
    await session.event('SomethingNew');
    const types = session.events.map(({ type }) => type);
    expect(types).toEqual(['StasisStart', 'StasisStart', 'SomethingNew']);
  });

  it('can keep the event socket open without traffic', async () => {
    asterisk.freezeEvents();
    asterisk.placeCall({ from: '1', to: '8000' });
    await until(() => asterisk.stasis.sent.length > 0);
    expect(session.events).toEqual([]);
    expect(session.isOpen).toBe(true);
  });

  it('stops making channels while a media socket is left unread', async () => {
    asterisk.placeCall({ from: '1', to: '8000', script: 'load' });
    const callId = idOf(await session.event('StasisStart'));
    await session.ask('POST', `channels/${callId}/answer`);
    const leg = new MediaClient(account, await serverLeg('leg-1', { format: 'slin16' }));
    await session.event('StasisStart', 'leg-1');
    await session.ask('POST', 'bridges', { bridgeId: 'b' });
    await session.ask('POST', 'bridges/b/addChannel', { channel: `leg-1,${callId}` });
    leg.socket.pause();
    await until(() => asterisk.media.websockets[0]?.isUnread === true);
    let isMade = false;
    const made = serverLeg('leg-2').then(() => {
      isMade = true;
    });
    for (let nth = 0; nth < 50; nth++) await new Promise((resolve) => setImmediate(resolve));
    expect(isMade).toBe(false);
    leg.socket.resume();
    await made;
  });
});
