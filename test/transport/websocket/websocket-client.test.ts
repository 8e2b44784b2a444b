// Media sockets that we open, against a server on loopback.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { systemClock } from '../../../src/std/clock.ts';
import type { MediaSocket } from '../../../src/transport/media-socket.ts';
import { connectMedia } from '../../../src/transport/websocket/websocket-client.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

async function server(onPeer: (ws: WebSocket) => void): Promise<string> {
  const wss = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  wss.on('connection', onPeer);
  open.push(wss);
  await new Promise((resolve) => wss.once('listening', resolve));
  return `ws://127.0.0.1:${(wss.address() as AddressInfo).port}/media/x`;
}

function dial(url: string, signal: AbortSignal) {
  const heard: string[] = [];
  let socket: MediaSocket | undefined;
  const { log } = quietLog();
  const done = connectMedia(
    { url, protocol: 'media', clock: systemClock, log },
    (own) => {
      socket = own;
      return {
        onText: (message) => heard.push(message),
        onBinary: (message) => heard.push(`${message.length} bytes`),
        onClose: (code) => heard.push(`closed ${code}`),
      };
    },
    signal,
  );
  return { done, heard, socket: () => socket };
}

const refusal = (done: Promise<void>) =>
  done.then(
    () => 'open',
    (error: unknown) => codeOf(error),
  );

describe('a media socket that we open', () => {
  it('speaks the protocol media, both ways', async () => {
    const peers: WebSocket[] = [];
    const url = await server((ws) => {
      peers.push(ws);
      ws.send('MEDIA_START');
      ws.on('message', (data) => ws.send(data as Buffer));
    });
    const { done, heard, socket } = dial(url, new AbortController().signal);
    await done;
    expect(peers[0]?.protocol).toBe('media');
    socket()?.sendBinary(new Uint8Array(160));
    await expect.poll(() => heard).toEqual(['MEDIA_START', '160 bytes']);
    socket()?.close(1000, '');
    await expect.poll(() => heard.at(-1)).toBe('closed 1000');
  });

  it('is refused, or no server listens', async () => {
    const http = createServer().on('upgrade', (_, socket) => {
      socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    });
    open.push(http);
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/media/x`;
    const { signal } = new AbortController();
    expect(await refusal(dial(url, signal).done)).toBe('PBX_MEDIA');
    http.close();
    http.closeAllConnections();
    await expect.poll(() => refusal(dial(url, signal).done)).toBe('PBX_MEDIA');
  });

  it('is given up when its time is over, also before it began', async () => {
    const hanging = createServer().on('upgrade', () => undefined);
    open.push(hanging);
    await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
    const url = `ws://127.0.0.1:${(hanging.address() as AddressInfo).port}/media/x`;
    const stop = new AbortController();
    const { done } = dial(url, stop.signal);
    stop.abort();
    expect(await refusal(done)).toBe('PBX_MEDIA');
    expect(await refusal(dial(url, stop.signal).done)).toBe('PBX_MEDIA');
  });
});
