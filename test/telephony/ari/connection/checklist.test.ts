// The twenty things that a connector to Asterisk must get right, one test each, in the order of asterisk
// §0, measured against a real Asterisk 22.10.1. That the played one has these faults: fake-asterisk-faults.

import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { systemRandom } from '../../../../src/std/random.ts';
import { AriMediaSession } from '../../../../src/telephony/ari/media/ari-media-session.ts';
import { PACKET_TRAITS } from '../../../../src/telephony/ari/media/packet-transports.ts';
import { SOCKET_TRAITS } from '../../../../src/telephony/ari/media/websocket-transports.ts';
import { createChannelIds } from '../../../../src/telephony/ari/rest/channel-ids.ts';
import { accountOf } from '../../../../src/telephony/ari/rest/config.ts';
import { connectMedia } from '../../../../src/transport/websocket/websocket-client.ts';
import { AriSession } from '../../../fakes/asterisk/scenarios/ari-session.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import {
  Audio,
  atEnd,
  clientTable,
  credentialsOf,
  cut,
  isUp,
  legOf,
  nothingLeft,
  patient,
  rings,
  table,
  talks,
  until,
} from '../ari-harness.ts';

const deaf = { onText: () => undefined, onBinary: () => undefined, onClose: () => undefined };

/** A session with a websocket to nowhere. */
function alone() {
  const sent: string[] = [];
  const unwatched = () => undefined;
  const media = new AriMediaSession({
    callId: '1',
    traits: SOCKET_TRAITS,
    listener: { onClosed: unwatched, onLost: unwatched, onQueue: unwatched },
    clock: new FakeClock(),
    log: quietLog().log,
  });
  const from = media.attachTransport({
    sendText: (message) => void sent.push(message),
    sendBinary: unwatched,
    close: unwatched,
    bufferedBytes: 0,
    open: true,
  });
  return { media, sent, from };
}

