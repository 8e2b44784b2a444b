// How the connection of a service ends: by the service, which may leave a half of it open, and with the last words of a
// call, where a fault counts as at any other time.

import type { Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createEgress } from '../../../src/egress/egress-rule.ts';
import type { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import {
  VendorSocket,
  type VendorSocketOptions,
} from '../../../src/speech/service/vendor-socket.ts';
import { WarmConnections } from '../../../src/speech/service/warm-connections.ts';
import { makeAuthority, makeCertificate } from '../../fakes/certificates.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import {
  type SocketServiceOptions,
  startSocketService,
} from '../../fakes/services/service-socket.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function connected(
  options: SocketServiceOptions = {},
  more: Partial<VendorSocketOptions> = {},
) {
  const acme = await startSocketService(options);
  const clock = new FakeClock();
  const faults: ServiceFault[] = [];
  const texts: string[] = [];
  const socket = new VendorSocket({
    job: 'stt',
    service: 'acme',
    url: acme.url,
    secrets: [],
    clock,
    egress: createEgress(),
    listener: {
      onText: (text) => texts.push(text),
      onFault: (fault) => faults.push(fault),
    },
    ...more,
  });
  opened.push(acme, socket);
  await vi.waitFor(() => expect(socket.isReady).toBe(true));
  const far = await acme.connected();
  return { acme, clock, socket, far, faults, texts };
}

/** Its close message, and nothing more: what it is sent it does not read. */
function closesHalf({ far }: Awaited<ReturnType<typeof connected>>, code: number): void {
  far.request.socket.pause();
  far.request.socket.write(Buffer.from([0x88, 2, code >> 8, code & 255]));
}

describe('a connection of which the service closes its half', () => {
  it.each([
    [4429, 'rate'],
    [1000, 'network'],
  ] as const)('is over at once, for the reason of its close code %i', async (code, kind) => {
    const at = await connected();
    at.far.socket.send('the last words');
    closesHalf(at, code);
    await vi.waitFor(() => expect(at.faults).toMatchObject([{ kind, facts: { status: code } }]));
    expect([at.texts, at.socket.isReady]).toEqual([['the last words'], false]);
    at.far.request.socket.resume();
    await vi.waitFor(async () => expect(await at.acme.open()).toBe(0));
    expect(at.clock.timers).toBe(0);
  });

  it('is over at once behind TLS too', async () => {
    const authority = makeAuthority('Test Authority');
    const tls = makeCertificate({ names: ['localhost', '127.0.0.1'], authority });
    const [clock, egress] = [new FakeClock(), createEgress()];
    const warm = new WarmConnections({ clock, egress, authorities: authority.cert });
    const at = await connected({ tls }, { warm });
    closesHalf(at, 4429);
    await vi.waitFor(() => expect(at.faults).toMatchObject([{ kind: 'rate' }]));
  });

  it('is over at once where it ends its side while it reads nothing', async () => {
    const warm = new WarmConnections({ clock: new FakeClock(), egress: createEgress() });
    const connect = vi.spyOn(warm, 'connect');
    const at = await connected({}, { warm });
    const [connection] = connect.mock.results.map(({ value }) => value as Socket);
    at.far.request.socket.pause();
    // As much as the system takes, and a little more.
    while ((connection?.writableLength ?? 0) === 0) {
      at.socket.send(new Uint8Array(100_000));
      await settle();
    }
    at.far.socket.send('the last words');
    at.far.request.socket.end();
    await vi.waitFor(() => expect(at.faults).toMatchObject([{ kind: 'network' }]));
    expect(at.texts).toEqual(['the last words']);
  });
});

describe('a session that ends with its call', () => {
  it('is over once the service has closed its half, without a fault', async () => {
    const at = await connected();
    const finished = at.socket.finish('bye', () => false);
    await vi.waitFor(() => expect(at.far.texts).toEqual(['bye']));
    at.far.socket.send('the last words');
    closesHalf(at, 1000);
    await finished;
    expect([at.texts, at.faults, at.clock.timers]).toEqual([['the last words'], [], 0]);
  });

  it.each([
    [4401, 'auth'],
    [1011, 'network'],
    [3005, 'session'],
  ] as const)('has a fault where the service closes with %i', async (code, kind) => {
    const kindOfClose = (each: number) => (each === 3005 ? ('session' as const) : undefined);
    const at = await connected({}, { kindOfClose });
    const finished = at.socket.finish('bye', () => false);
    at.far.socket.close(code, 'why');
    await finished;
    expect(at.faults).toMatchObject([{ kind, detail: 'why' }]);
    at.socket.close();
    expect([at.faults.length, at.clock.timers]).toEqual([1, 0]);
  });

  it.each([
    [1000, 'the usual one'],
    [1001, 'that of a server that stops'],
    [1005, 'none'],
  ])('has no fault with close code %i, %s', async (code) => {
    const at = await connected({}, { kindOfClose: () => 'overload' });
    const finished = at.socket.finish('bye', () => false);
    if (code === 1005) at.far.socket.close();
    else at.far.socket.close(code);
    await finished;
    expect(at.faults).toEqual([]);
  });

  it('has a fault where the connection breaks before anything has come, and none behind the last words', async () => {
    const at = await connected();
    const finished = at.socket.finish('bye', () => false);
    at.far.socket.terminate();
    await finished;
    expect(at.faults).toMatchObject([{ kind: 'network' }]);
    const other = await connected();
    const last = other.socket.finish('bye', () => false);
    other.far.socket.send('the last words');
    await vi.waitFor(() => expect(other.texts).toHaveLength(1));
    other.far.socket.terminate();
    await last;
    expect(other.faults).toEqual([]);
  });

  it('has the fault that its client finds in the last message', async () => {
    const at = await connected(
      {},
      {
        listener: {
          onText: () => at.socket.fail('quota', 'used up'),
          onFault: (fault) => void at.faults.push(fault),
        },
      },
    );
    const finished = at.socket.finish('bye', () => true);
    at.far.socket.send('{"error":"used up"}');
    await finished;
    expect(at.faults).toMatchObject([{ kind: 'quota', detail: 'used up' }]);
  });

  it('has no fault where nothing comes in two seconds', async () => {
    const at = await connected();
    const finished = at.socket.finish('bye', () => false);
    at.clock.advance(2_000);
    await finished;
    expect(at.faults).toEqual([]);
  });

  it('is over at once where its owner closes it, and its last message is sent once', async () => {
    const at = await connected();
    const finished = at.socket.finish('bye', () => false);
    at.socket.send('audio');
    at.socket.close('bye');
    await finished;
    await vi.waitFor(() => expect(at.far.socket.readyState).toBe(3));
    expect([at.far.texts, at.faults, at.clock.timers]).toEqual([['bye'], [], 0]);
  });
});
