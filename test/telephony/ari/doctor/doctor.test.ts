// The doctor on a played Asterisk: each common mistake of asterisk §2.6, §6 and §7 by its name, and
// nothing left behind.

import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { describe, expect, it } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { systemRandom } from '../../../../src/std/random.ts';
import type { Finding } from '../../../../src/telephony/provider/pbx.ts';
import { createAudioSocketServer } from '../../../../src/transport/audiosocket/audiosocket-server.ts';
import { createRtpPorts } from '../../../../src/transport/rtp/rtp-ports.ts';
import type { FakeAsteriskOptions } from '../../../fakes/asterisk/fake-asterisk.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import { APP, failed, withDoctor } from './doctor-harness.ts';

const MEDIA_URI = 'wss://gw.example.com/api/v1/telephony/ws/ari';

const doctor = withDoctor();
const play = (options?: FakeAsteriskOptions) => doctor.world.play(options);
const connectApp = () => doctor.world.connectApp();
const examine = (fields = {}, numbers?: string[], signal?: AbortSignal) =>
  doctor.world.examine({ fields, ...(numbers && { numbers }), ...(signal && { signal }) });
const expectNothingLeft = () => doctor.world.expectNothingLeft();

const verdicts = (findings: Map<string, Finding>) =>
  Object.fromEntries([...findings].map(([key, { verdict }]) => [key, verdict]));

describe('the doctor', () => {
  it.each(['ulaw', 'alaw', 'slin16', 'g722'])(
    'finds nothing wrong where all is well: %s',
    async (mediaFormat) => {
      await play();
      await connectApp();
      const findings = await examine({ media_format: mediaFormat });
      expect(verdicts(findings)).toEqual({
        address: 'pass',
        http: 'pass',
        tls: 'pass',
        user: 'pass',
        rights: 'pass',
        version: 'pass',
        modules: 'pass',
        application: 'warn', // The gateway itself is not connected here, the test is.
        events: 'pass',
        media: 'pass',
        numbers: 'pass',
        lines: 'skip',
        outbound: 'pass',
      });
      expect(findings.get('media')?.message).toMatch(
        /both ways .*to the caller -1\d dBFS.*from the caller -1\d/,
      );
      expect(findings.get('application')?.message).toContain('other than this process');
      expectNothingLeft();
    },
  );

  async function connected() {
    const own = await doctor.world.ownConnection();
    await own.up;
    return own;
  }

  it('recognises its own connection, and one that was taken over', async () => {
    await play();
    const { state } = await connected();
    expect((await examine()).get('application')).toMatchObject({
      verdict: 'pass',
      message: `This gateway is connected as ${APP}.`,
    });
    const down = state('down');
    await connectApp();
    await down; // It is tried again after minutes.
    expect((await examine()).get('application')).toMatchObject({
      verdict: 'fail',
      message: `Another program has taken ${APP} over and gets its calls.`,
    });
  });

  it('names dialled numbers that are not configured, and the nearest configured one', async () => {
    await play();
    const { connection } = await connected();
    expect((await examine()).get('refused')).toBeUndefined();
    const dialled = { dialled: '15550100', nearest: '+15550100' };
    await connection.refuse('gone-1', 'not-configured', dialled);
    await connection.refuse('gone-2', 'not-configured', dialled);
    await connection.refuse('gone-3', 'not-configured', { dialled: '8888', nearest: null });
    await connection.refuse('gone-4', 'busy');
    expect((await examine()).get('refused')).toMatchObject({
      verdict: 'warn',
      message: expect.stringMatching(
        /: 8888 \(one call at 2\S+\), 15550100 \(2 calls, the last at 2\S+; you have \+15550100\)\.$/,
      ),
    });
  });

  it('names an application without a connected client', async () => {
    await play();
    const findings = await examine();
    expect(failed(findings)).toEqual(['application']);
    expect(findings.get('application')?.message).toContain(`No client is connected as ${APP}`);
  });
});

