// The simulated Asterisk: what a gateway relies on. That it is like the real one is shown by
// comparison.test.ts; that others can talk to it by ari-client.test.ts.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../fake-clock.ts';
import { type FakeAsterisk, startAsterisk } from './fake-asterisk.ts';
import { pump } from './media/pump.ts';
import { type Account, AriSession, ask, idOf, MediaClient } from './scenarios/ari-session.ts';

let clock: FakeClock;
let asterisk: FakeAsterisk;
let account: Account;
let session: AriSession;
let stopClock: () => void;

beforeEach(async () => {
  clock = new FakeClock();
  asterisk = await startAsterisk({ clock, app: 'app' });
  account = { url: asterisk.url, user: 'gw', password: 'gwsecret' };
  session = await AriSession.open(account, 'app');
  stopClock = pump(clock);
});

afterEach(async () => {
  stopClock();
  session.close();
  await asterisk.stop();
});

interface Joined {
  callId: string;
  media: MediaClient;
}

/** An answered caller in a bridge with a media leg. */
async function joined(script = 'person'): Promise<Joined> {
  asterisk.placeCall({ from: '5551234', to: '8000', script });
  const callId = idOf(await session.event('StasisStart'));
  await session.ask('POST', `channels/${callId}/answer`);
  const media = await mediaLeg('leg-1');
  await session.ask('POST', 'bridges', { type: 'mixing', bridgeId: 'bridge-1' });
  await session.ask('POST', 'bridges/bridge-1/addChannel', { channel: `leg-1,${callId}` });
  return { callId, media };
}

async function mediaLeg(channelId: string): Promise<MediaClient> {
  const made = await session.ask('POST', 'channels/externalMedia', {
    app: 'app',
    format: 'ulaw',
    transport: 'websocket',
    encapsulation: 'none',
    connection_type: 'server',
    transport_data: 'f(json)',
    channelId,
  });
  const { channelvars } = made.body as { channelvars: Record<string, string> }; // As recorded.
  const media = new MediaClient(account, channelvars['MEDIA_WEBSOCKET_CONNECTION_ID'] ?? '');
  await session.event('StasisStart', channelId);
  return media;
}

