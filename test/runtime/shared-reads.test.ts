// Real connections on loopback: how Node works inside is what is tested.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type Duplex, PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { attachSharedReads } from '../../src/runtime/shared-reads.ts';

it('takes the connection over from an HTTP server, which drops it', async () => {
  const http = createServer();
  const upgraded = new Promise<Duplex>((resolve) => {
    http.once('upgrade', (_, socket) => resolve(socket));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const peer = connect((http.address() as AddressInfo).port, '127.0.0.1');
  peer.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  const accepted = await upgraded;
  const buffers = new Set<Buffer>();
  let heard = '';
  const { socket } = attachSharedReads(accepted, (bytes, count) => {
    buffers.add(bytes);
    heard += bytes.toString('latin1', 0, count);
  });
  expect(socket).not.toBe(accepted);
  await new Promise<void>((resolve) => http.close(() => resolve()));
  for (const word of ['one', 'two', 'three']) {
    peer.write(word);
    await expect.poll(() => heard.endsWith(word)).toBe(true);
  }
  expect(heard).toBe('onetwothree');
  expect(buffers.size).toBe(1);
  socket.write('answer');
  const [answer] = await once(peer, 'data');
  expect(String(answer)).toBe('answer');
  const ended = once(socket, 'end');
  peer.end();
  await ended;
  socket.end();
  await once(socket, 'close');
});

it('reads any other stream as it is', async () => {
  const stream = new PassThrough();
  const heard: string[] = [];
  const take = (bytes: Buffer, count: number) => heard.push(bytes.toString('latin1', 0, count));
  expect(attachSharedReads(stream, take)).toEqual({ socket: stream });
  stream.write('word');
  await expect.poll(() => heard).toEqual(['word']);
});
