// What bad input gets, of an administrator's or of Asterisk's: a clear error or a drop that is counted, the
// call ended or carried on as the caller would wish, and never a PBX that waits for us.

import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { connectionFault } from '../../../../src/telephony/ari/connection/connection-fault.ts';
import { accountOf } from '../../../../src/telephony/ari/rest/config.ts';
import type { ProviderCredentials } from '../../../../src/telephony/provider/terms.ts';
import { type FakeAsterisk, startAsterisk } from '../../../fakes/asterisk/fake-asterisk.ts';
import { pump } from '../../../fakes/asterisk/media/pump.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import {
  atEnd,
  clientTable,
  credentialsOf,
  type Gateway,
  gateway,
  isUp,
  nothingLeft,
  patient,
  rings,
  table,
  talks,
  until,
} from '../ari-harness.ts';

/** A connection that does not come about. */
async function refused(
  credentials: (asterisk: FakeAsterisk) => ProviderCredentials,
  prepare: (asterisk: FakeAsterisk) => void = () => undefined,
): Promise<Gateway & { asterisk: FakeAsterisk; clock: FakeClock }> {
  const clock = new FakeClock();
  const asterisk = await startAsterisk({ clock, app: 'app' });
  atEnd(() => asterisk.stop());
  atEnd(pump(clock));
  prepare(asterisk);
  const made = gateway(clock, credentials(asterisk));
  await until(() => made.connection.state.kind === 'down', 'the refusal');
  return { ...made, asterisk, clock };
}

describe('a configuration with', () => {
  it('a wrong password is said to have one, and works once it is mended', async () => {
    const at = await refused((asterisk) => credentialsOf(asterisk, { app_password: 'wrong' }));
    expect(at.connection.state).toMatchObject({ code: 'PBX_UNAUTHORIZED', isPermanent: true });
    expect(JSON.stringify([at.harness.states, at.lines()])).not.toContain('wrong');
    at.asterisk.users['gw'] = { password: 'wrong' };
    await isUp(at);
  });

  it('a user with read-only rights gets what to change', async () => {
    const login = { app_name: 'gwro', app_password: 'rosecret' };
    const at = await refused((asterisk) => credentialsOf(asterisk, login));
    expect(at.connection.state).toMatchObject({ code: 'PBX_READ_ONLY', isPermanent: true });
    expect(at.harness.states.map(({ kind }) => kind)).not.toContain('up');
  });

  it('an address without ARI is reported as such', async () => {
    const at = await refused(({ url }) => credentialsOf({ url: `${url}/pbx` }));
    expect(at.connection.state).toMatchObject({ code: 'PBX_NO_ARI', isPermanent: true });
  });

  it('https:// for a port with plain HTTP is reported as such', async () => {
    const at = await refused(({ url }) => credentialsOf({ url: url.replace('http:', 'https:') }));
    expect(at.connection.state).toMatchObject({ code: 'PBX_TLS', isPermanent: true });
  });

  it.each([
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'NODE_EXTRA_CA_CERTS'],
    ['CERT_HAS_EXPIRED', 'has expired'],
    ['CERT_NOT_YET_VALID', 'not valid yet'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'for another name'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'NODE_EXTRA_CA_CERTS'],
  ])('a certificate that TLS refuses with %s is reported as such', (code, words) => {
    const account = accountOf(credentialsOf({ url: 'https://pbx.example.com:8089' }));
    const error = Object.assign(new Error('certificate'), { code });
    const fault = connectionFault(account, error);
    expect(fault).toMatchObject({ code: 'PBX_TLS', isPermanent: true });
    expect(fault.message).toContain(words);
  });

  it('a port where nothing listens is tried for ever', async () => {
    const at = await refused(
      (asterisk) => credentialsOf(asterisk),
      (asterisk) => void asterisk.crash(),
    );
    expect(at.connection.state).toMatchObject({ code: 'PBX_UNREACHABLE', isPermanent: false });
    await at.clock.advanceAsync(600_000, 5_000);
    await at.asterisk.start();
    await isUp(at);
  });

  it('a port that takes connections and says nothing is given up and tried again', async () => {
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    atEnd(() => server.close());
    const { port } = server.address() as AddressInfo; // Of a TCP server.
    const at = await refused(() => credentialsOf({ url: `http://127.0.0.1:${port}` }));
    expect(at.connection.state).toMatchObject({ code: 'PBX_UNREACHABLE' });
  });

  it('an application that Asterisk does not show is tried again', async () => {
    let times = 0;
    const at = await refused(
      (asterisk) => credentialsOf(asterisk),
      (asterisk) => {
        asterisk.faults.rest = ({ path }) => {
          if (!path.startsWith('applications') || times > 3) return undefined;
          times += 1;
          return { status: 404, body: { message: 'Application not found' } };
        };
      },
    );
    expect(at.connection.state).toMatchObject({ code: 'PBX_UNREACHABLE', isPermanent: false });
    await isUp(at);
  });
});