describe('the simulated Asterisk', () => {
  it.each([
    ['gw', 'wrong', 'GET', 'channels', 401, 'Authentication required'],
    ['gwro', 'rosecret', 'POST', 'bridges', 403, 'Write access denied'],
    ['gw', 'gwsecret', 'GET', 'channels/none', 404, 'Channel not found'],
    ['gw', 'gwsecret', 'POST', 'channels', 400, 'Endpoint must be specified'],
    ['gw', 'gwsecret', 'GET', 'nothing', 404, 'Resource not found'],
    ['gw', 'gwsecret', 'GET', 'asterisk/modules/chan_x.so', 404, /could not be found/],
  ])('answers %s/%s %s %s with %i', async (user, password, method, path, status, message) => {
    const reply = await ask({ url: asterisk.url, user, password }, { method, path });
    expect(reply).toEqual({ status, body: { message: expect.stringMatching(message) } });
  });

  it('joins a caller and a media leg: audio goes both ways, marks return when played', async () => {
    const { media } = await joined('tone');
    media.socket.send(Buffer.alloc(1_600, 0x10));
    media.socket.send('{"command":"MARK_MEDIA","correlation_id":"m1"}');
    await media.until(() => media.texts.some((text) => text.includes('"m1"')));
    await media.until(() => media.frames.length >= 10);
    const loud = asterisk.phone('tone').heard.filter(({ pcm }) => pcm[0] !== 0);
    expect(loud).toHaveLength(10);
    expect(media.frames.every(({ length }) => length === 160)).toBe(true);
  });

  it('refuses to bridge a media leg before its StasisStart', async () => {
    await session.ask('POST', 'bridges', { type: 'mixing', bridgeId: 'bridge-1' });
    await session.ask('POST', 'channels/externalMedia', {
      app: 'app',
      format: 'ulaw',
      transport: 'websocket',
      encapsulation: 'none',
      connection_type: 'server',
      channelId: 'leg-1',
    });
    const reply = await session.ask('POST', 'bridges/bridge-1/addChannel', { channel: 'leg-1' });
    expect(reply).toEqual({ status: 422, body: { message: 'Channel not in Stasis application' } });
  });

  it('keeps the media leg and the bridge when the caller hangs up', async () => {
    const { callId } = await joined();
    asterisk.phone('person').hangUp();
    await session.event('StasisEnd', callId);
    expect(asterisk.channels.map(({ id }) => id)).toEqual(['leg-1']);
    expect(asterisk.bridgeIds).toEqual(['bridge-1']);
    expect(session.events.some(({ type }) => type === 'ChannelDestroyed')).toBe(false);
  });

  it('ends the media leg when its socket closes, and leaves the caller in silence', async () => {
    const { callId, media } = await joined();
    media.socket.close(1000);
    await session.event('ChannelDestroyed', 'leg-1');
    const ofLeg = session.events.filter(
      (event) => idOf(event) === 'leg-1' && event.type !== 'ChannelVarset',
    );
    expect(ofLeg.slice(-4)).toMatchObject([
      { type: 'ChannelHangupRequest', cause: 16, tech_cause: 1001 },
      { type: 'ChannelLeftBridge' },
      { type: 'StasisEnd' },
      { type: 'ChannelDestroyed', cause: 0, tech_cause: 1001 },
    ]);
    expect(asterisk.channels.map(({ id }) => id)).toEqual([callId]);
  });

  it('notifies the old owner of an application that it was replaced, and sends it nothing more', async () => {
    const second = await AriSession.open(account, 'app');
    await session.event('ApplicationReplaced');
    asterisk.placeCall({ from: '5551234', to: '8000' });
    await second.event('StasisStart');
    expect(session.events.map(({ type }) => type)).toEqual(['ApplicationReplaced']);
    expect(session.isOpen).toBe(true);
    second.close();
  });

  it('holds calls while the event socket is away, and replays nothing', async () => {
    const { callId } = await joined();
    asterisk.cutEvents();
    asterisk.phone('person').press('5');
    const again = await AriSession.open(account, 'app');
    const listed = await again.ask('GET', 'channels');
    expect(listed.body).toMatchObject([{ id: callId, state: 'Up' }, { id: 'leg-1' }]);
    asterisk.phone('person').press('6');
    await again.event('ChannelDtmfReceived');
    expect(again.events).toMatchObject([{ type: 'ChannelDtmfReceived', digit: '6' }]);
    again.close();
  });

  it('takes an id for used if one in use begins with it, for any letter case', async () => {
    const dial = (channelId: string) =>
      session.ask('POST', 'channels', {
        endpoint: 'Local/quiet@caller-sim/n',
        app: 'app',
        channelId,
      });
    expect((await dial('pfx-12')).status).toBe(200);
    expect((await dial('pfx-1')).status).toBe(409);
    expect((await dial('PFX-12')).status).toBe(409);
    expect((await dial('pfx-123')).status).toBe(200);
  });

  it('crashes on a duplicate id of a media leg, as Asterisk up to 22.10 does', async () => {
    await mediaLeg('leg-1');
    await mediaLeg('leg-1').catch(() => undefined);
    expect(asterisk.complaints).toEqual([expect.stringContaining('taken')]);
    expect(asterisk.channels).toEqual([]);
  });

  it('reports a channel that enters an application to that application alone', async () => {
    const other = await AriSession.open(account, 'other');
    const variables = { ['__TARGET']: 'other' };
    const query = { endpoint: 'Local/8000@pbx-in/n', app: 'app', channelId: 'call-1' };
    await session.ask('POST', 'channels', query, { variables });
    expect(idOf(await other.event('StasisStart'))).toBe('call-1;2');
    await other.ask('POST', 'channels/call-1;2/answer');
    await session.event('StasisStart', 'call-1');
    const started = session.events.filter(({ type }) => type === 'StasisStart');
    expect(started.map(idOf)).toEqual(['call-1']);
    other.close();
  });
});
