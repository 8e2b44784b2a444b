// Real websockets on loopback; only time is pretended.

import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { mediaFaults, mediaSockets } from '../../../src/metrics/metrics.ts';
import { clientBehind } from '../../../src/std/client-address.ts';
import { CLOSE, type MediaSocket } from '../../../src/transport/media-socket.ts';
import { UnadmittedSockets } from '../../../src/transport/unadmitted-sockets.ts';
import type { MediaLimits } from '../../../src/transport/websocket/media-connection.ts';
import {
  type AuthorizeMedia,
  createMediaServer,
  type MediaEndpoint,
} from '../../../src/transport/websocket/media-server.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import { mediaTokens } from '../../fakes/media-tokens.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

const PATH = '/api/v1/telephony/ws/1/2/3/token';
type Seen = ['text', string] | ['binary', string] | ['close', number, string];

/** A call that writes down what its socket brings. */
class Call {
  readonly seen: Seen[] = [];
  socket: MediaSocket | undefined;
  onText: (message: string) => void = () => undefined;
  #changed: (() => void)[] = [];

  accept(socket: MediaSocket) {
    this.socket = socket;
    return {
      onText: (message: string) => {
        this.#see(['text', message]);
        this.onText(message);
      },
      onBinary: (message: Uint8Array) =>
        this.#see(['binary', Buffer.from(message).toString('hex')]),
      onClose: (code: number, reason: string) => this.#see(['close', code, reason]),
    };
  }