describe('media that cannot be had', () => {
  it.each([
    ['a module that is not loaded', 501, 'chan_websocket.so'],
    ['a codec that is not loaded', 500, 'codec'],
  ])('for want of %s say so', async (_, status, word) => {
    const at = await table();
    at.asterisk.faults.rest = ({ path }) =>
      path.endsWith('externalMedia') ? { status, body: { message: 'no' } } : undefined;
    const { call, phone } = await rings(at);
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toMatchObject({
      code: 'PBX_MEDIA',
      message: expect.stringContaining(word),
    });
    await phone.ended;
    await nothingLeft(at);
    const asked = at.asterisk.requests.filter(({ path }) => path.endsWith('externalMedia'));
    expect(asked).toHaveLength(1);
  });

  it('of an Asterisk that is too old say which would do', async () => {
    const at = await table({
      asterisk: { version: '22.6.0' },
      credentials: { media: 'websocket_server' },
    });
    const { call } = await rings(at);
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toMatchObject({
      code: 'PBX_TOO_OLD',
      message: expect.stringContaining('22.8'),
    });
    await nothingLeft(at);
  });

  it.each([
    ['no name', ''],
    ['a wrong name', 'nobody'],
  ])('for %s of the connection in websocket_client.conf say so', async (_, name) => {
    const at = await table({
      credentials: { media: 'websocket_client', ws_client_name: name },
    });
    const { call } = await rings(at);
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toMatchObject({
      code: 'PBX_MEDIA',
      message: expect.stringContaining('websocket_client.conf'),
    });
    await nothingLeft(at);
  });

  it('because Asterisk does not reach us name what to check', async () => {
    const at = await clientTable();
    const client = at.asterisk.media.clients.get('gw');
    if (client !== undefined) client.uri = 'ws://127.0.0.1:9/nothing';
    const { call } = await rings(at);
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toMatchObject({
      code: 'PBX_MEDIA',
      message: expect.stringContaining('tls_enabled'),
    });
    await nothingLeft(at);
  });
});

describe('an Asterisk that hangs', () => {
  it('in the answer to a caller ends the attempt, and the caller is released', async () => {
    const at = await table();
    let isHanging = true;
    at.asterisk.faults.rest = ({ path }) =>
      path.endsWith('/answer') && isHanging ? 'hang' : undefined;
    const { call, phone } = await rings(at);
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toMatchObject({
      code: 'PROVIDER_TIMEOUT',
    });
    await phone.ended;
    await nothingLeft(at);
    isHanging = false;
    const next = await talks(at);
    next.audio.close();
    await nothingLeft(at);
  });

  it('in what is asked of it after the connection is tried again', async () => {
    let isHanging = true;
    const at = await refused(
      (asterisk) => credentialsOf(asterisk),
      (asterisk) => {
        asterisk.faults.rest = () => (isHanging ? 'hang' : undefined);
      },
    );
    expect(at.connection.state).toMatchObject({ code: 'PBX_UNREACHABLE' });
    isHanging = false;
    await isUp(at);
  });
});
