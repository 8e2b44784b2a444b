// The faults of asterisk §7.1, one by one: the simulated Asterisk has each, and the doctor names it with its
// remedy, in the words of the table.

import { type AddressInfo, connect, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { createEgress } from '../../../../src/egress/egress-rule.ts';
import { systemRandom } from '../../../../src/std/random.ts';
import type { Finding } from '../../../../src/telephony/provider/pbx.ts';
import { createRtpPorts } from '../../../../src/transport/rtp/rtp-ports.ts';
import type { Step } from '../../../fakes/asterisk/dialplan.ts';
import type { FakeAsteriskOptions } from '../../../fakes/asterisk/fake-asterisk.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import { APP, type Examination, withDoctor } from './doctor-harness.ts';
import { differenceFrom, faultRows } from './fault-table.ts';

type Findings = Map<string, Finding>;
type Fault = () => Promise<Findings>;

const doctor = withDoctor();
const MEDIA_PATH = '/api/v1/telephony/ws/ari';
const stasis: Step = { app: 'Stasis', args: ['inbound', '%'] };
const jitter: Step = {
  app: 'Set',
  data: 'JITTERBUFFER(adaptive)=default',
  label: 'jitter',
};
const away: Step = { app: 'Congestion', label: 'away' };

/** With the gateway connected. */
async function connected(
  options: FakeAsteriskOptions,
  examination: Examination = {},
): Promise<Findings> {
  await doctor.world.play({ app: APP, ...options });
  await doctor.world.connectApp();
  return doctor.world.examine(examination);
}

const withFields = (fields: Record<string, unknown>, options: FakeAsteriskOptions = {}) =>
  connected(options, { fields });

/** The address, made from the PBX's own. */
async function at(change: (url: string) => string): Promise<Findings> {
  await doctor.world.play();
  return doctor.world.examine({ fields: { ari_endpoint: change(doctor.world.asterisk.url) } });
}

async function withoutModule(name: string, fields: Record<string, unknown>): Promise<Findings> {
  await doctor.world.play();
  doctor.world.asterisk.machine.modules.delete(name);
  return doctor.world.examine({ fields });
}

/** A section of websocket_client.conf, all right but for `wrong`. */
function clientSection(wrong: object, endpoint?: string): Promise<Findings> {
  const section = {
    uri: `wss://gw.example.com${MEDIA_PATH}`,
    protocols: 'media',

    username: 'gw',
    password: 'gwsecret',
    shown: { ca_list_file: '/etc/ca.pem' },
    ...wrong,
  };
  return withFields(
    {
      media: 'websocket_client',
      ws_client_name: 'media_gw',
      ...(endpoint !== undefined && { ari_endpoint: endpoint }),
    },
    { websocketClients: { media_gw: section } },
  );
}

/** The PBX is on another machine, as far as names say it. */
async function onOtherMachine(fields: Record<string, unknown>, options: FakeAsteriskOptions = {}) {
  const { world } = doctor;
  const egress = createEgress(undefined, (_host, _options, done) =>
    done(null, [{ address: '127.0.0.1', family: 4 }]),
  );
  const rtp = createRtpPorts({
    host: '127.0.0.1',
    clock: world.clock,
    log: quietLog().log,
    ports: { first: 31_950, last: 31_969 },
    random: systemRandom,
  });
  world.close.push(() => rtp.close());
  const packets = { host: 'localhost', rtp, audioSockets: undefined };
  world.provider = world.createProvider({ egress, packets });
  await world.play(options);
  const ari = world.asterisk.url.replace('127.0.0.1', 'pbx.test');
  return world.examine({ fields: { ari_endpoint: ari, ...fields } });
}

async function trunkWith(
  lines: Record<string, Step[]>,
  more: FakeAsteriskOptions['dialplan'] = {},
): Promise<Findings> {
  const { world } = doctor;
  await world.play({
    app: APP,
    endpoints: { trunk: { context: 'from-trunk', kind: 'outside' } },
    dialplan: { 'from-trunk': lines, ...more },
  });
  const { up } = await world.ownConnection();
  await up;
  return world.examine({ numbers: ['8000'], callFrom: 'from-trunk' });
}

/** The number has these lines, and no others of the printed ones. */
function lines(steps: Step[]): Promise<Findings> {
  const trunk = { context: 'from-trunk', kind: 'outside' } as const;
  return connected({ endpoints: { trunk }, dialplan: { 'patchbay-in': { '8000': steps } } });
}

/** Asterisk tries to open the connection at this path, with this login. */
async function incoming(attempt?: { app: string; password: string }): Promise<Findings> {
  const { world } = doctor;
  await world.play();
  await world.ownConnection({ connection: 'incoming' });
  if (attempt !== undefined) {
    const url = `${await world.serveUpgrades('192.0.2.9')}${attempt.app}`;
    const login = Buffer.from(`gw:${attempt.password}`).toString('base64');
    const socket = new WebSocket(url, 'ari', { headers: { authorization: `Basic ${login}` } });
    await new Promise((resolve) => socket.once('error', resolve));
  }
  return world.examine({ fields: { connection: 'incoming' } });
}

async function closedPort(): Promise<Findings> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  doctor.world.close.push(() => server.close());
  return at(() => `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

const faults: Record<string, Fault> = {
  "Asterisk's HTTP server is off": () => connectedNowhere('[general]\nenabled = no\n'),
  '`http.conf` has `[general]` twice, the second one enables the server': () =>
    connectedNowhere('[general]\nenabled = no\n[general]\nenabled = yes\n'),
  'The address has the port of SIP': () => at((url) => url.replace(/\d+$/, '5060')),
  'The address ends with `/ari`': () => at((url) => `${url}/ari`),
  '`https://` to the plain port': () => at((url) => url.replace('http', 'https')),
  '`http://` to the TLS port': closedPort,
  'A firewall drops the packets, or Asterisk is stuck': () => answering(() => 'hang'),
  'ARI is off in `ari.conf`': () => answering(() => ({ status: 404, body: {} })),
  'Wrong user or password': () => withFields({ app_password: 'wrong' }),
  'The user may only read': () => withFields({ app_name: 'gwro', app_password: 'rosecret' }),
  'A module is missing': () => withoutModule('chan_websocket', {}),
  'The codec of `media_format` is missing': () =>
    withoutModule('codec_g722', { media_format: 'g722' }),
  '`func_dialplan` is not loaded': async () => {
    await doctor.world.play();
    doctor.world.asterisk.faults.rest = ({ query }) =>
      query.get('variable')?.startsWith('DIALPLAN_EXISTS') === true
        ? { status: 500, body: { message: 'Unable to read provided function' } }
        : undefined;
    return doctor.world.examine();
  },
  'The release is too old for the audio that is set': () =>
    withFields({ media: 'websocket_server' }, { version: '18.20.0' }),
  'No gateway is connected for the application': async () => {
    await doctor.world.play();
    return doctor.world.examine();
  },
  'Another program has taken the application': async () => {
    await doctor.world.play();
    const { up, state } = await doctor.world.ownConnection();
    await up;
    const down = state('down');
    await doctor.world.connectApp();
    await down;
    return doctor.world.examine();
  },
  'A proxy passes no websockets on': async () => {
    await doctor.world.play();
    doctor.world.asterisk.faults.upgrade = 502;
    return doctor.world.examine();
  },
  'A proxy passes `/ari` on and not `/media`': async () => {
    await doctor.world.play();
    const { asterisk } = doctor.world;
    asterisk.faults.rest = ({ path }) => {
      if (path === 'channels/externalMedia') asterisk.faults.upgrade = 404;
      return undefined;
    };
    return doctor.world.examine();
  },
  '`websocket_client.conf` has no such section': () =>
    withFields({ media: 'websocket_client', ws_client_name: 'media_gw' }),
  '`wss://` without `tls_enabled`': () => clientSection({ shown: { tls_enabled: 'no' } }),
  "No authorities for the gateway's certificate": () => clientSection({ shown: {} }),
  'Another password in `websocket_client.conf`': () => clientSection({ password: 'old' }),
  '`localhost` in `websocket_client.conf`': () =>
    onOtherMachine(
      { media: 'websocket_client', ws_client_name: 'media_gw' },
      { websocketClients: { media_gw: { uri: `ws://localhost:8000${MEDIA_PATH}` } } },
    ),
  "RTP with `localhost` as the gateway's address": () => onOtherMachine({ media: 'rtp' }),
  'AudioSocket is off at the gateway': () => onOtherMachine({ media: 'audiosocket' }),
  'No gateway listens where `websocket_client.conf` leads': () =>
    clientSection({ uri: `ws://127.0.0.1:9${MEDIA_PATH}`, shown: {} }),
  'Audio arrives at one side only': async () => {
    await doctor.world.play();
    const { asterisk } = doctor.world;
    const timer = setInterval(() => {
      const [phone] = asterisk.channels;
      if (phone !== undefined) phone.isMutedIn = true;
    }, 0);
    doctor.world.close.push(() => clearInterval(timer));
    return doctor.world.examine();
  },
  '`dial_template` names no endpoint': () => withFields({ dial_template: 'PJSIP/{number}@nope' }),
  'The trunk is not registered': () => withFields({ dial_template: 'PJSIP/{number}@dead' }),
  '`Local/...` without `/n`': () => withFields({ dial_template: 'Local/{number}@out-dest' }),
  '`transfer_context` is no context': () => withFields({ transfer_context: 'nope' }),
  'A line of the printed dialplan is gone': () => lines([jitter, away]),
  'The dialplan sets no jitter buffer': () => lines([{ ...stasis, label: 'stasis' }, away]),
  'The trunk sends numbers in another form': async () => {
    await doctor.world.play();
    const { connection, up } = await doctor.world.ownConnection();
    await up;
    const dialled = { dialled: '15550100', nearest: '+15550100' };
    await connection.refuse('gone-1', 'not-configured', dialled);
    return doctor.world.examine();
  },
  'No line for a number (`--numbers`)': () => trunkWith({}, { 'patchbay-in': {} }),
  'The trunk has another context than the lines (`--numbers`)': () =>
    trunkWith({}, { 'patchbay-in': { '8000': [stasis] } }),
  'The line names another application (`--numbers`)': () =>
    trunkWith({ '8000': [{ ...stasis, name: 'old' }] }),
  "The number's lines set no jitter buffer (`--numbers`)": () => trunkWith({ '8000': [stasis] }),
  'Something else answers the number (`--numbers`)': () =>
    trunkWith({ '8000': [{ app: 'Answer' }, { app: 'Playback', sound: 'demo-congrats' }] }),
  '`incoming`: another program has taken the application, or had it': async () => {
    const { world } = doctor;
    await world.play();
    const { up, state } = await world.ownConnection({ connection: 'incoming' });
    const uri = `${await world.serveUpgrades('192.0.2.9')}${APP}`;
    const login = { username: 'gw', password: 'gwsecret' };
    world.close.push(world.asterisk.dialOut({ uri, protocols: 'ari', ...login, apps: [APP] }));
    await up;
    const down = state('down');
    await world.connectApp();
    await down;
    return world.examine({ fields: { connection: 'incoming' } });
  },
  '`incoming`: another password': () => incoming({ app: APP, password: 'wrong' }),
  '`incoming`: another application in the address': () =>
    incoming({ app: 'patchbay_old', password: 'gwsecret' }),
  '`incoming`: the user may only read': async () => {
    const { world } = doctor;
    await world.play();
    const { state } = await world.ownConnection({ connection: 'incoming' });
    await state('down'); // Not connected yet.
    const uri = `${await world.serveUpgrades('192.0.2.9')}${APP}`;
    const login = { username: 'gw', password: 'gwsecret' };
    const facts = { uri, protocols: 'ari', ...login, apps: [APP], isReadOnly: true };
    const down = state('down');
    world.close.push(world.asterisk.dialOut(facts));
    await down;
    return world.examine({ fields: { connection: 'incoming' } });
  },
  '`incoming`: a wrong host or port, or a certificate that Asterisk does not trust': () =>
    incoming(),
};

/** The HTTP server of a PBX with this http.conf. */
async function connectedNowhere(httpConf: string): Promise<Findings> {
  await doctor.world.play({ httpConf });
  return doctor.world.examine();
}

async function answering(rest: () => 'hang' | { status: number; body: object }): Promise<Findings> {
  await doctor.world.play();
  doctor.world.asterisk.faults.rest = rest;
  return doctor.world.examine();
}

const rows = faultRows();

describe('the faults of docs/asterisk.md', () => {
  it('are all played, at least 24 of them', () => {
    expect(rows.map(({ fault }) => fault)).toEqual(Object.keys(faults));
    expect(rows.length).toBeGreaterThanOrEqual(24);
  });

  it.each(rows)('$fault: $line', async (row) => {
    const findings = await faults[row.fault]?.();
    expect(differenceFrom(row, findings?.values() ?? [])).toBeUndefined();
  });

  // Asterisk with enabled = no accepts no connection, and goes on serving those that are open: the doctor's first line
  // passed over one of the gateway's.
  it('an HTTP server that is off is found while connections to it go on', async () => {
    await doctor.world.play({ app: APP });
    const target = Number(new URL(doctor.world.asterisk.url).port);
    const server = createServer((inner) => {
      const outer = connect(target, '127.0.0.1');
      for (const [from, to] of [
        [inner, outer],
        [outer, inner],
      ] as const) {
        from.on('error', () => to.destroy());
        from.on('close', () => to.destroy());
        from.pipe(to);
      }
      doctor.world.close.push(() => inner.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const fields = { ari_endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    const { up } = await doctor.world.ownConnection(fields);
    await up;
    server.close();
    const findings = await doctor.world.examine({ fields });
    expect(findings.get('http')?.message).toContain('Nothing listens at');
  });

  it('a section that is added to the first one enables the server', async () => {
    const httpConf = '[general]\nenabled = no\n[general](+)  ; added\nenabled = yes\n';
    const findings = await connectedNowhere(httpConf);
    expect(findings.get('http')?.verdict).toBe('pass');
  });
});