describe("asterisk.md's list", () => {
  it('1. the media socket is always read, also before it has a listener', async () => {
    const at = await table();
    const { call, phone } = await rings(at, 'tone');
    const media = await at.connection.openMedia(call.callId, patient);
    await at.clock.advanceAsync(30_000, 200);
    expect(at.asterisk.media.websockets.map(({ isUnread }) => isUnread)).toEqual([false]);
    const other = await talks(at); // A PBX that waits for us makes no channel.
    other.audio.close();
    new Audio(media).close();
    await phone.ended;
  });

  it('2. an upgrade is answered at once, for any client, and checked afterwards', async () => {
    const at = await clientTable();
    const { uri } = at.asterisk.media.clients.get('gw') ?? { uri: '' };
    const stranger = new WebSocket(uri, 'media');
    await new Promise((resolve) => stranger.once('open', resolve));
    const closed = new Promise<number>((resolve) => stranger.once('close', resolve));
    stranger.send('{"event":"MEDIA_START","channel_id":"guessed","format":"ulaw"}');
    expect(await closed).toBe(4_401);
    const silent = new WebSocket(uri, 'media');
    expect(await new Promise((resolve) => silent.once('close', resolve))).toBe(1_008);
  });

  it('3. whose a socket is says the channel that we named, not what is in its address', async () => {
    const at = await clientTable();
    at.asterisk.faults.crossedVariables = true;
    const [one, two] = [await talks(at), await talks(at)];
    one.audio.say(3);
    await until(() => one.phone.arrivals.length === 3, 'the first');
    expect(two.phone.arrivals).toHaveLength(0);
    const asked = at.asterisk.requests.filter(({ path }) => path.endsWith('externalMedia'));
    expect(asked.map(({ query }) => query['transport_data'])).toEqual(['f(json)', 'f(json)']);
  });

  it('4. ids are of one length and begin with no other', () => {
    const ids = createChannelIds('app', systemRandom);
    const made = Array.from({ length: 500 }, (_, nth) => [
      ids.outbound(String(nth)),
      ids.make('m'),
      ids.make('b'),
    ]).flat();
    expect(new Set(made.map(({ length }) => length)).size).toBe(1);
    expect(new Set(made.map((id) => id.toLowerCase())).size).toBe(made.length);
  });

  it('5. nothing is asked for that ends Asterisk', async () => {
    const at = await table();
    const credentials = credentialsOf(at.asterisk, { media_format: 'ulaw)f(xml' });
    expect(() => accountOf(credentials)).toThrow();
    const talk = await talks(at);
    await cut(at, legOf(at).channelId);
    talk.phone.press('1');
    await until(() => talk.audio.digits === '1', 'the key');
    await until(() => at.asterisk.media.websockets.length === 2, 'the next leg');
    talk.audio.close();
    await nothingLeft(at);
    const named = at.asterisk.requests
      .filter(({ method }) => method === 'POST')
      .flatMap(({ query }) => query['channelId'] ?? []);
    expect(new Set(named).size).toBe(named.length);
    expect(at.asterisk.complaints).toEqual([]);
  });

  it('6. no message is longer than what goes in one piece', async () => {
    const at = await table({ credentials: { media_format: 'slin16' } });
    const { audio } = await talks(at);
    audio.media.audio(new Uint8Array(40 * 640));
    audio.mark('end');
    await until(() => audio.marks.length > 0, 'the mark');
    expect(legOf(at)).toMatchObject({ deliveredFrames: 40 });
    expect(at.asterisk.complaints).toEqual([]);
  });

  it('7. no message is sent in fragments', async () => {
    const first: number[] = [];
    const url = await frameServer((bytes) => first.push(...firstBytes(bytes)));
    const { log } = quietLog();
    const options = { url, protocol: 'media', clock: new FakeClock(), log };
    await connectMedia(
      options,
      (socket) => {
        socket.sendText('{"command":"GET_STATUS"}');
        socket.sendBinary(new Uint8Array(1_280));
        return deaf;
      },
      patient,
    );
    await until(() => first.length === 2, 'both');
    expect(first).toEqual([0x81, 0x82]); // Final and text, final and binary.
  });

  it('8. no command is longer than Asterisk reads', () => {
    const { media, sent } = alone();
    for (let length = 0; length < 300; length += 7) media.mark('x'.repeat(length));
    expect(Math.max(...sent.map((message) => message.length))).toBeLessThanOrEqual(128);
    media.mark('12:utterance-17:3');
    expect(sent.at(-1)).toContain('12:utterance-17:3');
  });

  it('9. audio goes in whole frames', async () => {
    const at = await table();
    const { audio } = await talks(at);
    audio.media.audio(new Uint8Array(160 * 25));
    audio.mark('end');
    await until(() => audio.marks.length > 0, 'the mark');
    expect(legOf(at).queue.droppedBytes).toBe(0);
    expect(legOf(at).deliveredFrames).toBe(25);
  });

  it('10. what is sent ahead is bounded by us, and a full queue is borne', async () => {
    expect(SOCKET_TRAITS.lead.maxMs).toBeLessThanOrEqual(500);
    const at = await table();
    const { audio, phone } = await talks(at);
    audio.say(950); // MEDIA_XOFF, later MEDIA_XON.
    await until(() => legOf(at).deliveredFrames > 200, 'the words');
    expect(phone.isOver).toBe(false);
    audio.clear();
    await until(() => legOf(at).queue.status.queue_length === 0, 'the empty queue');
  });

  it('11. a queue that stays behind is emptied when neither side speaks', async () => {
    const at = await table();
    const { audio } = await talks(at);
    at.asterisk.faults.lostBeats = 500;
    audio.say(40);
    await until(() => legOf(at).queue.status.queue_length === 0, 'the empty queue');
    expect(legOf(at).deliveredFrames).toBe(0);
  });

  it('12. marks that went with a clear are not waited for', async () => {
    const at = await table();
    const { audio } = await talks(at);
    audio.say(50);
    audio.mark('lost');
    audio.clear();
    expect(audio.dropped).toEqual(['lost']);
    audio.mark('next');
    await until(() => audio.marks.length > 0, 'the mark');
    expect(audio.marks).toEqual(['next']);
  });

  it('13. frames are no clock: none may come, and short ones', async () => {
    const at = await table();
    const { audio } = await talks(at, 'silent');
    await at.clock.advanceAsync(60_000, 500);
    expect(audio.frames).toEqual([]);
    expect(audio.closedWith).toBeNull();
    const { media, from } = alone();
    const short = new Audio(media);
    from.onText('{"event":"MEDIA_START","channel_id":"m1","format":"ulaw"}');
    from.onBinary(new Uint8Array(12));
    expect(short.frames.map(({ length }) => length)).toEqual([12]);
  });

  it('14. Asterisk sets the pace of its socket; of packets we do', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    audio.say(50);
    await until(() => phone.arrivals.length === 50, 'the words');
    const [first, last] = [phone.arrivals[0]?.atMs ?? 0, phone.arrivals.at(-1)?.atMs ?? 0];
    expect(last - first).toBe(49 * 20);
    expect(PACKET_TRAITS.marks).toBe(false);
    expect(PACKET_TRAITS.lead.maxMs).toBeLessThanOrEqual(100);
  });

  it('15. nothing can be said before the media are in the bridge', async () => {
    const at = await table();
    let isHeld = true;
    at.asterisk.faults.rest = ({ path }) =>
      path.endsWith('addChannel') && isHeld ? 'hang' : undefined;
    const { call } = await rings(at);
    const giveUp = new AbortController();
    let isOpen = false;
    const opening = at.connection.openMedia(call.callId, giveUp.signal).then(() => {
      isOpen = true;
    });
    opening.catch(() => undefined); // It is given up.
    await until(() => at.asterisk.requests.some(({ path }) => path.endsWith('addChannel')));
    await at.clock.advanceAsync(500);
    expect(isOpen).toBe(false);
    giveUp.abort(new Error('enough'));
    await expect(opening).rejects.toThrow();
    isHeld = false;
    const { audio } = await talks(at);
    audio.say(5);
    await until(() => legOf(at).deliveredFrames === 5, 'the words');
    expect(legOf(at).lostFrames).toBe(0);
  });

  it.each([true, false])(
    '16. nothing is joined before it is ours (early events: %s)',
    async (early) => {
      const at = await table();
      at.asterisk.faults.eventsBeforeAnswer = early;
      const held: Parameters<typeof at.asterisk.stasis.tap>[0][] = [];
      at.asterisk.stasis.tap = (event) => {
        if (event.type !== 'StasisStart' || at.harness.inbound.length === 0) return [event];
        held.push(event);
        return [];
      };
      const talking = talks(at);
      await until(() => held.length > 0, 'the news that are held');
      await at.clock.advanceAsync(500);
      const joins = () => at.asterisk.requests.filter(({ path }) => path.endsWith('addChannel'));
      expect(joins()).toEqual([]);
      at.asterisk.stasis.tap = (event) => [...held.splice(0), event];
      at.asterisk.placeCall({ from: '1', to: '8000' }); // Brings the news along.
      await talking;
      expect(joins().map(({ status }) => status)).toEqual([204]);
    },
  );

  it("17. a media socket that breaks is replaced; a caller's hang-up ends all channels", async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    await cut(at, legOf(at).channelId);
    await until(() => at.asterisk.media.websockets.length === 2, 'the next leg');
    phone.hangUp();
    await until(() => audio.closedWith !== null, 'the end');
    await nothingLeft(at);
  });

  it('18. StasisEnd is the last event of a caller', async () => {
    const at = await table();
    at.asterisk.stasis.tap = (event) =>
      event.type === 'ChannelDestroyed' || event.type === 'ChannelHangupRequest' ? [] : [event];
    const { callId, phone } = await talks(at);
    phone.hangUp();
    await until(() => at.harness.of(callId).includes('completed'), 'the end');
    await nothingLeft(at);
  });

  it('19. what was missed is looked up; an application that is taken is not fought over', async () => {
    const at = await table();
    const { callId, phone } = await talks(at);
    at.asterisk.stasis.tap = () => [];
    phone.hangUp();
    await phone.ended;
    at.asterisk.cutEvents();
    at.asterisk.stasis.tap = (event) => [event];
    await until(() => at.harness.of(callId).includes('completed'), 'the end');
    await isUp(at);
    const account = { url: at.asterisk.url, user: 'gw', password: 'gwsecret' };
    const other = await AriSession.open(account, 'app');
    atEnd(() => other.close());
    await until(() => at.connection.state.kind === 'down', 'the news');
    expect(at.connection.state).toMatchObject({ code: 'PBX_APP_TAKEN' });
  });

  it('20. a key is reported once', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    phone.press('5');
    phone.press('5');
    await until(() => audio.digits.length >= 2, 'the keys');
    await at.clock.advanceAsync(500);
    expect(audio.digits).toBe('55');
  });
});

/** A websocket server that shows the bytes as they come. */
async function frameServer(take: (bytes: Buffer) => void): Promise<string> {
  const server = createServer();
  server.on('upgrade', (request, socket: Duplex) => {
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: media\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    let bytes = Buffer.alloc(0);
    socket.on('data', (data: Buffer) => {
      bytes = Buffer.concat([bytes, data]);
      if (bytes.length === 30 + 1_288) take(bytes); // Headers of 6 and 8 bytes, and both payloads.
    });
    atEnd(() => socket.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  atEnd(() => server.close());
  const { port } = server.address() as AddressInfo; // Of a TCP server.
  return `ws://127.0.0.1:${port}/`;
}

/** First byte of each masked frame, found by the lengths in their headers. */
function firstBytes(bytes: Buffer): number[] {
  const found: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    found.push(bytes[at] ?? 0);
    const short = (bytes[at + 1] ?? 0) & 0x7f;
    at += short < 126 ? 6 + short : 8 + bytes.readUInt16BE(at + 2);
  }
  return found;
}
