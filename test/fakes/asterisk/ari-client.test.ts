// The independent oracle: npm `ari-client` 2.2.0, the client that Asterisk's own project publishes, works
// against the simulator as it does against Asterisk. It is never used by the gateway: it gives up after 43 s
// without a PBX, and dies of an event that it does not know (asterisk §5).

import { createRequire } from 'node:module';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../fake-clock.ts';
import { type FakeAsterisk, startAsterisk } from './fake-asterisk.ts';
import { pump } from './media/pump.ts';
import { MediaClient } from './scenarios/ari-session.ts';

interface Resource {
  id: string;
  [field: string]: unknown;
}

type Operation = (options?: Record<string, unknown>) => Promise<Resource & Resource[]>;

interface Client {
  start(app: string): Promise<void>;
  stop(): void;
  on(type: string, listener: (event: Record<string, unknown>, resource: Resource) => void): void;
  channels: Record<string, Operation>;
  bridges: Record<string, Operation>;
  applications: Record<string, Operation>;
  asterisk: Record<string, Operation>;
}

const require = createRequire(import.meta.url);
// The package has no types; these are of its documentation.
const ariClient: { connect(url: string, user: string, password: string): Promise<Client> } =
  require('ari-client');

const EVENTS = [
  'StasisStart',
  'StasisEnd',
  'Dial',
  'ChannelStateChange',
  'ChannelEnteredBridge',
  'ChannelLeftBridge',
  'ChannelDtmfReceived',
  'ChannelHangupRequest',
  'ChannelDestroyed',
];

let asterisk: FakeAsterisk;
let client: Client;
let seen: { type: string; id: string }[];
let stopClock: () => void;

beforeEach(async () => {
  const clock = new FakeClock();
  asterisk = await startAsterisk({ clock, app: 'oracle' });
  client = await ariClient.connect(asterisk.url, 'gw', 'gwsecret');
  seen = [];
  for (const type of EVENTS) {
    client.on(type, (_, resource) => {
      // A single resource, or several by their names (bridge and channel).
      const subject = (resource['channel'] ?? resource) as Resource;
      seen.push({ type, id: subject.id });
    });
  }
  await client.start('oracle');
  stopClock = pump(clock);
});

afterEach(async () => {
  stopClock();
  client.stop();
  await asterisk.stop();
});

async function event(type: string, id?: string): Promise<{ type: string; id: string }> {
  const timeUp = AbortSignal.timeout(10_000);
  for (;;) {
    const found = seen.find((each) => each.type === type && (id ?? each.id) === each.id);
    if (found !== undefined) return found;
    timeUp.throwIfAborted();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('ari-client against the simulated Asterisk', () => {
  it('builds itself from the description and asks who is there', async () => {
    expect(await client.asterisk['getInfo']?.()).toMatchObject({ system: { version: '22.10.1' } });
    expect(await client.applications['list']?.()).toMatchObject([{ name: 'oracle' }]);
  });

  it('dials, and gets the event of the answer', async () => {
    const made = await client.channels['originate']?.({
      endpoint: 'PJSIP/answer@loop',
      app: 'oracle',
      appArgs: 'out,7',
      channelId: 'call-1',
    });
    expect(made).toMatchObject({ id: 'call-1', state: 'Down' });
    await event('StasisStart', 'call-1');
    await client.channels['hangup']?.({ channelId: 'call-1' });
    await event('ChannelDestroyed', 'call-1');
    expect(seen.map(({ type }) => type)).toEqual([
      'Dial',
      'ChannelStateChange',
      'Dial',
      'ChannelStateChange',
      'Dial',
      'StasisStart',
      'ChannelHangupRequest',
      'StasisEnd',
      'ChannelDestroyed',
    ]);
  });

  it('answers a caller and joins it with external media', async () => {
    const phone = asterisk.placeCall({ from: '5551234', to: '8000', script: 'dtmf' });
    const { id } = await event('StasisStart');
    await client.channels['answer']?.({ channelId: id });
    const leg = await client.channels['externalMedia']?.({
      app: 'oracle',
      channelId: 'leg-1',
      format: 'slin16',
      transport: 'websocket',
      encapsulation: 'none',
      connection_type: 'server',
      variables: { variables: { RUN: '7' } },
    });
    const variables = leg?.['channelvars'] as Record<string, string>; // As recorded.
    expect(variables).toMatchObject({ RUN: '7', MEDIA_WEBSOCKET_OPTIMAL_FRAME_SIZE: '640' });
    const account = { url: asterisk.url, user: 'gw', password: 'gwsecret' };
    const media = new MediaClient(account, variables['MEDIA_WEBSOCKET_CONNECTION_ID'] ?? '');
    await event('StasisStart', 'leg-1');
    await client.bridges['create']?.({ type: 'mixing', bridgeId: 'bridge-1' });
    await client.bridges['addChannel']?.({ bridgeId: 'bridge-1', channel: `leg-1,${id}` });
    await event('ChannelEnteredBridge', id);
    media.socket.send(Buffer.alloc(640, 0x11));
    await event('ChannelDtmfReceived', id);
    await media.until(() => media.texts.some((text) => text.startsWith('DTMF_END')));
    expect(phone.arrivals).toHaveLength(1);
    phone.hangUp();
    await event('StasisEnd', id);
    await client.channels['hangup']?.({ channelId: 'leg-1' });
    await client.bridges['destroy']?.({ bridgeId: 'bridge-1' });
    expect(asterisk.bridgeIds).toEqual([]);
  });

  it('gets the reason of a refused request', async () => {
    const asked = client.channels['answer']?.({ channelId: 'none' });
    await expect(asked).rejects.toThrow('{"message":"Channel not found"}');
  });
});
