// Browsers' media sockets before their call: the token as a subprotocol, its origin, the limits of its messages.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { mediaPathOf, WEB_MEDIA_PATH, webTokenOf } from '../../src/transport/media-token.ts';
import {
  type AuthorizeMedia,
  createMediaServer,
} from '../../src/transport/websocket/media-server.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { mediaSigner, mediaTokens } from '../fakes/media-tokens.ts';
import { quietLog } from '../fakes/quiet-log.ts';

const PAGE = 'https://shop.example.com';
const OTHER = 'https://evil.example.com';
const subject = { id: '3', workflowId: '1', organizationId: '2' };
const place = { label: 'gw1', worker: 2, untilMs: 60_000 };
const path = { runId: '3', workflowId: '1', organizationId: '2', isWeb: true } as const;

function upgrade(protocols: string, more: Record<string, string> = {}) {
  const headers = { 'sec-websocket-protocol': protocols, ...more };
  return { url: `${WEB_MEDIA_PATH}?x=1`, headers };
}

describe('the token of a browser', () => {
  const token = mediaSigner.sign(subject, place, Buffer.alloc(16));

  it('names its call in the second subprotocol, after that of the messages', () => {
    const text = webTokenOf(subject, token);
    expect(mediaPathOf(upgrade(`patchbay.v1, token.${text}`))).toEqual({ ...path, token });
    expect(mediaPathOf(upgrade(`patchbay.v1,token.${text}`, { origin: PAGE }))).toEqual({
      ...path,
      token,
      origin: PAGE,
    });
    for (const bad of [
      '',
      `token.${text}`,
      `token.${text}, patchbay.v1`,
      `patchbay.v1, ${text}`,
      `patchbay.v1, token.3.1.${token}/x`,
      `patchbay.v1, token.${text}, more`,
    ]) {
      expect(mediaPathOf(upgrade(bad)), bad).toBeUndefined();
    }
  });

  it('of a page is good for sockets of that page alone, in every gateway', () => {
    const bound = mediaSigner.sign({ ...subject, origin: PAGE }, place, Buffer.alloc(16));
    const verified = (of: string, origin?: string) =>
      mediaSigner.verified({ ...path, token: of, origin })?.label;
    expect([verified(bound, PAGE), verified(bound, OTHER), verified(bound)]).toEqual([
      'gw1',
      undefined,
      undefined,
    ]);
    expect([verified(token, OTHER), verified(token)]).toEqual(['gw1', 'gw1']);
  });

  it('of a page stays good when another page tries it', () => {
    const tokens = mediaTokens({ clock: new FakeClock() });
    const issued = tokens.issue({ ...subject, origin: PAGE }, 30_000);
    expect(tokens.redeem({ ...path, token: issued, origin: OTHER })).toBeUndefined();
    expect(tokens.redeem({ ...path, token: issued })).toBeUndefined();
    expect(tokens.redeem({ ...path, token: issued, origin: PAGE })).toEqual({ kind: 'issued' });
    expect(tokens.redeem({ ...path, token: issued, origin: PAGE })?.kind).not.toBe('issued');
  });
});

describe('a media socket of a browser', () => {
  let server: Server | undefined;
  const clock = new FakeClock();

  afterEach(() => {
    server?.close();
    server?.closeAllConnections();
  });

  async function opened(
    origin?: string,
  ): Promise<{ socket: WebSocket; closed: Promise<unknown[]> }> {
    const accept = () => ({
      onText: () => undefined,
      onBinary: () => undefined,
      onClose: () => undefined,
    });
    const authorize: AuthorizeMedia = async () => ({ accept });
    const media = createMediaServer({ clock, log: quietLog().log, authorize, origins: [PAGE] });
    server = createServer();
    server.on('upgrade', (request, socket, head) => {
      media.handleUpgrade(request, socket, head);
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo; // A TCP server has an address of this kind.
    const protocols = ['patchbay.v1', `token.${webTokenOf(subject, 'x'.repeat(64))}`];
    const own = origin === 'own' ? `http://127.0.0.1:${port}` : origin;
    const options = own === undefined ? {} : { origin: own };
    const socket = new WebSocket(`ws://127.0.0.1:${port}${WEB_MEDIA_PATH}`, protocols, options);
    const closed = new Promise<unknown[]>((resolve) => {
      socket.once('close', (code, reason) => resolve([code, reason.toString()]));
    });
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return { socket, closed };
  }

  it('is one of a known page, of the gateway’s own or of no page; the token is not repeated', async () => {
    for (const origin of [PAGE, 'own', undefined]) {
      const { socket } = await opened(origin);
      expect(socket.protocol).toBe('patchbay.v1');
      socket.terminate();
    }
    await expect(opened(OTHER)).rejects.toThrow('403');
  });

  it('is closed with 4408 after ten seconds without a message', async () => {
    const { socket, closed } = await opened();
    for (let s = 0; s < 3; s += 1) {
      socket.send('{}');
      socket.ping();
      await new Promise((resolve) => socket.once('pong', resolve));
      clock.advance(9_000);
    }
    expect(socket.readyState).toBe(WebSocket.OPEN);
    clock.advance(1_000);
    expect(await closed).toEqual([4408, 'MEDIA_SILENT']);
  });

  it('takes 4 kB in a message, and no more', async () => {
    const { socket, closed } = await opened();
    socket.send(Buffer.alloc(4_097));
    expect(await closed).toEqual([1009, 'MEDIA_OVERSIZED']);
  });

  it('takes 120 messages in a second, and no more', async () => {
    const { socket, closed } = await opened();
    for (let i = 0; i < 120; i += 1) socket.send('{}');
    socket.ping();
    await new Promise((resolve) => socket.once('pong', resolve));
    expect(socket.readyState).toBe(WebSocket.OPEN);
    socket.send('{}');
    expect(await closed).toEqual([1008, 'MEDIA_FLOOD']);
  });
});
