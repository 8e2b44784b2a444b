// Scenarios of the comparison in which a channel is made first and dialled then, so that what sounds before an
// answer can be heard.

import type { Scenario, Stage } from './scenario.ts';

function created(endpoint: string, act: (stage: Stage, id: string) => Promise<void>): Scenario {
  return async (stage) => {
    const channelId = stage.id('call');
    await stage.ask('POST', 'channels/create', {
      endpoint,
      app: stage.app,
      appArgs: 'x',
      channelId,
    });
    await stage.event('StasisStart', channelId);
    await stage.ask('POST', `channels/${channelId}/dial`, { timeout: '10' });
    await act(stage, channelId);
    await stage.event('ChannelDestroyed', channelId);
  };
}

/** A channel of ours is in a bridge with a media leg before anybody answers. */
function heardEarly(
  endpoint: string,
  timeoutS: number,
  act: (stage: Stage, id: string) => Promise<void>,
): Scenario {
  return async (stage) => {
    const channelId = stage.id('call');
    const query = { endpoint, app: stage.app, appArgs: 'x', channelId };
    const caller = '"Bob" <5551234>';
    const variables = { ['CONNECTEDLINE(all)']: caller, ['CALLERID(all)']: caller };
    await stage.ask('POST', 'channels/create', query, { variables });
    await stage.event('StasisStart', channelId);
    await stage.ask('DELETE', `channels/${channelId}/silence`);
    await stage.ask('POST', `channels/${channelId}/dial`, { timeout: String(timeoutS) });
    await stage.dialStatus('PROGRESS', channelId);
    await stage.ask('POST', `channels/${channelId}/answer`);
    const { id: leg, media: socket } = await stage.mediaLeg('leg');
    const bridge = stage.id('bridge');
    await stage.ask('POST', 'bridges', { type: 'mixing', bridgeId: bridge });
    await stage.ask('POST', `bridges/${bridge}/addChannel`, { channel: `${channelId},${leg}` });
    await stage.heard(socket, 10);
    await act(stage, channelId);
    await stage.event('ChannelDestroyed', channelId);
    await stage.ask('DELETE', `channels/${leg}`);
    await stage.event('ChannelDestroyed', leg);
    await stage.ask('DELETE', `bridges/${bridge}`);
  };
}

const hungUp = async (stage: Stage, id: string): Promise<void> => {
  await stage.ask('DELETE', `channels/${id}`);
};

export const madeCalls: Readonly<Record<string, Scenario>> = {
  'create-early': created('Local/early@out-dest/n', async (stage, id) => {
    await stage.place.pause(500);
    await stage.ask('DELETE', `channels/${id}`);
  }),
  'create-instant': created('PJSIP/instant@loop', async (stage, id) => {
    await stage.place.pause(300);
    await stage.ask('POST', `channels/${id}/redirect`, { endpoint: 'Local/x@y' });
    await stage.ask('POST', `channels/${id}/redirect`, { endpoint: 'foo' });
    await stage.ask('DELETE', `channels/${id}`);
  }),
  'create-reject': created('Local/reject@out-dest/n', () => Promise.resolve()),
  ...Object.fromEntries(
    ['busy', 'busynow', 'congestion', 'noroute', 'nosuch'].map((name) => [
      `create-${name}-local`,
      created(`Local/${name}@out-dest/n`, () => Promise.resolve()),
    ]),
  ),
  'create-congestion-pjsip': created('PJSIP/congestion@loop', () => Promise.resolve()),
  'create-nosuch-pjsip': created('PJSIP/nosuch@loop', () => Promise.resolve()),
  'create-busy-pjsip': created('PJSIP/busy@loop', () => Promise.resolve()),
  'early-media-answered': heardEarly('PJSIP/early@loop', 20, async (stage, id) => {
    await stage.dialStatus('ANSWER', id);
    await stage.ask('DELETE', `channels/${id}/silence`);
    await hungUp(stage, id);
  }),
  'early-media-answered-local': heardEarly('Local/early@out-dest/n', 20, async (stage, id) => {
    await stage.dialStatus('ANSWER', id);
    await hungUp(stage, id);
  }),
  'early-media-hung-up': heardEarly('PJSIP/early@loop', 20, hungUp),
  'early-media-until-time-is-up': heardEarly('PJSIP/early@loop', 1, () => Promise.resolve()),
};
