// ARI's outbound websocket, simulated: who gets an application's events. Each of these was seen of Asterisk 22.10.1.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type WebSocket from 'ws';
import { WebSocketServer } from 'ws';
import { FakeClock } from '../fake-clock.ts';
import { freePort } from '../free-port.ts';
import { type FakeAsterisk, startAsterisk } from './fake-asterisk.ts';
import { pump } from './media/pump.ts';
import { AriSession, ask } from './scenarios/ari-session.ts';

type Message = Record<string, unknown>;

const close: (() => unknown)[] = [];
let asterisk: FakeAsterisk;
let uri: string;
let sockets: WebSocket[];
let messages: Message[];

beforeEach(async () => {
  const clock = new FakeClock();
  close.push(pump(clock));
  asterisk = await startAsterisk({ clock });
  close.push(() => asterisk.stop());
  sockets = [];
  messages = [];
  uri = await listen(0);
});

afterEach(async () => {
  for (const socket of sockets) socket.terminate();
  for (const each of close.splice(0).reverse()) await each();
});

/** Takes connections; gives their address. */
async function listen(port: number): Promise<string> {
  const server = createServer();
  const acceptor = new WebSocketServer({ server });
  acceptor.on('connection', (socket) => {
    sockets.push(socket);
    socket.on('message', (data: Buffer) => void messages.push(JSON.parse(data.toString())));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  close.push(() => acceptor.close());
  close.push(() => server.close());
  const { port: bound } = server.address() as AddressInfo; // Of a TCP server.
  return `ws://127.0.0.1:${bound}/pbx`;
}

/** Returns the end of the session. */
async function connected(): Promise<() => void> {
  const before = sockets.length;
  const end = asterisk.dialOut({ uri, protocols: 'ari', apps: ['app'], reconnectIntervalMs: 100 });
  close.push(end);
  await vi.waitFor(() => expect(sockets).toHaveLength(before + 1));
  await vi.waitFor(() => expect(messages.at(-1)).toMatchObject({ type: 'ApplicationRegistered' }));
  return end;
}

async function connectedAgain(): Promise<void> {
  const before = sockets.length;
  sockets.at(-1)?.terminate();
  await vi.waitFor(() => expect(sockets).toHaveLength(before + 1));
  await vi.waitFor(() => expect(messages.at(-1)).toMatchObject({ type: 'ApplicationRegistered' }));
}

const account = () => ({ url: asterisk.url, user: 'gw', password: 'gwsecret' });
const other = () => AriSession.open(account(), 'app');
const types = (): unknown[] => messages.map(({ type }) => type);

async function sendEvent(name: string): Promise<number> {
  const query = { application: 'app' };
  const path = `events/user/${name}`;
  return (await ask(account(), { method: 'POST', path, query })).status;
}

const has = (name: string) => messages.some(({ eventname }) => eventname === name);

describe('an outbound websocket of the simulated Asterisk', () => {
  it('gets the application back by no reconnect, once another program has taken it', async () => {
    await connected();
    const taker = await other();
    await vi.waitFor(() => expect(types()).toContain('ApplicationReplaced'));
    await connectedAgain();
    expect(await sendEvent('probe')).toBe(204);
    await taker.event('ChannelUserevent');
    expect(has('probe')).toBe(false);
    taker.close();
  });

  it('gets no answers to its requests while the application is not registered', async () => {
    await connected();
    const taker = await other();
    taker.close();
    await vi.waitFor(async () => expect(await sendEvent('probe')).toBe(404));
    const request = { type: 'RESTRequest', request_id: 'r', transaction_id: 't', method: 'GET' };
    sockets.at(-1)?.send(JSON.stringify({ ...request, uri: 'asterisk/info' }));
    await vi.waitFor(() =>
      expect(asterisk.requests.at(-1)).toMatchObject({ path: 'asterisk/info', status: 200 }),
    );
    await connectedAgain();
    expect(types()).not.toContain('RESTResponse');
  });

  it('has the application again when its session is shut down and started', async () => {
    const end = await connected();
    const taker = await other();
    await vi.waitFor(() => expect(types()).toContain('ApplicationReplaced'));
    taker.close();
    await vi.waitFor(async () => expect(await sendEvent('gone')).toBe(404));
    end();
    await connected();
    expect(await sendEvent('probe')).toBe(204);
    await vi.waitFor(() => expect(has('probe')).toBe(true));
  });

  it('loses the application when a program leaves that it has not replaced', async () => {
    const end = await connected();
    const taker = await other();
    await vi.waitFor(() => expect(types()).toContain('ApplicationReplaced'));
    end();
    await connected();
    expect(await sendEvent('probe')).toBe(204);
    await vi.waitFor(() => expect(has('probe')).toBe(true));
    taker.close();
    await vi.waitFor(async () => expect(await sendEvent('gone')).toBe(404));
  });

  it('gets the events of the time without a connection with the next one', async () => {
    const port = await freePort();
    const apps = ['app'];
    close.push(asterisk.dialOut({ uri: `ws://127.0.0.1:${port}/pbx`, protocols: 'ari', apps }));
    expect(await sendEvent('meanwhile')).toBe(204);
    await listen(port);
    await vi.waitFor(() => expect(types()).toEqual(['ApplicationRegistered', 'ChannelUserevent']));
  });
});
