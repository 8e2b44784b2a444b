// Which worker an upgrade goes to, and what one is answered that nobody takes.

import { IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer, Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { routeUpgrades, workerOf } from '../../src/cluster/upgrade-router.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { wires } from './linked-channels.ts';

const MEDIA = '/api/v1/telephony/ws/';
const workers = {
  numbers: [1, 2],
  ofApplication: (application: string) => (application === 'branch' ? 2 : 1),
};

function asked(url: string, method = 'GET'): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  const facts = { httpVersion: '1.1', rawHeaders: ['Host', 'gw.example.com'] };
  return Object.assign(request, { url, method, headers: { upgrade: 'websocket' }, ...facts });
}

/** What is written on a connection until it is closed. */
function connection() {
  const socket = new PassThrough();
  let answer = '';
  socket.on('data', (bytes) => {
    answer += bytes;
  });
  return { socket, answer: () => answer };
}

describe('an upgrade', () => {
  it.each([
    [`${MEDIA}1/2/3/w2-abc`, 2],
    [`${MEDIA}1/2/3/w2-abc/`, 2],
    [`${MEDIA}1/2/3/w2-abc?x=/w1-abc`, 2],
    // Worker 1 says what is wrong with these.
    [`${MEDIA}1/2/3/abc`, 1],
    [`${MEDIA}1/2/3/`, 1],
    [`${MEDIA}1/2/3/w-abc`, 1],
    // PBXs: by their application; the path without one is worker 1's.
    [`${MEDIA}ari/branch`, 2],
    [`${MEDIA}ari/other`, 1],
    [`${MEDIA}ari`, 1],
    ['/api/v1/telephony/pbx/branch?x=1', 2],
    ['/api/v1/telephony/pbx/other', 1],
    ['/', undefined],
    ['', undefined],
    ['/api/v1/telephony', undefined],
  ])('to %s is for worker %s', (url, worker) => {
    expect(workerOf(url, workers)).toBe(worker);
  });

  it.each([
    ['without a host', { rawHeaders: [] }],
    ['with two hosts', { rawHeaders: ['Host', 'a', 'host', 'b'] }],
    ['of HTTP/1.0', { httpVersion: '1.0' }],
  ])('%s is refused', (_what, facts) => {
    const { api } = wires(3, new FakeClock());
    const { socket, answer } = connection();
    const request = Object.assign(asked(`${MEDIA}1/2/3/w2-abc`), facts);
    routeUpgrades(api, workers)(request, socket, Buffer.alloc(0));
    expect(answer()).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
  });

  it('goes to its worker with its socket', () => {
    const { api, links, sockets } = wires(3, new FakeClock());
    const urls: unknown[] = [];
    links[2]?.onRequest('upgrade', async (body) => urls.push((body as { url: string }).url));
    const socket = new Socket();
    routeUpgrades(api, workers)(asked(`${MEDIA}1/2/3/w2-abc`), socket, Buffer.alloc(0));
    expect(urls).toEqual([`${MEDIA}1/2/3/w2-abc`]);
    expect(sockets.at(-1)).toBe(socket);
  });

  it('is answered 503 if its worker dies before it has taken the socket', async () => {
    const { api, cut, sockets } = wires(3, new FakeClock());
    const server = createServer((socket) => {
      cut(2);
      routeUpgrades(api, workers)(asked(`${MEDIA}1/2/3/w2-abc`), socket, Buffer.alloc(0));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const peer = connect((server.address() as AddressInfo).port, '127.0.0.1');
    peer.setEncoding('utf8');
    const answer = (await peer.toArray()).join('');
    expect(answer).toMatch(/^HTTP\/1.1 503 Service Unavailable\r\n/);
    expect(sockets).toHaveLength(1);
    await new Promise((resolve) => server.close(resolve)); // It is closed here, too.
  });

  it.each([
    ['/unknown', 'GET', '404 Not Found'],
    [`${MEDIA}1/2/3/w2-abc`, 'POST', '405 Method Not Allowed'],
    [`${MEDIA}1/2/3/w7-abc`, 'GET', '503 Service Unavailable'],
  ])('to %s by %s is answered %s at once', (url, method, status) => {
    const { api, sockets } = wires(3, new FakeClock());
    const { socket, answer } = connection();
    routeUpgrades(api, workers)(asked(url, method), socket, Buffer.alloc(0));
    expect(answer()).toMatch(new RegExp(`^HTTP/1.1 ${status}\r\n`));
    expect(answer()).toContain('Connection: close\r\n');
    expect(socket.writableEnded).toBe(true);
    expect(sockets).toEqual([]);
  });
});
