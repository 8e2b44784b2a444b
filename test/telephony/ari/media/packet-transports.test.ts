// Audio of Asterisks without media websockets, over loopback, against a played one. Source: asterisk §3.

import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../src/std/random.ts';
import { packetTransports } from '../../../../src/telephony/ari/media/packet-transports.ts';
import { ariProvider } from '../../../../src/telephony/ari/provider.ts';
import type { ProviderCredentials } from '../../../../src/telephony/provider/terms.ts';
import { createAudioSocketServer } from '../../../../src/transport/audiosocket/audiosocket-server.ts';
import { createRtpPorts } from '../../../../src/transport/rtp/rtp-ports.ts';
import { startAsterisk } from '../../../fakes/asterisk/fake-asterisk.ts';
import { pump } from '../../../fakes/asterisk/media/pump.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import {
  APP,
  atEnd,
  credentialsOf,
  cut,
  gateway,
  isUp,
  nothingLeft,
  patient,
  rings,
  type Table,
  talks,
  until,
} from '../ari-harness.ts';

/** A gateway with ports for packets. `host`: what the PBX is told. */
async function table(
  credentials: ProviderCredentials,
  { version = '22.10.1', host = '127.0.0.1', hasAudioSocket = true } = {},
): Promise<Table> {
  const clock = new FakeClock();
  const asterisk = await startAsterisk({ clock, app: APP, version });
  atEnd(() => asterisk.stop());
  const { log } = quietLog();
  const at = { host: '127.0.0.1', clock, log };
  const ports = { first: 31_300, last: 31_399 };
  const rtp = createRtpPorts({ ...at, ports, random: systemRandom });
  const audioSockets = createAudioSocketServer({ ...at, port: 0 });
  await audioSockets.listen();
  atEnd(() => audioSockets.close());
  atEnd(() => rtp.close());
  atEnd(pump(clock));
  const packets = { host, rtp, audioSockets: hasAudioSocket ? audioSockets : undefined };
  const provider = ariProvider.create({ clock, random: systemRandom, packets });
  const made = gateway(clock, credentialsOf(asterisk, credentials), provider);
  await isUp(made);
  return { clock, asterisk, ...made };
}

const mediaRequests = ({ asterisk }: Table) =>
  asterisk.requests.filter(({ path }) => path.endsWith('externalMedia'));
/** How often it was asked whether a media channel is still there. */
const looks = ({ asterisk }: Table) =>
  asterisk.requests.filter(
    ({ method, path }) => method === 'GET' && /channels\/pb[0-9a-f]{8}m/.test(path),
  ).length;

