// The self-test of sockets on this Node, and with each feature broken as another Node might break it: media
// still pass, on real connections.

import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcp } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { runtimeFallback } from '../../src/metrics/metrics.ts';
import type { SocketKernel } from '../../src/runtime/direct-socket.ts';
import { trustSharedReads } from '../../src/runtime/shared-reads.ts';
import { selfTestSockets } from '../../src/runtime/socket-self-test.ts';
import { systemClock as clock } from '../../src/std/clock.ts';
import type { MediaSocket } from '../../src/transport/media-socket.ts';
import { createMediaServer } from '../../src/transport/websocket/media-server.ts';
import { quietLog } from '../fakes/quiet-log.ts';

const restored: (() => void)[] = [];
afterEach(() => {
  for (const restore of restored.splice(0)) restore();
  trustSharedReads(true);
});

async function selfTest(kernel: SocketKernel | undefined) {
  const { log, lines } = quietLog();
  const usable = await selfTestSockets({ clock, log, kernel });
  const { values } = await runtimeFallback.get();
  const fallbacks = values.filter(({ value }) => value === 1).map(({ labels }) => labels.feature);
  const warnings = lines().map(({ code, feature, fault }) => ({ code, feature, fault }));
  return { usable, fallbacks, warnings };
}

/** Sends 50 messages of a call's audio each way over a media server, and gives what came. */
async function callMedia(kernel: SocketKernel | undefined) {
  const server: string[] = [];
  let socket: MediaSocket | undefined;
  const media = createMediaServer({
    clock,
    log: quietLog().log,
    kernel,
    authorize: () => Promise.resolve({ accept }),
  });
  const http = createServer().on('upgrade', (request, own, head) => {
    media.handleUpgrade(request, own, head);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  restored.push(() => http.close());
  const { port } = http.address() as AddressInfo;
  const peer = new WebSocket(`ws://127.0.0.1:${port}/api/v1/telephony/ws/1/2/3/token`);
  restored.push(() => peer.terminate());
  const client: string[] = [];
  peer.on('message', (data) => client.push(String(data)));
  await new Promise((resolve) => peer.once('open', resolve));
  for (const message of messages) peer.send(message);
  await expect.poll(() => server.length).toBe(messages.length);
  for (const message of messages) socket?.sendAscii?.(Buffer.from(message));
  await expect.poll(() => client.length).toBe(messages.length);
  return { server, client, isBatched: socket?.reads !== undefined };

  function accept(own: MediaSocket) {
    socket = own;
    return {
      onText: (message: string) => void server.push(message),
      onBinary: () => undefined,
      onClose: () => undefined,
    };
  }
}

const messages = Array.from({ length: 50 }, (_, nth) =>
  JSON.stringify({ event: 'media', media: { payload: String(nth).padStart(216, 'A') } }),
);
const onPlainSockets = { server: messages, client: messages, isBatched: false };

/** Takes `work` in the place of what Node does to have a connection read into a given buffer. */
async function breakUserBuffer(work: (this: object, buffer: Buffer) => void): Promise<void> {
  const tcp = createTcp().listen(0);
  const server: object = Reflect.get(tcp, '_handle');
  tcp.close();
  let owner: object = server;
  while (!Object.hasOwn(owner, 'useUserBuffer')) owner = Object.getPrototypeOf(owner);
  const original: unknown = Reflect.get(owner, 'useUserBuffer');
  Reflect.set(owner, 'useUserBuffer', work);
  restored.push(() => Reflect.set(owner, 'useUserBuffer', original));
}

const kernelWith = (broken: Partial<SocketKernel>): SocketKernel => ({
  received: Buffer.alloc(70_000),
  outgoing: Buffer.alloc(70_000),
  receive: () => -1,
  send: () => -1, // Node sends it.
  ...broken,
});

describe('the self-test of sockets', () => {
  it('passes on this Node, and logs nothing', async () => {
    expect(await selfTest(undefined)).toEqual({ usable: undefined, fallbacks: [], warnings: [] });
  });

  it('reads media by their stream if the shared buffer stays empty, with one warning', async () => {
    await breakUserBuffer(() => undefined);
    const { fallbacks, warnings } = await selfTest(undefined);
    expect(fallbacks).toEqual(['shared-reads']);
    expect(warnings).toEqual([
      {
        code: 'RUNTIME_FALLBACK',
        feature: 'shared-reads',
        fault: 'received bytes differ from those sent',
      },
    ]);
    expect(await callMedia(undefined)).toEqual(onPlainSockets);
  });

  it('reads media by their stream if Node cannot take a connection over', async () => {
    await breakUserBuffer(() => {
      throw new Error('no such thing');
    });
    const { fallbacks, usable } = await selfTest(kernelWith({}));
    expect(fallbacks).toEqual(['shared-reads', 'direct-sockets']);
    expect(await callMedia(usable)).toEqual(onPlainSockets);
  });

  it.each([
    ['takes bytes and sends none', { send: (_, bytes) => bytes }, 'no bytes written within 50 ms'],
    ['reads nothing', {}, 'no bytes read at a turn within 50 ms'],
    [
      'reads other bytes',
      { receive: () => 20_000 },
      'bytes of a batched read differ from those sent',
    ],
  ] as [string, Partial<SocketKernel>, string][])(
    'leaves media to Node if compiled code %s',
    async (_, broken, fault) => {
      const { usable, fallbacks, warnings } = await selfTest(kernelWith(broken));
      expect(warnings).toEqual([{ code: 'RUNTIME_FALLBACK', feature: 'direct-sockets', fault }]);
      expect([usable, fallbacks]).toEqual([undefined, ['direct-sockets']]);
      expect(await callMedia(usable)).toEqual(onPlainSockets);
    },
  );
});
