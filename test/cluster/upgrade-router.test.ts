// Which worker an upgrade goes to, and what one is answered that nobody takes.

import { IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer, Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { routeUpgrades, workerOf } from '../../src/cluster/upgrade-router.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { mediaSigner } from '../fakes/media-tokens.ts';
import { wires } from './linked-channels.ts';

const MEDIA = '/api/v1/telephony/ws/';
const routing = {
  workers: {
    numbers: [1, 2],
    ofApplication: (application: string) => (application === 'branch' ? 2 : 1),
    nextNumber: () => 3,
  },
  label: 'gw1',
  signer: mediaSigner,
};

function media(label: string, worker: number): string {
  const call = { id: '3', workflowId: '1', organizationId: '2' };
  const token = mediaSigner.sign(call, { label, worker, untilMs: 60_000 }, Buffer.alloc(16));
  return `${MEDIA}1/2/3/${token}`;
}
const ON_TWO = media('gw1', 2);

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
    [media('gw1', 2), 2],
    [`${media('gw1', 2)}/`, 2],
    [`${media('gw1', 2)}?x=/w1-abc`, 2],
    // Another gateway's, and that of a worker that is not running: any worker may adopt the call.
    [media('gw2', 2), 3],
    [media('gw1', 7), 3],
    // Worker 1 refuses these.
    [`${MEDIA}1/2/3/abc`, 1],
    [`${MEDIA}1/2/3/`, 1],
    [media('gw1', 2).replace('/1/2/3/', '/1/2/4/'), 1],
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
    expect(workerOf({ url, headers: {} }, routing)).toBe(worker);
  });

  it.each([
    ['gw1', 2, 2],
    ['gw1', 7, 3],
    ['gw2', 2, 3],
  ])('of a browser is for the worker in its token: %s %s to %s', (label, issuer, worker) => {
    const token = media(label, issuer).split('/').at(-1);
    const headers = { 'sec-websocket-protocol': `patchbay.v1, token.3.1.2.${token}` };
    const url = '/api/v1/web-calls/media';
    expect(workerOf({ url, headers }, routing)).toBe(worker);
    expect(workerOf({ url, headers: {} }, routing)).toBe(1);
  });

  it.each([
    ['without a host', { rawHeaders: [] }],
    ['with two hosts', { rawHeaders: ['Host', 'a', 'host', 'b'] }],
    ['of HTTP/1.0', { httpVersion: '1.0' }],
  ])('%s is refused', (_what, facts) => {
    const { api } = wires(3, new FakeClock());
    const { socket, answer } = connection();
    const request = Object.assign(asked(ON_TWO), facts);
    routeUpgrades(api, routing)(request, socket, Buffer.alloc(0));
    expect(answer()).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
  });

  it('goes to its worker with its socket', () => {
    const { api, links, sockets } = wires(3, new FakeClock());
    const urls: unknown[] = [];
    links[2]?.onRequest('upgrade', async (body) => urls.push((body as { url: string }).url));
    const socket = new Socket();
    routeUpgrades(api, routing)(asked(ON_TWO), socket, Buffer.alloc(0));
    expect(urls).toEqual([ON_TWO]);
    expect(sockets.at(-1)).toBe(socket);
  });

  it('is answered 503 if its worker dies before it has taken the socket', async () => {
    const { api, cut, sockets } = wires(3, new FakeClock());
    const server = createServer((socket) => {
      cut(2);
      routeUpgrades(api, routing)(asked(ON_TWO), socket, Buffer.alloc(0));
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
    [ON_TWO, 'POST', '405 Method Not Allowed'],
    [media('gw1', 7), 'GET', '503 Service Unavailable'],
  ])('to %s by %s is answered %s at once', (url, method, status) => {
    const { api, sockets } = wires(3, new FakeClock());
    const { socket, answer } = connection();
    routeUpgrades(api, routing)(asked(url, method), socket, Buffer.alloc(0));
    expect(answer()).toMatch(new RegExp(`^HTTP/1.1 ${status}\r\n`));
    expect(answer()).toContain('Connection: close\r\n');
    expect(socket.writableEnded).toBe(true);
    expect(sockets).toEqual([]);
  });
});