describe('audio in packets', () => {
  it.each([
    ['rtp', 'auto', 'PCMU', 160],
    ['rtp', 'alaw', 'PCMA', 160],
    ['rtp', 'g722', 'G722', 160],
    ['audiosocket', 'auto', 'L16', 320],
    ['audiosocket', 'slin16', 'L16/16000', 640],
  ])('goes both ways over %s as %s', async (media, format, codec, bytes) => {
    const at = await table({ media, media_format: format });
    const { audio, phone } = await talks(at, 'tone');
    expect(audio.starts).toMatchObject([{ codecIn: codec, codecOut: codec }]);
    await until(() => audio.frames.length >= 20, 'the tone');
    expect(new Set(audio.frames.map(({ length }) => length))).toEqual(new Set([bytes]));
    audio.say(3);
    await until(() => phone.arrivals.length >= 3, 'our voice');
    phone.hangUp();
    await until(() => audio.closedWith !== null, 'the end');
    await nothingLeft(at);
    expect(at.asterisk.complaints).toEqual([]);
  });

  it('is asked for as Asterisk wants it', async () => {
    const rtp = await table({ media: 'rtp' });
    await talks(rtp);
    expect(mediaRequests(rtp)[0]?.query).toMatchObject({
      external_host: expect.stringMatching(/^127\.0\.0\.1:313\d\d$/),
      format: 'ulaw',
      transport: 'udp',
      encapsulation: 'rtp',
    });
    const tcp = await table({ media: 'audiosocket' });
    await talks(tcp);
    expect(mediaRequests(tcp)[0]?.query).toMatchObject({
      data: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      format: 'slin',
      transport: 'tcp',
      encapsulation: 'audiosocket',
    });
  });

  it.each([
    ['16.28.0', true, 'rtp'],
    ['18.20.0', true, 'audiosocket'],
    ['18.20.0', false, 'rtp'],
    ['20.7-cert4', true, 'audiosocket'],
  ])('is what Asterisk %s has (AudioSocket here: %s): %s', async (version, hasAudioSocket, way) => {
    const at = await table({}, { version, hasAudioSocket });
    const { audio } = await talks(at, 'tone');
    await until(() => audio.frames.length > 2, 'audio');
    expect(mediaRequests(at)[0]?.query['encapsulation']).toBe(way);
  });

  it('has keys once, though AudioSocket reports them too', async () => {
    const at = await table({ media: 'audiosocket' });
    const { audio, phone } = await talks(at, 'tone');
    phone.press('5');
    await until(() => audio.digits !== '', 'the key');
    const before = audio.frames.length;
    await until(() => audio.frames.length > before + 5, 'what follows');
    expect(audio.digits).toBe('5');
  });

  it.each(['rtp', 'audiosocket'])('over %s is there again when its channel ends', async (media) => {
    const at = await table({ media });
    const { audio, phone } = await talks(at, 'tone');
    await until(() => audio.frames.length > 2, 'audio');
    const id = mediaRequests(at)[0]?.query['channelId'] ?? '';
    await cut(at, id);
    await until(() => mediaRequests(at).length === 2, 'another channel');
    const before = { in: audio.frames.length, out: phone.arrivals.length };
    await until(() => audio.frames.length > before.in + 5, 'audio again');
    audio.say(2);
    await until(() => phone.arrivals.length > before.out, 'our voice again');
    expect(audio.starts).toHaveLength(1);
    expect(audio.closedWith).toBeNull();
    phone.hangUp();
    await nothingLeft(at);
  });

  it('over RTP is left alone while the caller is silent', async () => {
    const at = await table({ media: 'rtp' });
    const { audio, phone } = await talks(at, 'quiet');
    await until(() => looks(at) >= 5, 'looks');
    expect(mediaRequests(at)).toHaveLength(1);
    expect(audio.closedWith).toBeNull();
    phone.hangUp();
    await nothingLeft(at);
  });

  it('over RTP is replaced when Asterisk has removed it without an event', async () => {
    const at = await table({ media: 'rtp' });
    const id = () => mediaRequests(at)[0]?.query['channelId'] ?? '-';
    at.asterisk.faults.rest = ({ method, path }) =>
      method === 'GET' && path.includes(id()) ? { status: 404, body: null } : undefined;
    const { audio } = await talks(at, 'quiet');
    await until(() => mediaRequests(at).length === 2, 'another channel');
    expect(audio.closedWith).toBeNull();
  });

  it('that Asterisk cannot open names what to check, and nothing is left', async () => {
    const at = await table({ media: 'audiosocket' }, { host: '127.0.0.9' });
    const { call } = await rings(at);
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toMatchObject({
      code: 'PBX_MEDIA',
      message: expect.stringContaining('PATCHBAY_MEDIA_HOST'),
    });
    await nothingLeft(at);
  });

  it('that is refused for its address leaves nothing that waits for a connection', async () => {
    const expected: string[] = [];
    const server = { port: 9_092, expect: (uuid: string) => expected.push(uuid) };
    const deps = { clock: new FakeClock(), egress: { allows: () => true } };
    const packets = { host: 'localhost', rtp: {}, audioSockets: server } as never;
    const { audiosocket } = packetTransports(packets, deps);
    const account = { ari_endpoint: 'http://192.0.2.7:8088', connection: 'outgoing' };
    const peer = { account, random: systemRandom } as never;
    const accept = () => expect.fail('nothing connects');
    const options = { peer, channelId: 'm', format: 'slin', accept, gone: patient };
    await expect(audiosocket?.open(options, patient)).rejects.toMatchObject({ code: 'PBX_MEDIA' });
    expect(expected).toEqual([]);
  });

  it('is not to be had over AudioSocket where no port is set for it', async () => {
    const at = await table({ media: 'audiosocket' }, { hasAudioSocket: false });
    const { call } = await rings(at);
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toMatchObject({
      code: 'PBX_MEDIA',
      message: expect.stringContaining('PATCHBAY_AUDIOSOCKET_PORT'),
    });
    await nothingLeft(at);
  });
});