  /** Settles when at least `count` things have been seen. */
  async until(count: number): Promise<void> {
    while (this.seen.length < count) {
      await new Promise<void>((resolve) => this.#changed.push(resolve));
    }
  }

  #see(what: Seen): void {
    this.seen.push(what);
    for (const wake of this.#changed.splice(0)) wake();
  }
}

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function gateway(authorize: AuthorizeMedia, limits: Partial<MediaLimits> = {}) {
  const clock = new FakeClock();
  const quiet = quietLog();
  const media = createMediaServer({ log: quiet.log, clock, limits, authorize });
  const http: Server = createServer();
  http.on('upgrade', (request, socket, head) => {
    if (!media.handleUpgrade(request, socket, head)) socket.end('HTTP/1.1 404 Not Found\r\n\r\n');
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  cleanups.push(
    () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  );
  const { port } = http.address() as AddressInfo; // A TCP server has an address of this kind.
  return {
    clock,
    media,
    http,
    lines: quiet.lines,
    url: (path: string) => `ws://127.0.0.1:${port}${path}`,
  };
}

const admitTo =
  (call: Call): AuthorizeMedia =>
  () =>
    Promise.resolve(call);

function connect(url: string, options: ClientOptions = {}) {
  const client = new WebSocket(url, options);
  cleanups.push(() => client.terminate());
  const opened = new Promise<void>((resolve, reject) => {
    client.once('open', resolve);
    client.once('error', reject);
  });
  opened.catch(() => undefined); // Whoever awaits it sees the failure.
  client.on('error', () => undefined);
  const closed = new Promise<[number, string]>((resolve) => {
    client.once('close', (code, reason) => resolve([code, reason.toString()]));
  });
  return { client, opened, closed };
}

async function pair(limits: Partial<MediaLimits> = {}, options: ClientOptions = {}) {
  const call = new Call();
  const server = await gateway(admitTo(call), limits);
  const peer = connect(server.url(PATH), options);
  await peer.opened;
  await settle();
  return { ...server, ...peer, call };
}

async function faults(code: string): Promise<number> {
  const { values } = await mediaFaults.get();
  return values.find(({ labels }) => labels.code === code)?.value ?? 0;
}

describe('a media socket', () => {
  it('carries messages both ways, in order', async () => {
    const { client, call } = await pair();
    client.send('a');
    client.send(Buffer.from([1, 2]));
    client.send('b');
    await call.until(3);
    expect(call.seen).toEqual([
      ['text', 'a'],
      ['binary', '0102'],
      ['text', 'b'],
    ]);
    const back: string[] = [];
    const two = new Promise<void>((resolve) => {
      client.on('message', (data: Buffer, isBinary) => {
        back.push(isBinary ? data.toString('hex') : data.toString());
        if (back.length === 2) resolve();
      });
    });
    call.socket?.sendText('c');
    call.socket?.sendBinary(Uint8Array.of(3));
    await two;
    expect(back).toEqual(['c', '03']);
  });

  it('is asked for by its path; a query is ignored', async () => {
    const asked: unknown[] = [];
    const server = await gateway((path, headers, url) => {
      asked.push([path, headers['x-twilio-signature'], url]);
      return Promise.resolve({ refuse: CLOSE.unauthorized, reason: 'no' });
    });
    const peer = connect(server.url(`${PATH}?token=other`), {
      headers: { ['X-Twilio-Signature']: 'sig' },
    });
    expect(await peer.closed).toEqual([4401, 'no']);
    expect(asked).toEqual([
      [
        { workflowId: '1', organizationId: '2', runId: '3', token: 'token' },
        'sig',
        `${PATH}?token=other`,
      ],
    ]);
  });

  it('leaves other paths to others', async () => {
    const server = await gateway(admitTo(new Call()));
    for (const path of ['/', '/api/v1/agent-stream/x', '/api/v1/telephony']) {
      await expect(connect(server.url(path)).opened).rejects.toThrow('404');
    }
    expect(server.media.open).toBe(0);
  });

  it.each(['/api/v1/telephony/ws/', '/api/v1/telephony/ws/1/2', `${PATH}/more`, `${PATH}%00`])(
    'is closed with 4400 for the path %s',
    async (path) => {
      const server = await gateway(() => Promise.reject(new Error('must not be asked')));
      expect((await connect(server.url(path)).closed)[0]).toBe(CLOSE.badRequest);
    },
  );

  it.each([CLOSE.badRequest, CLOSE.unauthorized, CLOSE.notFound, CLOSE.conflict])(
    'is accepted, then refused with %i',
    async (refuse) => {
      const server = await gateway(() => Promise.resolve({ refuse, reason: 'because' }));
      const peer = connect(server.url(PATH));
      await peer.opened;
      expect(await peer.closed).toEqual([refuse, 'because']);
    },
  );

  it('notifies its listener once that the peer has closed', async () => {
    const { client, call, media, clock } = await pair();
    client.close(1000, 'bye');
    await call.until(1);
    call.socket?.close(1000, 'late');
    call.socket?.sendText('late');
    await settle();
    expect(call.seen).toEqual([['close', 1000, 'bye']]);
    expect(call.socket?.open).toBe(false);
    expect([media.open, clock.timers]).toEqual([0, 0]);
  });

  it('notifies its listener with 1006 when the connection breaks', async () => {
    const { client, call } = await pair();
    client.terminate();
    await call.until(1);
    expect(call.seen).toEqual([['close', 1006, '']]);
  });

  it('is torn down if the peer does not answer a close', async () => {
    const { client, call, clock } = await pair();
    client.pause(); // Reads nothing, so it never answers.
    call.socket?.close(1000, 'done');
    await settle();
    expect(call.seen).toEqual([]);
    clock.advance(2_000);
    await call.until(1);
    expect(call.seen).toEqual([['close', 1000, 'done']]);
  });

  it('is closed when the server closes, with nothing left behind', async () => {
    const { call, closed, media, clock, url } = await pair();
    const done = media.close(CLOSE.goingAway);
    expect(await closed).toEqual([1001, 'gateway is closing']);
    await done;
    expect(call.seen).toEqual([['close', 1001, 'gateway is closing']]);
    expect(clock.timers).toBe(0);
    await expect(connect(url(PATH)).opened).rejects.toThrow('503');
  });

  it('is refused beyond the most sockets', async () => {
    const { url } = await pair({ socketsMax: 1 });
    await expect(connect(url(PATH)).opened).rejects.toThrow('503');
  });
});

describe('messages before the decision', () => {
  it('are kept and delivered first', async () => {
    const call = new Call();
    let decide: (() => void) | undefined;
    const server = await gateway(
      () =>
        new Promise((resolve) => {
          decide = () => resolve(call);
        }),
    );
    const peer = connect(server.url(PATH));
    await peer.opened;
    peer.client.send('connected');
    peer.client.send(Buffer.from([7]));
    const pong = new Promise((resolve) => peer.client.once('pong', resolve));
    peer.client.ping();
    await pong; // What was sent before it has arrived.
    decide?.();
    peer.client.send('later');
    await call.until(3);
    expect(call.seen).toEqual([
      ['text', 'connected'],
      ['binary', '07'],
      ['text', 'later'],
    ]);
  });

  it('are bounded', async () => {
    const server = await gateway(() => new Promise(() => undefined), { earlyMessagesMax: 3 });
    const before = await faults('MEDIA_FLOOD');
    const peer = connect(server.url(PATH));
    await peer.opened;
    for (let i = 0; i < 5; i++) peer.client.send('x');
    expect(await peer.closed).toEqual([CLOSE.policy, 'MEDIA_FLOOD']);
    expect(await faults('MEDIA_FLOOD')).toBe(before + 1);
  });

  it('do not wait for ever, nor pass for a flood before that', async () => {
    const server = await gateway(() => new Promise(() => undefined));
    const peer = connect(server.url(PATH));
    await peer.opened;
    for (let ms = 0; ms < 5_000; ms += 20) peer.client.send('x');
    await settle();
    server.clock.advance(5_000);
    expect((await peer.closed)[0]).toBe(CLOSE.internal);
  });

  it('end in 1011 if the decision fails, without a reason for the peer', async () => {
    const server = await gateway(() => Promise.reject(new Error('database secret')));
    expect(await connect(server.url(PATH)).closed).toEqual([CLOSE.internal, 'internal error']);
    expect(server.lines().some(({ msg }) => msg === 'media admission failed')).toBe(true);
  });

  it('are followed by the end if the peer left while we decided', async () => {
    const call = new Call();
    let decide: (() => void) | undefined;
    const server = await gateway(
      () =>
        new Promise((resolve) => {
          decide = () => resolve(call);
        }),
    );
    const peer = connect(server.url(PATH));
    await peer.opened;
    peer.client.send('connected');
    peer.client.close(1000);
    await peer.closed;
    await settle();
    decide?.();
    await call.until(1);
    expect(call.seen).toEqual([['close', 1000, '']]);
  });
});

describe('a media token in the path', () => {
  it('admits once; a wrong, used or expired one is closed with 4401', async () => {
    const clock = new FakeClock();
    const tokens = mediaTokens({ clock });
    const call = new Call();
    const server = await gateway((path) =>
      Promise.resolve(
        tokens.redeem(path)?.kind === 'issued'
          ? call
          : { refuse: CLOSE.unauthorized, reason: 'MEDIA_UNAUTHORIZED' },
      ),
    );
    const at = (token: string) => connect(server.url(`/api/v1/telephony/ws/1/2/3/${token}`));
    const token = tokens.issue({ id: '3', workflowId: '1', organizationId: '2' }, 60_000);
    expect((await at('wrong').closed)[0]).toBe(4401);
    const first = at(token);
    await first.opened;
    first.client.send('hello');
    await call.until(1);
    expect((await at(token).closed)[0]).toBe(4401);
    const late = tokens.issue({ id: '3', workflowId: '1', organizationId: '2' }, 60_000);
    clock.advance(60_001);
    expect((await at(late).closed)[0]).toBe(4401);
    expect((await connect(server.url('/api/v1/telephony/ws/1/2/3')).closed)[0]).toBe(4401);
  });
});

describe('the limits of a media socket', () => {
  it('closes 1009 on an oversized message', async () => {
    const before = await faults('MEDIA_OVERSIZED');
    const { client, closed, call } = await pair();
    client.send('x'.repeat(64 * 1024 + 1));
    expect((await closed)[0]).toBe(CLOSE.tooBig);
    await call.until(1);
    expect(call.seen).toEqual([['close', CLOSE.tooBig, 'MEDIA_OVERSIZED']]);
    expect(await faults('MEDIA_OVERSIZED')).toBe(before + 1);
  });

  it('takes the largest message', async () => {
    const { client, call } = await pair();
    client.send('x'.repeat(64 * 1024));
    await call.until(1);
    expect(call.seen[0]?.[0]).toBe('text');
  });

  it('closes on more messages in a second than real time allows', async () => {
    const { client, closed, call } = await pair({ messagesPerSecondMax: 20 });
    for (let i = 0; i < 40; i++) client.send('x');
    expect(await closed).toEqual([CLOSE.policy, 'MEDIA_FLOOD']);
    const taken = call.seen.filter(([kind]) => kind === 'text').length;
    expect(taken).toBeGreaterThanOrEqual(20);
    expect(taken).toBeLessThan(40);
  });

  it('closes on a flood of pings, of pongs or of bytes', async () => {
    const pings = await pair({ messagesPerSecondMax: 20 });
    for (let i = 0; i < 40; i++) pings.client.ping();
    expect(await pings.closed).toEqual([CLOSE.policy, 'MEDIA_FLOOD']);
    const pongs = await pair({ messagesPerSecondMax: 20 });
    for (let i = 0; i < 40; i++) pongs.client.pong();
    expect(await pongs.closed).toEqual([CLOSE.policy, 'MEDIA_FLOOD']);
    const bytes = await pair({ bytesPerSecondMax: 100_000 });
    for (let i = 0; i < 3; i++) bytes.client.send('x'.repeat(50_000));
    expect(await bytes.closed).toEqual([CLOSE.policy, 'MEDIA_FLOOD']);
  });

  it('allows real time for as long as it takes', async () => {
    const { client, call, clock } = await pair({ messagesPerSecondMax: 20 });
    for (let second = 1; second <= 5; second++) {
      for (let i = 0; i < 20; i++) client.send('x');
      await call.until(second * 20);
      clock.advance(1_000);
    }
    expect(call.socket?.open).toBe(true);
  });

  it('closes when the peer takes no audio', async () => {
    const before = await faults('MEDIA_STALLED');
    const { client, call, clock } = await pair();
    client.pause();
    const message = 'x'.repeat(60_000);
    let sent = 0;
    while (call.socket?.open && sent < 1_000) {
      call.socket.sendText(message);
      sent += 1;
      if (sent % 20 === 0) await settle();
    }
    expect(call.socket?.open).toBe(false);
    expect(await faults('MEDIA_STALLED')).toBe(before + 1);
    clock.advance(2_000);
    await call.until(1);
    expect(call.seen).toEqual([['close', CLOSE.policy, 'MEDIA_STALLED']]);
  });

  it('closes when nothing comes after the upgrade', async () => {
    const { closed, clock } = await pair();
    clock.advance(9_999);
    await settle();
    clock.advance(1);
    expect(await closed).toEqual([CLOSE.policy, 'MEDIA_SILENT']);
  });

  it('drops a peer that does not answer a ping', async () => {
    const { client, call, clock } = await pair({}, { autoPong: false });
    client.send('start');
    await call.until(1);
    clock.advance(15_000);
    await settle();
    clock.advance(10_000);
    await call.until(2);
    expect(call.seen.at(-1)).toEqual(['close', 1006, '']);
  });

  it('keeps a peer that answers pings, however quiet', async () => {
    const { client, call, clock } = await pair();
    client.send('start');
    await call.until(1);
    for (let i = 0; i < 5; i++) {
      const pinged = new Promise((resolve) => client.once('ping', resolve));
      clock.advance(15_000 - (i === 0 ? 0 : 10_000));
      await pinged;
      await settle();
      await settle();
      clock.advance(10_000);
      await settle();
    }
    expect(call.socket?.open).toBe(true);
    expect(call.seen.length).toBe(1);
  });

  it("closes with the fault's name on a message that the protocol cannot take", async () => {
    const { client, call, closed } = await pair();
    call.onText = () => {
      throw new GatewayError('MEDIA_MALFORMED', { provider: 'twilio' });
    };
    client.send('nonsense');
    expect(await closed).toEqual([CLOSE.policy, 'MEDIA_MALFORMED']);
  });

  it('closes 1011 when the listener itself fails, and says nothing more', async () => {
    const { client, call, closed, lines } = await pair();
    call.onText = () => {
      throw new TypeError('x of undefined');
    };
    client.send('hello');
    expect(await closed).toEqual([CLOSE.internal, 'internal error']);
    expect(lines().some(({ msg }) => msg === 'media listener failed')).toBe(true);
  });

  it('closes on bytes that are no websocket', async () => {
    const before = await faults('MEDIA_MALFORMED');
    const call = new Call();
    const server = await gateway(admitTo(call));
    const { hostname, port } = new URL(server.url(PATH));
    const raw = connectTcp(Number(port), hostname);
    raw.on('error', () => undefined);
    raw.write(
      `GET ${PATH} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    );
    await new Promise((resolve) => raw.once('data', resolve));
    raw.write(Buffer.from('ffffffffffff', 'hex'));
    while ((await faults('MEDIA_MALFORMED')) === before) await settle();
    server.clock.advance(2_000);
    await call.until(1);
    expect(call.seen).toEqual([['close', CLOSE.protocol, 'MEDIA_MALFORMED']]);
    expect(await faults('MEDIA_MALFORMED')).toBe(before + 1);
  });
});

describe('two thousand media sockets', () => {
  it('come and go without a trace', async () => {
    const calls: Call[] = [];
    const server = await gateway(({ runId }) => {
      if (Number(runId) % 10 === 0) {
        return Promise.resolve({ refuse: CLOSE.notFound, reason: 'no run' });
      }
      const call = new Call();
      calls.push(call);
      return Promise.resolve(call);
    });
    const gauge = async () => (await mediaSockets.get()).values[0]?.value;
    const before = await gauge();
    for (let batch = 0; batch < 20; batch++) {
      const peers = Array.from({ length: 100 }, (_, i) =>
        connect(server.url(`/api/v1/telephony/ws/1/2/${batch * 100 + i}/t`)),
      );
      await Promise.all(peers.map(({ opened }) => opened));
      for (const [i, { client }] of peers.entries()) {
        client.send('hello');
        if (i % 3 === 0) client.terminate();
        else client.close(1000);
      }
      await Promise.all(peers.map(({ closed }) => closed));
      cleanups.length = 1;
    }
    await Promise.all(calls.map((call) => call.until(1)));
    while (server.media.open > 0) await settle();
    expect(calls.length).toBe(1_800);
    expect(calls.every(({ seen }) => seen.filter(([kind]) => kind === 'close').length === 1)).toBe(
      true,
    );
    expect(server.clock.timers).toBe(0);
    expect(await gauge()).toBe(before);
  });
});

describe('sockets that are not admitted yet', () => {
  /** An endpoint whose sockets are identified by the word that they send first. */
  async function withEndpoint(applications: readonly string[] = ['app']) {
    const call = new Call();
    const clock = new FakeClock();
    const unadmitted = new UnadmittedSockets({
      limits: { socketsMax: 40, socketsOfClientMax: 30 },
    });
    const endpoint: MediaEndpoint = {
      isInUse: (application) => application !== undefined && applications.includes(application),
      accept: (socket, { admitted }) => {
        const listener = call.accept(socket);
        const onText = (message: string): void => {
          if (message === 'mine') admitted();
          listener.onText(message);
        };
        return { ...listener, onText };
      },
    };
    const media = createMediaServer({
      log: quietLog().log,
      clock,
      limits: { socketsMax: 1 },
      authorize: ({ runId }) =>
        Promise.resolve(runId === 'r' ? call : { refuse: 4401, reason: 'token' }),
      isExpected: ({ runId }) => runId === 'r',
      endpoints: new Map([['ari', endpoint]]),
      unadmitted,
      clientOf: clientBehind(['loopback']),
    });
    const http = createServer();
    http.on('upgrade', (request, socket, head) => media.handleUpgrade(request, socket, head));
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => {
      http.closeAllConnections();
      http.close();
    });
    const { port } = http.address() as AddressInfo; // Of a TCP server.
    const url = (path: string) => `ws://127.0.0.1:${port}/api/v1/telephony/ws/${path}`;
    return { call, media, unadmitted, url };
  }

  it('take no place of a call, however many there are', async () => {
    const { call, media, unadmitted, url } = await withEndpoint();
    const idle = Array.from({ length: 100 }, () => connect(url('ari/app')));
    await Promise.all(idle.map(({ opened }) => opened));
    await Promise.all(idle.slice(0, 70).map(({ closed }) => closed));
    expect(unadmitted.size).toBe(30);
    const hosted = connect(url('w/o/r/t'));
    await hosted.opened;
    hosted.client.send('hello');
    await call.until(1);
    expect(unadmitted.size).toBe(30);
    expect(media.open).toBe(31);
  });

  it('are counted by the address that a trusted proxy names', async () => {
    const { unadmitted, url } = await withEndpoint();
    const from = (client: string) =>
      connect(url('ari/app'), { headers: { 'X-Forwarded-For': client } });
    const quiet = from('192.0.2.7');
    await quiet.opened;
    const many = Array.from({ length: 60 }, () => from('192.0.2.1'));
    await Promise.all(many.map(({ opened }) => opened));
    await Promise.all(many.slice(0, 30).map(({ closed }) => closed));
    expect(unadmitted.size).toBe(31);
    expect(quiet.client.readyState).toBe(WebSocket.OPEN);
  });

  it('stop counting once it is known which call they are of', async () => {
    const { call, unadmitted, url } = await withEndpoint();
    const peer = connect(url('ari/app'));
    await peer.opened;
    expect(unadmitted.size).toBe(1);
    peer.client.send('mine');
    await call.until(1);
    expect(unadmitted.size).toBe(0);
    await expect(connect(url('w/o/r/t')).opened).rejects.toThrow('503');
  });

  it('are not upgraded at a path that no configuration has', async () => {
    const { url } = await withEndpoint([]);
    await expect(connect(url('ari/app')).opened).rejects.toThrow('404');
    await expect(connect(url('ari')).opened).rejects.toThrow('404');
  });
});
