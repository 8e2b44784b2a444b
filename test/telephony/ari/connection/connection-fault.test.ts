// Real faults of real sockets on loopback, in the words that people read.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../src/std/random.ts';
import {
  type ConnectionFault,
  connectionFault,
  withoutFaultsOfAddress,
} from '../../../../src/telephony/ari/connection/connection-fault.ts';
import { EventSocket } from '../../../../src/telephony/ari/connection/event-socket.ts';
import { accountOf } from '../../../../src/telephony/ari/rest/config.ts';
import type { PbxListener, PbxState } from '../../../../src/telephony/provider/pbx.ts';
import { makeAuthority, makeCertificate } from '../../../fakes/certificates.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { freePort } from '../../../fakes/free-port.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

function listen(server: {
  listen(port: number, host: string, done: () => void): unknown;
  address(): unknown;
  close(): void;
}): Promise<number> {
  open.push(server);
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );
}

/** What the first attempt to connect to `endpoint` comes to. */
function faultAt(endpoint: string): Promise<ConnectionFault> {
  return new Promise((resolve) => {
    const account = accountOf({ ari_endpoint: endpoint, app_name: 'gw', app_password: 'geheim' });
    const socket = new EventSocket({
      account,
      clock: new FakeClock(),
      random: systemRandom,
      listener: { onOpen: () => undefined, onMessage: () => undefined, onDown: resolve },
    });
    open.push(socket);
  });
}

const answering = (status: number): Server =>
  createServer().on('upgrade', (_, socket) => {
    socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  });

describe('a PBX that is not reached', () => {
  it.each<[number, string, boolean]>([
    [401, 'PBX_UNAUTHORIZED', true],
    [403, 'PBX_READ_ONLY', true],
    [404, 'PBX_NO_ARI', true],
    [503, 'PBX_UNREACHABLE', false],
  ])('answers %i: %s', async (status, code, isPermanent) => {
    const port = await listen(answering(status));
    const fault = await faultAt(`http://127.0.0.1:${port}`);
    expect(fault).toMatchObject({ code, isPermanent });
    expect(fault.message).toContain(`127.0.0.1:${port}`);
    expect(fault.message).not.toContain('geheim');
  });

  it('does not listen', async () => {
    const fault = await faultAt(`http://127.0.0.1:${await freePort()}`);
    expect(fault).toMatchObject({ code: 'PBX_UNREACHABLE', isPermanent: false });
    expect(fault.message).toContain('nothing listens there');
  });

  it('has a host name that does not resolve', async () => {
    const fault = await faultAt('http://pbx.invalid:8088');
    expect(fault.code).toBe('PBX_UNREACHABLE');
    expect(fault.message).toContain('the name');
  });

  it('is spoken to in TLS on a plain port', async () => {
    const port = await listen(createServer());
    const fault = await faultAt(`https://127.0.0.1:${port}`);
    expect(fault).toMatchObject({ code: 'PBX_TLS', isPermanent: true });
    expect(fault.message).toContain('use http://');
  });

  it.each(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'EPROTO'])(
    'speaks no TLS, which Node may call %s',
    (code) => {
      const account = accountOf({
        ari_endpoint: 'https://pbx:8088',
        app_name: 'a',
        app_password: 'b',
      });
      const error = Object.assign(new Error(`write ${code}`), { code });
      expect(connectionFault(account, error).message).toContain('use http://');
    },
  );

  const authority = makeAuthority('An authority of its own');
  const names = ['127.0.0.1'] as const;
  it.each([
    ['is signed by itself', { names }, 'an authority that the gateway does not know'],
    ['is signed by an authority of its own', { names, authority }, 'NODE_EXTRA_CA_CERTS='],
    ['has expired', { names, authority, until: 2_021 }, 'has expired'],
    ['is not valid yet', { names, authority, from: 2_048 }, 'not valid yet'],
  ])('has a certificate that %s', async (_, facts, words) => {
    const port = await listen(createTlsServer(makeCertificate(facts)));
    const fault = await faultAt(`https://127.0.0.1:${port}`);
    expect(fault).toMatchObject({ code: 'PBX_TLS', isPermanent: true });
    expect(fault.message).toContain(words);
    expect(fault.message).toContain(`127.0.0.1:${port}`);
  });

  it('has a certificate for another name', () => {
    const account = accountOf({
      ari_endpoint: 'https://pbx:8089',
      app_name: 'a',
      app_password: 'b',
    });
    const error = Object.assign(new Error(), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    expect(connectionFault(account, error).message).toContain('for another name');
  });

  it('breaks the connection off, or speaks no HTTP', async () => {
    const broken = await listen(createTcpServer((socket) => socket.destroy()));
    expect((await faultAt(`http://127.0.0.1:${broken}`)).code).toBe('PBX_UNREACHABLE');
    const other = await listen(createTcpServer((socket) => socket.end('220 mail\r\n')));
    expect((await faultAt(`http://127.0.0.1:${other}`)).code).toBe('PBX_TLS');
  });
});

describe('a PBX that is not reached while sign-up is open', () => {
  const down = (code: (PbxState & { kind: 'down' })['code'], isPermanent: boolean): PbxState => ({
    kind: 'down',
    code,
    message: `what ${code} says`,
    isPermanent,
  });

  it('is the same for every answer at its address; the log has the answer', () => {
    const states: PbxState[] = [];
    const { log, lines } = quietLog();
    const listener = withoutFaultsOfAddress(
      { onState: (state) => void states.push(state) } as PbxListener,
      log,
    );
    listener.onState(down('PBX_UNREACHABLE', false));
    listener.onState(down('PBX_TLS', true));
    listener.onState(down('PBX_NO_ARI', true));
    listener.onState(down('PBX_UNAUTHORIZED', true));
    expect(new Set(states.map((state) => JSON.stringify(state))).size).toBe(1);
    expect(states[0]).toEqual({
      kind: 'down',
      code: 'PBX_UNREACHABLE',
      message: 'No Asterisk answers at the address with this user and password.',
      isPermanent: false,
    });
    expect(lines().map(({ reason }) => reason)).toContain('what PBX_TLS says');
  });

  it('gets the fault of its own Asterisk', () => {
    const states: PbxState[] = [];
    const listener = withoutFaultsOfAddress(
      { onState: (state) => void states.push(state) } as PbxListener,
      quietLog().log,
    );
    const told: PbxState[] = [{ kind: 'connecting' }, down('PBX_APP_TAKEN', true)];
    for (const state of told) listener.onState(state);
    expect(states).toEqual(told);
  });
});
