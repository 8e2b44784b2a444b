import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createEgress } from '../../../src/egress/egress-rule.ts';
import { serviceFaults } from '../../../src/metrics/speech-metrics.ts';
import type { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import {
  VendorSocket,
  type VendorSocketOptions,
} from '../../../src/speech/service/vendor-socket.ts';
import { WarmConnections } from '../../../src/speech/service/warm-connections.ts';
import { makeAuthority, makeCertificate } from '../../fakes/certificates.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import {
  type SocketService,
  type SocketServiceOptions,
  startSocketService,
} from '../../fakes/services/service-socket.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function service(options?: SocketServiceOptions): Promise<SocketService> {
  const started = await startSocketService(options);
  opened.push(started);
  return started;
}

function open(url: string, more: Partial<VendorSocketOptions> = {}) {
  const clock = new FakeClock();
  const faults: ServiceFault[] = [];
  const texts: string[] = [];
  const socket = new VendorSocket({
    job: 'stt',
    service: 'acme',
    url,
    secrets: ['key-1234'],
    clock,
    egress: createEgress(),
    listener: {
      onText: (text) => texts.push(text),
      onFault: (fault) => faults.push(fault),
    },
    ...more,
  });
  opened.push(socket);
  return { socket, clock, faults, texts };
}

describe('a service connection', () => {
  it('sends in order what was queued before the ready message', async () => {
    const acme = await service();
    const { socket } = open(`${acme.url}/v1?token=key-1234`, {
      headers: { authorization: 'Token key-1234' },
      isReadyMessage: (text) => text.includes('begin'),
    });
    socket.send('config');
    socket.send(Uint8Array.of(1, 2));
    const { request, texts, binaries, socket: far } = await acme.connected();
    expect(request.headers['authorization']).toBe('Token key-1234');
    expect(request.headers['sec-websocket-extensions']).toBeUndefined();
    expect(texts).toEqual([]);
    far.send('{"type":"begin"}');
    await vi.waitFor(() => expect(binaries).toHaveLength(1));
    expect(texts).toEqual(['config']);
    expect(socket.isReady).toBe(true);
  });

  it.each([
    [401, 'auth', true],
    [402, 'quota', true],
    [404, 'request', true],
    [408, 'timeout', false],
    [409, 'overload', false],
    [429, 'rate', false],
    [503, 'overload', false],
  ] as const)('reports status %d of the upgrade as %s', async (status, kind, isPermanent) => {
    const body = '{"err_msg":"no key-1234 here"}';
    const acme = await service({ refuse: { status, body, headers: { 'retry-after': '7' } } });
    const { faults } = open(acme.url);
    await vi.waitFor(() => expect(faults).toHaveLength(1));
    const [fault] = faults;
    expect(fault).toMatchObject({ kind, isPermanent, retryAfterMs: 7_000, service: 'acme' });
    expect(fault?.detail).toBe('no [redacted] here');
    expect(JSON.stringify(fault?.facts) + fault?.message).not.toContain('key-1234');
  });

  it('counts each fault by job, service and kind', async () => {
    const count = async () => {
      const { values } = await serviceFaults.get();
      const counted = values.find(({ labels }) => {
        return labels.kind === 'stt' && labels.service === 'acme' && labels.fault === 'quota';
      });
      return counted?.value ?? 0;
    };
    const before = await count();
    const acme = await service({ refuse: { status: 402, body: '{}' } });
    const { faults, socket } = open(acme.url);
    await vi.waitFor(() => expect(faults).toHaveLength(1));
    socket.fail('quota', 'again');
    expect((await count()) - before).toBe(1);
  });

  it('reports a message that its client cannot read, also at its end', async () => {
    const acme = await service();
    const unreadable = () => {
      const faults: ServiceFault[] = [];
      const onText = (text: string): void => void BigInt(text);
      const listener = { onText, onFault: (fault: ServiceFault) => faults.push(fault) };
      return { ...open(acme.url, { listener }), faults };
    };
    const { faults } = unreadable();
    (await acme.connected()).socket.send('no number');
    await vi.waitFor(() => expect(faults).toHaveLength(1));
    expect(faults[0]).toMatchObject({ kind: 'protocol', detail: 'a message that cannot be read' });
    const other = unreadable();
    await vi.waitFor(() => expect(other.socket.isReady).toBe(true));
    const finished = other.socket.finish('bye', () => false);
    await vi.waitFor(() => expect(acme.connections[1]?.texts).toEqual(['bye']));
    acme.connections[1]?.socket.send('no number');
    await finished;
    expect(other.faults).toMatchObject([{ kind: 'protocol' }]);
  });

  it('ends once, and harms nothing else, where its client ends it and cannot go on', async () => {
    const acme = await service();
    const faults: ServiceFault[] = [];
    let socket: VendorSocket | undefined;
    const listener = {
      onText: (text: string) => {
        socket?.fail('overload', text);
        BigInt(text);
      },
      onFault: (fault: ServiceFault) => faults.push(fault),
    };
    ({ socket } = open(acme.url, { listener }));
    (await acme.connected()).socket.send('no number');
    await vi.waitFor(() => expect(faults).toHaveLength(1));
    expect(faults).toMatchObject([{ kind: 'overload', detail: 'no number' }]);
  });

  it('reports an address that refuses connections as a network fault', async () => {
    const acme = await service();
    await acme.close();
    const { faults } = open(acme.url);
    await vi.waitFor(() => expect(faults).toHaveLength(1));
    expect(faults[0]).toMatchObject({ kind: 'network', isRepeatable: true });
  });

  it('reports a TLS handshake that is cut off as a network fault', async () => {
    const server = createTcpServer(
      (socket) => void socket.once('data', () => socket.resetAndDestroy()),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    opened.push(server);
    const { port } = server.address() as AddressInfo;
    const { faults } = open(`wss://127.0.0.1:${port}/`);
    await vi.waitFor(() => expect(faults).toHaveLength(1));
    expect(faults[0]).toMatchObject({ kind: 'network', isRepeatable: true });
  });

  it('opens no connection to an address that the egress rule forbids', async () => {
    const acme = await service();
    const egress = createEgress({ isSignUpOpen: true, allowed: [] });
    const { faults, clock } = open(acme.url, { egress });
    expect(faults).toEqual([]);
    clock.advance(0);
    expect(faults[0]).toMatchObject({ kind: 'request' });
    expect(acme.accepted()).toBe(0);
  });

  it('ends when the ready message does not come in time', async () => {
    const acme = await service();
    const { faults, clock } = open(acme.url, { isReadyMessage: () => false, readyMsMax: 1_000 });
    await acme.connected();
    clock.advance(1_000);
    expect(faults[0]).toMatchObject({ kind: 'timeout' });
  });

  it('ends when the queue before the ready message is full', async () => {
    const acme = await service();
    const { socket, faults } = open(acme.url, { isReadyMessage: () => false });
    for (let i = 0; i < 40; i++) socket.send(new Uint8Array(16_384));
    expect(faults).toHaveLength(1);
  });

  it('detects a half-open connection by its pings', async () => {
    const acme = await service({ autoPong: false });
    const { faults, clock, socket } = open(acme.url);
    await vi.waitFor(() => expect(socket.isReady).toBe(true));
    clock.advance(18_000);
    expect(faults[0]).toMatchObject({ kind: 'network' });
  });

  it('detects a service that answers pings and nothing else', async () => {
    const acme = await service();
    const { faults, clock, socket, texts } = open(acme.url);
    await vi.waitFor(() => expect(socket.isReady).toBe(true));
    const far = (await acme.connected()).socket;
    socket.expectAnswer(2_500);
    far.send('partial');
    await vi.waitFor(() => expect(texts).toEqual(['partial']));
    clock.advance(2_500);
    expect(faults).toEqual([]);
    socket.expectAnswer(2_500);
    socket.expectAnswer(10_000);
    clock.advance(2_500);
    expect(faults[0]).toMatchObject({ kind: 'timeout' });
  });

  it('takes an address with a long query', async () => {
    const acme = await service();
    const { socket, faults } = open(`${acme.url}/v1?keyterm=${'x'.repeat(8_000)}`);
    await vi.waitFor(() => expect([socket.isReady, faults]).toEqual([true, []]));
  });

  it('hides a key that the service repeats as a part of an address', async () => {
    const key = 'k/1+2=3456';
    const acme = await service({
      refuse: { status: 400, body: `bad ?token=${encodeURIComponent(key)}` },
    });
    const { faults } = open(acme.url, { secrets: [key] });
    await vi.waitFor(() => expect(faults[0]?.detail).toBe('bad ?token=[redacted]'));
  });

  it('reports an address that is none, after its constructor has returned', () => {
    const { faults, clock } = open('nonsense', {
      warm: new WarmConnections({ clock: new FakeClock(), egress: createEgress() }),
    });
    expect(faults).toEqual([]);
    clock.advance(0);
    expect(faults).toMatchObject([{ kind: 'request' }]);
  });

  it('opens no connection for a header that cannot be sent, and reports it', async () => {
    const acme = await service();
    const warm = new WarmConnections({ clock: new FakeClock(), egress: createEgress() });
    opened.push(warm);
    const headers = { authorization: 'Token a\nb' };
    const { faults, clock } = open(acme.url, { warm, headers });
    expect(faults).toEqual([]);
    clock.advance(0);
    expect(faults).toMatchObject([{ kind: 'request', isPermanent: true }]);
    // Nothing listens to the errors of a connection without a socket: a refused one would end the process.
    const { socket } = open(acme.url, { warm });
    await vi.waitFor(() => expect(socket.isReady).toBe(true));
    expect(acme.accepted()).toBe(1);
  });

  it('sends keepalives only in pauses', async () => {
    const acme = await service();
    const { clock, socket } = open(acme.url, {
      keepalive: { afterMs: 4_000, message: '{"type":"KeepAlive"}' },
    });
    await vi.waitFor(() => expect(socket.isReady).toBe(true));
    const far = await acme.connected();
    clock.advance(3_000);
    socket.send(Uint8Array.of(1));
    clock.advance(3_999);
    await vi.waitFor(() => expect(far.binaries).toHaveLength(1));
    expect(far.texts).toEqual([]);
    clock.advance(1);
    await vi.waitFor(() => expect(far.texts).toEqual(['{"type":"KeepAlive"}']));
  });

  it.each([
    [1008, 'request'],
    [1011, 'network'],
    [1013, 'overload'],
    [4401, 'auth'],
    [4429, 'rate'],
    [3005, 'session'],
  ] as const)('reports close code %d as %s', async (code, kind) => {
    const acme = await service();
    const { faults, socket } = open(acme.url, {
      kindOfClose: (each) => (each === 3005 ? 'session' : undefined),
    });
    await vi.waitFor(() => expect(socket.isReady).toBe(true));
    (await acme.connected()).socket.close(code, 'why');
    await vi.waitFor(() => expect(faults).toHaveLength(1));
    expect(faults[0]).toMatchObject({ kind, detail: 'why' });
  });

  it('is not ready any more once the service has begun to close', async () => {
    const acme = await service();
    const { socket } = open(acme.url);
    await vi.waitFor(() => expect(socket.isReady).toBe(true));
    const far = await acme.connected();
    // It does not complete the closing handshake.
    far.socket.pause();
    far.socket.close(1001);
    await vi.waitFor(() => expect(socket.isReady).toBe(false));
    socket.close();
  });

  it('ends when the service reads nothing', async () => {
    const acme = await service();
    const { faults, socket } = open(acme.url);
    await vi.waitFor(() => expect(socket.isReady).toBe(true));
    (await acme.connected()).socket.pause();
    const packet = new Uint8Array(262_144);
    for (let i = 0; i < 100 && faults.length === 0; i++) socket.send(packet);
    expect(faults[0]).toMatchObject({ kind: 'overload' });
  });

  it('reports nothing after it was closed, and sends its last message', async () => {
    const acme = await service();
    const { faults, socket, clock, texts } = open(acme.url);
    await vi.waitFor(() => expect(socket.isReady).toBe(true));
    const far = await acme.connected();
    far.socket.send('late');
    socket.close('{"type":"CloseStream"}');
    await vi.waitFor(() => expect(far.texts).toEqual(['{"type":"CloseStream"}']));
    await vi.waitFor(() => expect(far.socket.readyState).toBe(3));
    clock.advance(60_000);
    expect(faults).toEqual([]);
    expect(texts).toEqual([]);
    expect(clock.timers).toBe(0);
  });

  it('cuts the connection of a service that does not close it within 2 s', async () => {
    // It upgrades, and answers no close.
    const sockets: Duplex[] = [];
    const deaf = createServer().on('upgrade', ({ headers }, socket: Duplex) => {
      const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accept = createHash('sha1').update(key).digest('base64');
      const head = ['HTTP/1.1 101 Switching', 'Upgrade: websocket', 'Connection: Upgrade'];
      socket.write([...head, `Sec-WebSocket-Accept: ${accept}`, '', ''].join('\r\n'));
      socket.on('end', () => socket.destroy()).on('error', () => undefined);
      sockets.push(socket.resume());
    });
    opened.push(deaf.listen(0, '127.0.0.1'));
    await once(deaf, 'listening');
    const { port } = deaf.address() as AddressInfo;
    const { socket, clock } = open(`ws://127.0.0.1:${port}`);
    await vi.waitFor(() => expect(socket.isReady).toBe(true));
    socket.close('bye');
    clock.advance(1_999);
    await settle();
    expect(sockets[0]?.destroyed).toBe(false);
    clock.advance(1);
    await vi.waitFor(() => expect(sockets[0]?.destroyed).toBe(true));
  });
});

describe('connections opened ahead', () => {
  function warmUp(clock = new FakeClock()) {
    const warm = new WarmConnections({ clock, egress: createEgress() });
    opened.push(warm);
    return { warm, clock };
  }

  /** Opens a connection ahead, and waits for both of its ends. */
  async function openedAhead(warm: WarmConnections, acme: SocketService, url = acme.url) {
    const connect = vi.spyOn(warm, 'connect');
    const before = acme.accepted();
    warm.prepare(url);
    const socket: unknown = connect.mock.results[0]?.value;
    connect.mockRestore();
    if (!(socket instanceof Socket)) throw new Error('no connection');
    await once(socket, socket instanceof TLSSocket ? 'secureConnect' : 'connect');
    await vi.waitFor(() => expect(acme.accepted()).toBe(before + 1));
  }

  it('are taken by the next socket to the same host', async () => {
    const acme = await service();
    const { warm } = warmUp();
    await openedAhead(warm, acme);
    const { socket } = open(`${acme.url}/v1`, { warm });
    await vi.waitFor(() => expect(socket.isReady).toBe(true));
    expect(acme.accepted()).toBe(1);
    expect(warm.take(acme.url)).toBeUndefined();
  });

  it('are replaced by a fresh one, without a fault, where the service has left them', async () => {
    const acme = await service();
    const { warm } = warmUp();
    await openedAhead(warm, acme);
    acme.resetNext();
    const { socket, faults } = open(acme.url, { warm });
    socket.send('first words');
    const far = await acme.connected();
    await vi.waitFor(() => expect(far.texts).toEqual(['first words']));
    expect([acme.accepted(), faults]).toEqual([2, []]);
  });

  it('are replaced after 1 s without an answer, once', async () => {
    const held: (() => void)[] = [];
    const acme = await service({ hold: () => new Promise((resolve) => held.push(resolve)) });
    const { warm } = warmUp();
    await openedAhead(warm, acme);
    const { faults, clock } = open(acme.url, { warm });
    clock.advance(999);
    expect(acme.accepted()).toBe(1);
    clock.advance(1);
    await vi.waitFor(() => expect(acme.accepted()).toBe(2));
    clock.advance(1_400);
    expect(faults).toEqual([]);
    clock.advance(100);
    expect(faults.map(({ kind }) => kind)).toEqual(['timeout']);
    expect([acme.accepted(), clock.timers]).toEqual([2, 0]);
    for (const release of held) release();
  });

  it('count as a refusal where the service refuses', async () => {
    const acme = await service({ refuse: { status: 401, body: 'no' } });
    const { warm } = warmUp();
    await openedAhead(warm, acme);
    const { faults } = open(acme.url, { warm });
    await vi.waitFor(() => expect(faults.map(({ kind }) => kind)).toEqual(['auth']));
    expect(acme.accepted()).toBe(1);
  });

  it('are closed by a header that cannot be sent', async () => {
    const acme = await service();
    const { warm } = warmUp();
    await openedAhead(warm, acme);
    const { faults, clock } = open(acme.url, { warm, headers: { authorization: 'Token “a”' } });
    clock.advance(0);
    expect(faults).toMatchObject([{ kind: 'request' }]);
    await vi.waitFor(async () => expect(await acme.open()).toBe(0));
  });

  it('are no more than 200 in a process', async () => {
    const acme = await service();
    const { warm, clock } = warmUp();
    for (let i = 0; i < 210; i++) warm.prepare(acme.url);
    expect(clock.timers).toBe(200);
    await vi.waitFor(() => expect(acme.accepted()).toBe(200));
  });

  it('close when they are not used for 30 s', async () => {
    const acme = await service();
    const { warm, clock } = warmUp();
    await openedAhead(warm, acme);
    clock.advance(30_000);
    expect(warm.take(acme.url)).toBeUndefined();
    expect(clock.timers).toBe(0);
  });

  it('stay open after they were taken', async () => {
    const acme = await service();
    const { warm, clock } = warmUp();
    await openedAhead(warm, acme);
    const { socket, faults } = open(acme.url, { warm });
    await vi.waitFor(() => expect(socket.isReady).toBe(true));
    clock.advance(60_000);
    warm.close();
    socket.send('still here');
    const far = await acme.connected();
    await vi.waitFor(() => expect(far.texts).toEqual(['still here']));
    expect(faults).toEqual([]);
  });

  it('are not opened to forbidden addresses', async () => {
    const acme = await service();
    const clock = new FakeClock();
    const egress = createEgress({ isSignUpOpen: true, allowed: [] });
    new WarmConnections({ clock, egress }).prepare(acme.url);
    expect(clock.timers).toBe(0);
    expect(acme.accepted()).toBe(0);
  });

  it('resume the TLS session of the last connection to the host, of both kinds', async () => {
    const authority = makeAuthority('Test Authority');
    const names = ['localhost'] as const;
    const acme = await service({ tls: makeCertificate({ names: [...names], authority }) });
    const url = acme.url.replace('127.0.0.1', 'localhost');
    const egress = createEgress();
    const warm = new WarmConnections({
      clock: new FakeClock(),
      egress,
      authorities: authority.cert,
    });
    opened.push(warm);
    const isResumed = async (): Promise<boolean> => {
      const { socket } = open(url, { warm });
      await vi.waitFor(() => expect(socket.isReady).toBe(true));
      const far = acme.connections.at(-1)?.request.socket;
      if (!(far instanceof TLSSocket)) throw new Error('not encrypted');
      return far.isSessionReused();
    };
    expect(await isResumed()).toBe(false);
    expect(await isResumed()).toBe(true);
    await openedAhead(warm, acme, url);
    expect([await isResumed(), acme.accepted()]).toEqual([true, 3]);
    // The certificate's authority is not trusted, whether or not others have a session.
    const { faults } = open(url, { warm: new WarmConnections({ clock: new FakeClock(), egress }) });
    await vi.waitFor(() => expect(faults[0]?.kind).toBe('network'));
    const other = open(url.replace('localhost', '127.0.0.1'), { warm });
    await vi.waitFor(() => expect(other.faults[0]?.kind).toBe('network'));
  });
});
