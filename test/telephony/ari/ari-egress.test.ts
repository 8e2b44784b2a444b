// Where a PBX's address leads: events, requests, media websockets and RTP go under the egress rule.

import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Egress } from '../../../src/egress/egress-rule.ts';
import { createEgress } from '../../../src/egress/egress-rule.ts';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { packetTransports } from '../../../src/telephony/ari/media/packet-transports.ts';
import type { MediaTransport } from '../../../src/telephony/ari/media/websocket-transports.ts';
import { ariProvider } from '../../../src/telephony/ari/provider.ts';
import { createChannelIds } from '../../../src/telephony/ari/rest/channel-ids.ts';
import { createAriClient } from '../../../src/telephony/ari/rest/client.ts';
import { accountOf } from '../../../src/telephony/ari/rest/config.ts';
import type { PbxState } from '../../../src/telephony/provider/pbx.ts';
import type { MediaSocket } from '../../../src/transport/media-socket.ts';
import { createRtpPorts } from '../../../src/transport/rtp/rtp-ports.ts';
import { openSignUpEgress } from '../../fakes/egress.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { until } from './ari-harness.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});
const never = new AbortController().signal;

/** A port that counts who connects. */
async function port(): Promise<{ url: string; taken: () => number }> {
  let taken = 0;
  const server = createServer((socket) => {
    taken += 1;
    socket.destroy();
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  ends.push(() => server.close());
  const { port } = server.address() as AddressInfo; // Of a TCP server.
  return { url: `http://127.0.0.1:${port}`, taken: () => taken };
}

const credentialsOf = (url: string) => ({
  ari_endpoint: url,
  app_name: 'gw',
  app_password: 'geheim',
  stasis_app_name: 'patchbay_1',
});

describe('a PBX where the gateway does not connect', () => {
  it('gets no connection for its events, and its state says why', async () => {
    const { url, taken } = await port();
    const egress = openSignUpEgress();
    const provider = ariProvider.create({ clock: systemClock, random: systemRandom, egress });
    const states: PbxState[] = [];
    const nothing = (): void => undefined;
    const listener = {
      onState: (state: PbxState) => states.push(state),
      onInbound: nothing,
      onEarlyMedia: nothing,
      onAnswered: nothing,
      onStatus: nothing,
    };
    const account = { configurationId: '1', credentials: credentialsOf(url) };
    const connection = provider.pbx.connect(account, { listener, log: quietLog().log });
    ends.push(() => connection.close());
    await until(() => connection.state.kind === 'down', 'the refusal');
    expect(connection.state).toMatchObject({ code: 'OUTSIDE_FORBIDDEN', isPermanent: true });
    expect(taken()).toBe(0);
  });

  it('gets no request', async () => {
    const { url, taken } = await port();
    const egress = openSignUpEgress();
    const { control } = ariProvider.create({ clock: systemClock, random: systemRandom, egress });
    const asked = control.getCall(credentialsOf(url), 'x', never).catch(codeOf);
    expect(await asked).toBe('PROVIDER_FAILED');
    expect(taken()).toBe(0);
  });

  it.each([
    ['closed', createEgress(), 1],
    ['open', openSignUpEgress(), 0],
  ])(
    'gets RTP at a private address that it announces while sign-up is closed: %s',
    async (_, egress, packets) => {
      const receiver = createSocket('udp4');
      let received = 0;
      receiver.on('message', () => {
        received += 1;
      });
      await new Promise<void>((done) => receiver.bind(0, '127.0.0.1', done));
      ends.push(() => receiver.close());
      const socket = await rtpTo(egress, receiver.address().port);
      socket.sendBinary(new Uint8Array(160));
      await new Promise((done) => setTimeout(done, 50)); // What is not sent cannot be waited for.
      expect(received).toBe(packets);
      socket.close(1000, 'over');
    },
  );
});

/** The media of a call whose PBX announces 127.0.0.1 and that port. */
async function rtpTo(egress: Egress, announced: number): Promise<MediaSocket> {
  const { log } = quietLog();
  const at = { host: '127.0.0.1', clock: systemClock, log };
  const rtp = createRtpPorts({
    ...at,
    ports: { first: 31_400, last: 31_499 },
    random: systemRandom,
  });
  ends.push(() => rtp.close());
  const media = { host: '127.0.0.1', rtp, audioSockets: undefined };
  const { rtp: transport } = packetTransports(media, { clock: systemClock, egress });
  const channelvars = {
    UNICASTRTP_LOCAL_ADDRESS: '127.0.0.1',
    UNICASTRTP_LOCAL_PORT: String(announced),
  };
  const channel = { id: 'm1', name: 'UnicastRTP/1', state: 'Up', channelvars };
  const account = accountOf(credentialsOf('http://127.0.0.1:8088'));
  const client = createAriClient(() => ({
    send: () => Promise.resolve({ status: 200, body: channel }),
  }));
  let socket: MediaSocket | undefined;
  const options: Parameters<MediaTransport['open']>[0] = {
    peer: {
      account,
      client,
      ids: createChannelIds(account.app, systemRandom),
      clock: systemClock,
      random: systemRandom,
      log,
      state: { kind: 'up', version: '22.10.1' },
      version: '22.10.1',
      watch: () => () => undefined,
    },
    channelId: 'm1',
    format: 'ulaw',
    accept: (opened) => {
      socket = opened;
      return { onText: () => undefined, onBinary: () => undefined, onClose: () => undefined };
    },
    gone: never,
  };
  await transport?.open(options, never);
  if (socket === undefined) throw new Error('there is no socket');
  return socket;
}
