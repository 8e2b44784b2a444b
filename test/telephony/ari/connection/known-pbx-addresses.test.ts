// Which clients have room of their own beside unknown ones: addresses at which a configured PBX has answered, and from
// which it has connected with its login or with the id of a media channel.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import WebSocket from 'ws';
import { systemRandom } from '../../../../src/std/random.ts';
import { KnownPbxAddresses } from '../../../../src/telephony/ari/connection/known-pbx-addresses.ts';
import { ariProvider } from '../../../../src/telephony/ari/provider.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { clientTable, credentialsOf, gateway } from '../ari-harness.ts';

const CLIENT = '198.51.100.7';
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

it('a PBX to which the gateway has connected is known by the address that it has', async () => {
  const { provider } = await clientTable();
  expect(provider.pbx.isKnownClient('127.0.0.1')).toBe(true);
  expect(provider.pbx.isKnownClient(CLIENT)).toBe(false);
});

it('a PBX that does not answer is not known by its configured address', async () => {
  const closed = createServer();
  await new Promise<void>((done) => void closed.listen(0, '127.0.0.1', done));
  const { port } = closed.address() as AddressInfo; // Of a TCP server.
  await new Promise((done) => closed.close(done));
  const { provider, connection } = gateway(
    new FakeClock(),
    credentialsOf({ url: `http://127.0.0.1:${port}` }),
  );
  await vi.waitFor(() => expect(connection.state.kind).toBe('down'));
  expect(provider.pbx.isKnownClient('127.0.0.1')).toBe(false);
});

it('a PBX that connects is known once it has its login right', async () => {
  const provider = ariProvider.create({ clock: new FakeClock(), random: systemRandom });
  const { pbx } = provider;
  gateway(
    new FakeClock(),
    credentialsOf({ url: 'http://pbx' }, { connection: 'incoming' }),
    provider,
  );
  const server = createServer();
  server.on('upgrade', (request, socket, head) => pbx.takeUpgrade(request, socket, head, CLIENT));
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  ends.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const { port } = server.address() as AddressInfo; // Of a TCP server.
  const outcome = (password: string): Promise<string> =>
    new Promise((resolve) => {
      const authorization = `Basic ${Buffer.from(`gw:${password}`).toString('base64')}`;
      const url = `ws://127.0.0.1:${port}/api/v1/telephony/pbx/app`;
      const socket = new WebSocket(url, 'ari', { headers: { authorization } });
      ends.push(() => socket.terminate());
      socket.once('open', () => resolve('open'));
      socket.once('error', (error) => resolve(error.message));
    });
  expect(await outcome('guessed')).toContain('401');
  expect(pbx.isKnownClient(CLIENT)).toBe(false);
  expect(await outcome('gwsecret')).toBe('open');
  expect(pbx.isKnownClient(CLIENT)).toBe(true);
});

it('a media socket with a guessed id of a channel makes its address not known', async () => {
  const table = await clientTable();
  const { pbx } = table.provider;
  const admitted: string[] = [];
  const refused = pbx.takeSocket(
    {
      open: true,
      bufferedBytes: 0,
      sendText: () => undefined,
      sendBinary: () => undefined,
      close: () => undefined,
    },
    { client: CLIENT, admitted: () => admitted.push(CLIENT) },
  );
  refused.onText('MEDIA_START connection_id:x channel:guessed channel_id:guessed format:ulaw');
  expect([pbx.isKnownClient(CLIENT), admitted]).toEqual([false, []]);
});

it('a thousand clients are known, by their networks where they have version 6', () => {
  const clients = new KnownPbxAddresses();
  clients.note(undefined);
  clients.note('2001:db8:0:1::7');
  expect(clients.has('2001:db8:0:1')).toBe(true);
  for (let nth = 0; nth < 999; nth++) clients.note(`10.0.${nth >> 8}.${nth & 255}`);
  expect(clients.has('2001:db8:0:1')).toBe(true);
  clients.note('2001:db8:0:1::8'); // Seen again.
  clients.note('192.0.2.1');
  expect([clients.has('2001:db8:0:1'), clients.has('10.0.0.0')]).toEqual([true, false]);
});