describe('the doctor on AudioSocket and RTP ports', () => {
  it('names a wrong password, and asks no more', async () => {
    await play();
    const findings = await examine({ app_password: 'wrong' });
    expect(failed(findings)).toEqual(['user']);
    expect(findings.get('user')?.message).toBe('Asterisk refuses the user gw with this password.');
    expect(findings.get('rights')?.verdict).toBe('skip');
    expect(doctor.world.asterisk.requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('names a user who may only read', async () => {
    await play();
    const findings = await examine({ app_name: 'gwro', app_password: 'rosecret' });
    expect(failed(findings)).toEqual(['rights']);
    expect(findings.get('rights')?.advice).toContain('read_only = no in the section [gwro]');
  });

  it.each([
    [404, 'without ARI', 'enabled = yes in ari.conf'],
    [403, 'refuses every request of the gateway', 'restrict'],
    [503, 'no session left', 'sessionlimit'],
    [302, 'redirects the gateway', 'redirects are not followed'],
    [200, 'is not Asterisk', 'web interface'],
    [500, 'is not Asterisk', 'web interface'],
  ])('names an answer of %i', async (status, message, advice) => {
    await play();
    doctor.world.asterisk.faults.rest = () => ({ status, body: {} });
    const findings = await examine();
    expect(failed(findings)).toEqual(['http']);
    expect(findings.get('http')?.message).toContain(message);
    expect(findings.get('http')?.advice).toContain(advice);
  });

  it.each([
    ['the port of SIP', (url: string) => url.replace(/\d+$/, '5060'), 'Port 5060 is that of SIP.'],
    ['the path of ARI', (url: string) => `${url}/ari/`, 'The address ends with /ari.'],
  ])('names an address with %s', async (_name, change, message) => {
    await play();
    const findings = await examine({ ari_endpoint: change(doctor.world.asterisk.url) });
    expect(findings.get('address')).toMatchObject({ verdict: 'fail', message });
  });

  it('names a port without a listener', async () => {
    await play();
    await doctor.world.asterisk.stop();
    const findings = await examine();
    expect(failed(findings)).toEqual(['http']);
    expect(findings.get('http')?.message).toMatch(/^Nothing listens at 127\.0\.0\.1:\d+\.$/);
    expect(findings.get('http')?.advice).toContain('enabled = yes in http.conf');
  });

  it('names a plain port that is spoken to in TLS', async () => {
    await play();
    const findings = await examine({
      ari_endpoint: doctor.world.asterisk.url.replace('http', 'https'),
    });
    expect(failed(findings)).toEqual(['tls']);
    expect(findings.get('tls')?.message).toContain('does not speak TLS');
  });

  it('names a port of TLS that is spoken to in plain HTTP', async () => {
    await play();
    const port = await closingPort();
    const findings = await examine({ ari_endpoint: `http://127.0.0.1:${port}` });
    expect(failed(findings)).toEqual(['http']);
    expect(findings.get('http')?.advice).toContain('give https:// with it');
  });

  it('gives a PBX that never answers up in time', async () => {
    await play();
    doctor.world.asterisk.faults.rest = () => 'hang';
    const before = doctor.world.clock.monotonicMs();
    const findings = await examine();
    expect(failed(findings)).toEqual(['http']);
    expect(findings.get('http')?.message).toContain('does not answer');
    expect(doctor.world.clock.monotonicMs() - before).toBeLessThan(10_000);
  });

  it('names events that do not come, as behind a proxy without websockets', async () => {
    await play();
    doctor.world.asterisk.faults.upgrade = 502;
    const findings = await examine();
    expect(failed(findings)).toEqual(['application', 'events']);
    expect(findings.get('events')?.advice).toContain('must pass websockets on');
    expect(findings.get('media')?.verdict).toBe('skip');
  });
});

/** A server that closes whatever connection says something, as Asterisk's TLS port does with plain words. */
async function closingPort(): Promise<number> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  doctor.world.close.push(() => new Promise((resolve) => server.close(resolve)));
  return (server.address() as AddressInfo).port;
}

describe('the doctor on releases and modules', () => {
  it.each([
    ['22.10.1', 'pass', 'has all features'],
    ['23.4.1', 'pass', 'has all features'],
    ['20.20.0', 'pass', 'has all features'],
    ['22.8.2', 'warn', 'fixed in later releases'],
    ['certified-22.8-cert4', 'warn', 'fixed in later releases'],
    ['22.7.0', 'warn', 'AudioSocket and RTP work'],
    ['20.7-cert4', 'warn', 'AudioSocket and RTP work'],
    ['18.26.4', 'warn', 'AudioSocket and RTP work'],
    ['16.28.0~dfsg-0+deb11u4', 'warn', ': RTP work'],
    ['16.5.1', 'fail', 'came with 16.6'],
    ['13.38.3', 'fail', 'came with 16.6'],
    ['GIT-master-f0c1c1a7', 'warn', 'names no release'],
  ])('%s: %s', async (version, verdict, message) => {
    await play();
    doctor.world.asterisk.faults.rest = ({ path }) =>
      path === 'asterisk/info' ? { status: 200, body: { system: { version } } } : undefined;
    const finding = (await examine()).get('version');
    expect(finding).toMatchObject({ verdict, message: expect.stringContaining(message) });
  });

  it('names an Asterisk that cannot open the connection itself', async () => {
    const { judgeRelease } = await import(
      '../../../../src/telephony/ari/media/transport-selection.ts'
    );
    expect(judgeRelease('22.4.0', true)).toMatchObject({
      verdict: 'fail',
      message: expect.stringContaining('cannot open the connection itself'),
    });
    expect(judgeRelease('22.10.1', true).verdict).toBe('pass');
  });

  it('names a way of the audio for which Asterisk is too old', async () => {
    await play({ version: '18.20.0' });
    const findings = await examine({ media: 'websocket_server' });
    expect(findings.get('media')).toMatchObject({
      verdict: 'fail',
      message: expect.stringContaining('Asterisk 18.20.0 has no media websocket'),
    });
  });

  it.each(['chan_websocket', 'app_stasis', 'codec_ulaw'])(
    'names %s when it is missing',
    async (name) => {
      await play();
      doctor.world.asterisk.machine.modules.delete(name);
      const finding = (await examine()).get('modules');
      expect(finding).toMatchObject({ verdict: 'fail', message: `${name} is not loaded.` });
      expect(finding?.advice).toContain(`module load ${name}.so`);
    },
  );
});

describe('the doctor on the audio', () => {
  /** A gateway with ports for RTP and AudioSocket. */
  async function withPackets(): Promise<void> {
    const at = { host: '127.0.0.1', clock: doctor.world.clock, log: quietLog().log };
    const rtp = createRtpPorts({
      ...at,
      ports: { first: 31_900, last: 31_949 },
      random: systemRandom,
    });
    const audioSockets = createAudioSocketServer({ ...at, port: 0 });
    await audioSockets.listen();
    doctor.world.close.push(
      () => audioSockets.close(),
      () => rtp.close(),
    );
    const packets = { host: '127.0.0.1', rtp, audioSockets };
    doctor.world.provider = doctor.world.createProvider({ packets });
  }

  it.each([
    ['rtp', '16.28.0', 'rtp, ulaw'],
    ['auto', '16.28.0', 'rtp, ulaw'],
    ['audiosocket', '22.10.1', 'audiosocket, slin'],
    ['auto', '18.20.0', 'audiosocket, slin'],
  ])('detects tones both ways without websockets: %s at %s', async (media, version, message) => {
    await withPackets();
    await play({ version });
    await connectApp();
    expect((await examine({ media })).get('media')).toMatchObject({
      verdict: 'pass',
      message: expect.stringContaining(message),
    });
    expectNothingLeft();
  });

  // Both ends of the test waited for the PBX's first packet, and the PBX for theirs: "Nothing is heard either way", though
  // calls were heard, whose telephones speak first.
  it('detects tones both ways where RTP comes from another address than announced (NAT)', async () => {
    await withPackets();
    await play({ version: '22.10.1' });
    await connectApp();
    doctor.world.asterisk.faults.rtpBehindNat = true;
    expect((await examine({ media: 'rtp' })).get('media')).toMatchObject({
      verdict: 'pass',
      message: expect.stringContaining('Tones are heard both ways'),
    });
    expectNothingLeft();
  });

  it('says that nothing is heard where RTP does not arrive at all', async () => {
    await withPackets();
    await play({ version: '22.10.1' });
    await connectApp();
    doctor.world.asterisk.faults.rtpBehindNat = true;
    doctor.world.asterisk.faults.rest = () => {
      for (const end of doctor.world.asterisk.media.rtp) end.sendPacket = () => undefined;
      return undefined;
    };
    expect((await examine({ media: 'rtp' })).get('media')).toMatchObject({
      verdict: 'fail',
      message: expect.stringContaining('Nothing is heard either way'),
    });
    expectNothingLeft();
  });

  it('names audio that does not arrive at one side', async () => {
    await play();
    await connectApp();
    // What the telephone's side says is lost on its way.
    let muted = 0;
    const timer = setInterval(() => {
      const [phone] = doctor.world.asterisk.channels;
      if (phone === undefined || phone.isMutedIn) return;
      phone.isMutedIn = true;
      muted += 1;
    }, 0);
    doctor.world.close.push(() => clearInterval(timer));
    const findings = await examine();
    expect(muted).toBeGreaterThan(0);
    expect(failed(findings)).toEqual(['media']);
    expect(findings.get('media')?.message).toMatch(/would not hear/);
    expectNothingLeft();
  });

  it('names a media socket that is refused, and leaves nothing behind', async () => {
    await play();
    await connectApp();
    doctor.world.asterisk.faults.rest = ({ path }) => {
      if (path === 'channels/externalMedia') doctor.world.asterisk.faults.upgrade = 404;
      return undefined;
    };
    const findings = await examine();
    expect(failed(findings)).toEqual(['media']);
    expect(findings.get('media')?.message).toContain('its media socket answered 404');
    expect(findings.get('media')?.advice).toContain('http show status');
    expectNothingLeft();
  });

  it('ends early on request, and leaves nothing behind', async () => {
    await play();
    await connectApp();
    const stop = new AbortController();
    doctor.world.asterisk.faults.rest = ({ path }) => {
      if (path.endsWith('/addChannel')) stop.abort();
      return undefined;
    };
    const findings = await examine({}, ['8000'], stop.signal);
    expect(doctor.world.asterisk.requests.some(({ path }) => path.endsWith('/addChannel'))).toBe(
      true,
    );
    expect(verdicts(findings)).toMatchObject({ events: 'pass', media: 'fail', numbers: 'skip' });
    expect(findings.get('media')?.message).toContain('as a whole');
    expectNothingLeft();
  });

  it('ends early where Asterisk hangs in the middle', async () => {
    await play();
    await connectApp();
    doctor.world.asterisk.faults.rest = ({ path }) =>
      path.endsWith('/addChannel') ? 'hang' : undefined;
    const findings = await examine();
    expect(findings.get('media')).toMatchObject({
      verdict: 'fail',
      message: expect.stringMatching(/did not answer in time|longer than 15 s/),
    });
    expectNothingLeft();
  });

  it('ends what an examination left whose process was killed', async () => {
    await play();
    await connectApp();
    const left = await leave('channels/externalMedia', {
      app: `${APP}_doctor`,
      channelId: ownId('m'),
      external_host: '127.0.0.1:9',
      format: 'ulaw',
    });
    expect(left).toBe(200);
    await expect.poll(() => doctor.world.asterisk.channels.length).toBe(1);
    await examine();
    expectNothingLeft();
  });
});

function ownId(kind: string): string {
  return `${prefixOf(`${APP}_doctor`)}${kind}${'0'.repeat(35)}`;
}

function prefixOf(app: string): string {
  return `pb${createHash('sha256').update(app).digest('hex').slice(0, 8)}`;
}

async function leave(path: string, query: Record<string, string>): Promise<number> {
  const authorization = `Basic ${Buffer.from('gw:gwsecret').toString('base64')}`;
  const events = `${doctor.world.asterisk.url.replace('http', 'ws')}/ari/events?app=${APP}_doctor`;
  const socket = new WebSocket(events, { headers: { authorization } });
  doctor.world.close.push(() => socket.terminate());
  await new Promise((resolve) => socket.once('open', resolve));
  const url = `${doctor.world.asterisk.url}/ari/${path}?${new URLSearchParams(query)}`;
  return (await fetch(url, { method: 'POST', headers: { authorization } })).status;
}

describe('the doctor on connections of websocket_client.conf', () => {
  const client = { media: 'websocket_client', ws_client_name: 'media_gw' };
  const login = { username: 'gw', password: 'gwsecret' };
  const section = { uri: MEDIA_URI, protocols: 'media', ...login };

  it.each([
    ['no name', {}, { ws_client_name: '' }, 'names no connection (ws_client_name)'],
    ['a name that is not there', {}, { ws_client_name: 'other' }, 'has no section other'],
    ['wss:// without tls_enabled', { shown: { tls_enabled: 'no' } }, {}, 'without tls_enabled'],
    [
      'tls_enabled with ws://',
      { uri: MEDIA_URI.replace('wss', 'ws'), shown: { tls_enabled: 'yes' } },
      {},
      'tls_enabled with a ws:// address',
    ],
    ['a connection that stays', { shown: { connection_type: 'persistent' } }, {}, 'persistent'],
    ['another path', { uri: 'wss://gw.example.com/media' }, {}, 'has the path /media'],
  ])('names %s, and does not try it', async (_name, more, fields, message) => {
    await play({ websocketClients: { media_gw: { ...section, ...more } } });
    await connectApp();
    const findings = await examine({ ...client, ...fields });
    expect(failed(findings)).toEqual(['websocket_client']);
    expect(findings.get('websocket_client')?.message).toContain(message);
    expect(findings.get('media')?.verdict).toBe('skip');
    expectNothingLeft();
  });

  it.each([
    ['no authorities', {}, 'names no authorities'],
    [
      'another host',
      { uri: MEDIA_URI.replace('gw.', 'old.'), shown: { ca_list_file: '/ca' } },
      'leads to old.example.com',
    ],
    [
      'another password',
      { password: 'old', shown: { ca_list_file: '/ca' } },
      'has another password than the configuration',
    ],
    [
      'another user',
      { username: 'old', shown: { ca_list_file: '/ca' } },
      'has another username than the configuration',
    ],
    [
      'no subprotocol',
      { protocols: '', shown: { ca_list_file: '/ca' } },
      'has not protocols = media',
    ],
  ])('warns of %s', async (_name, more, message) => {
    await play({ websocketClients: { media_gw: { ...section, ...more } } });
    doctor.world.asterisk.faults.rest = ({ path }) =>
      path === 'channels/externalMedia' ? { status: 400, body: {} } : undefined;
    expect((await examine(client)).get('websocket_client')).toMatchObject({
      verdict: 'warn',
      message: expect.stringContaining(message),
    });
  });

  it('detects tones both ways over sockets that Asterisk opens', async () => {
    const door = new WebSocketServer({
      port: 0,
      host: '127.0.0.1',
      handleProtocols: () => 'media',
    });
    doctor.world.close.push(() => new Promise((resolve) => door.close(resolve)));
    await new Promise((resolve) => door.once('listening', resolve));
    door.on('connection', (socket) => {
      const listener = doctor.world.provider.pbx.takeSocket({
        sendText: (text) => socket.send(text),
        sendBinary: (bytes) => socket.send(bytes),
        bufferedBytes: 0,
        open: true,
        close: (code) => socket.close(code),
      });
      socket.on('message', (data: Buffer, isBinary) => {
        if (isBinary) listener.onBinary(data);
        else listener.onText(data.toString());
      });
      socket.on('close', (code) => listener.onClose(code, ''));
    });
    const { port } = door.address() as AddressInfo;
    const uri = `ws://127.0.0.1:${port}/api/v1/telephony/ws/ari`;
    await play({ websocketClients: { media_gw: { uri, protocols: 'media' } } });
    await connectApp();
    const findings = await examine(client);
    expect(findings.get('media')).toMatchObject({
      verdict: 'pass',
      message: expect.stringContaining('websocket_client, ulaw'),
    });
    expectNothingLeft();
  });

  it('names a connection without a listener at its end', async () => {
    const uri = 'ws://127.0.0.1:9/api/v1/telephony/ws/ari';
    await play({ websocketClients: { media_gw: { uri, protocols: 'media' } } });
    await connectApp();
    const findings = await examine(client);
    expect(failed(findings)).toEqual(['media']);
    expect(findings.get('media')?.message).toContain('could not open its socket to the gateway');
    expect(findings.get('media')?.advice).toContain('"Client start error"');
    expectNothingLeft();
  });
});

describe('the doctor on numbers and the dialplan', () => {
  it.each([
    ['a number that no context knows', {}, ['8'], 'numbers', 'warn', 'knows 8'],
    [
      'a number that a context knows with or without +',
      {},
      ['+15550100'],
      'numbers',
      'pass',
      '+15550100 in',
    ],
    ['no number', {}, [], 'numbers', 'warn', 'no active number'],
    [
      'an endpoint that there is not',
      { dial_template: 'PJSIP/{number}@nope' },
      [],
      'outbound',
      'fail',
      'no endpoint nope',
    ],
    [
      'an endpoint that is offline',
      { dial_template: 'PJSIP/{number}@dead' },
      [],
      'outbound',
      'warn',
      'dead is offline',
    ],
    [
      'no endpoint',
      { dial_template: 'PJSIP/{number}' },
      [],
      'outbound',
      'warn',
      'telephones of this PBX',
    ],
    [
      'the endpoint before a SIP address',
      { dial_template: 'PJSIP/dead/sip:{number}@sbc.example.com' },
      [],
      'outbound',
      'warn',
      'dead is offline',
    ],
    [
      'a peer without its password',
      { dial_template: 'IAX2/user:s3cret@peer/{number}' },
      [],
      'outbound',
      'fail',
      'IAX2/user:...@peer/{number}: there is no endpoint peer',
    ],
    [
      'a technology without endpoints',
      { dial_template: 'DAHDI/g1/{number}' },
      [],
      'outbound',
      'skip',
      'no endpoints of DAHDI',
    ],
    [
      'a context',
      { dial_template: 'Local/{number}@out-dest/n' },
      [],
      'outbound',
      'pass',
      'by the context out-dest',
    ],
    [
      'a context that there is not',
      { dial_template: 'Local/{number}@nope/n' },
      [],
      'outbound',
      'fail',
      'no context nope',
    ],
    [
      'a Local channel without /n',
      { dial_template: 'Local/{number}@out-dest' },
      [],
      'outbound',
      'warn',
      'lacks /n',
    ],
    [
      'a context of transfers',
      { transfer_context: 'agents' },
      [],
      'transfer',
      'pass',
      'has the context agents',
    ],
    [
      'no context of transfers',
      { transfer_context: 'nope' },
      [],
      'transfer',
      'fail',
      'no context nope',
    ],
  ])('names %s', async (_name, fields, numbers, key, verdict, message) => {
    await play();
    await connectApp();
    expect((await examine(fields, numbers)).get(key)).toMatchObject({
      verdict,
      message: expect.stringContaining(message),
    });
    expectNothingLeft();
  });

  // Asterisk answers 500 for a function of a module that is not loaded; the doctor missed contexts that were there.
  it('says that it cannot ask where func_dialplan is not loaded, and finds no fault', async () => {
    await play();
    await connectApp();
    doctor.world.asterisk.faults.rest = ({ query }) =>
      query.get('variable')?.startsWith('DIALPLAN_EXISTS') === true
        ? { status: 500, body: { message: 'Unable to read provided function' } }
        : undefined;
    const template = { dial_template: 'Local/{number}@out-dest/n', transfer_context: 'agents' };
    const findings = await examine(template);
    expect(verdicts(findings)).toMatchObject({
      numbers: 'warn',
      outbound: 'skip',
      transfer: 'skip',
    });
    expect(findings.get('numbers')?.advice).toContain('module load func_dialplan.so');
    expect((await examine()).get('outbound')?.verdict).toBe('pass');
    expectNothingLeft();
  });

  it('says that it cannot ask where Asterisk makes no channel', async () => {
    await play();
    doctor.world.asterisk.faults.rest = ({ path, query }) =>
      path === 'channels/externalMedia' && query.get('transport') === null
        ? { status: 501, body: { message: 'not supported' } }
        : undefined;
    expect(verdicts(await examine())).toMatchObject({ numbers: 'skip', outbound: 'skip' });
  });
});

describe('the doctor where Asterisk opens the connection', () => {
  it('says so if it has not', async () => {
    await play();
    const findings = await examine({ connection: 'incoming' });
    expect(verdicts(findings)).toEqual({ connection: 'fail' });
    expect(findings.get('connection')?.advice).toContain(`apps = ${APP}`);
  });

  it('names another program that has taken the application', async () => {
    const { world } = doctor;
    await play();
    const { state, up } = await world.ownConnection({ connection: 'incoming' });
    const down = state('down');
    const uri = `${await world.serveUpgrades('192.0.2.9')}${APP}`;
    const login = { username: 'gw', password: 'gwsecret' };
    world.close.push(world.asterisk.dialOut({ uri, protocols: 'ari', ...login, apps: [APP] }));
    await up;
    await world.connectApp();
    await down;
    const findings = await examine({ connection: 'incoming' });
    expect(verdicts(findings)).toEqual({ connection: 'pass', application: 'fail' });
    expect(findings.get('application')?.message).toContain('Another program has');
  });

  it('does not blame a login that has been corrected since', async () => {
    const { world } = doctor;
    await play();
    const { state, up } = await world.ownConnection({ connection: 'incoming' });
    const uri = `${await world.serveUpgrades('192.0.2.9')}${APP}`;
    const dialOut = (password: string) =>
      world.asterisk.dialOut({ uri, protocols: 'ari', username: 'gw', password, apps: [APP] });
    const stopWrong = dialOut('wrong');
    const isRefused = async () => {
      const { message } = (await examine({ connection: 'incoming' })).get('connection') ?? {};
      return message?.includes('with another password') === true;
    };
    await expect.poll(isRefused).toBe(true);
    stopWrong();
    const stop = dialOut('gwsecret');
    await up;
    await world.clock.advanceAsync(600_000, 1_000);
    const down = state('down');
    stop();
    world.asterisk.cutEvents();
    await down;
    const finding = (await examine({ connection: 'incoming' })).get('connection');
    expect(finding).toMatchObject({ verdict: 'fail' });
    expect(finding?.message).toMatch(/no attempt has arrived in the last five minutes/);
  });

  it('does not ask for another login where another node of the gateway has the configuration', async () => {
    const { world } = doctor;
    await play();
    const uri = `${await world.serveUpgrades('192.0.2.9')}${APP}`;
    const socket = new WebSocket(uri, 'ari');
    await new Promise((resolve) => socket.once('error', resolve));
    const { message, advice } = (await examine({ connection: 'incoming' })).get('connection') ?? {};
    expect(message).toContain('not waiting');
    expect(advice).not.toContain('password');
  });
});
