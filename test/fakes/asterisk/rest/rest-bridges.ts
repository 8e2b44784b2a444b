// ARI's /bridges: mixing bridges, who is in them, music for all of them.

import type { Bridge } from '../bridge.ts';
import type { Pbx } from '../pbx.ts';
import { noContent, ok, type Params, Refusal, type RestAnswer, type Routes } from './rest.ts';

export function bridgeRoutes(pbx: Pbx): Routes {
  const found = (id: string): Bridge => {
    const bridge = pbx.bridges.get(id);
    if (bridge === undefined) throw new Refusal(404, 'Bridge not found');
    return bridge;
  };
  const create = (id: string, params: Params): RestAnswer => {
    const types = (params.get('type') || 'mixing').split(',');
    const isKnown = types.every((type) =>
      ['mixing', 'holding', 'dtmf_events', 'proxy_media', 'video_sfu'].includes(type),
    );
    const wanted = id || `bridge-${pbx.uniqueId()}`;
    if (pbx.bridges.has(wanted)) {
      throw new Refusal(409, `Bridge with id '${wanted}' already exists`);
    }
    if (!isKnown) {
      throw new Refusal(500, `Unable to create bridge. Possible duplicate bridge id '${wanted}'`);
    }
    return ok(pbx.createBridge(wanted, params.get('name')).snapshot());
  };
  return {
    'GET bridges': () => ok([...pbx.bridges.values()].map((bridge) => bridge.snapshot())),
    'POST bridges': (_, params) => create(params.get('bridgeId'), params),
    'POST bridges/{id}': create,
    'GET bridges/{id}': (id) => ok(found(id).snapshot()),
    'DELETE bridges/{id}': (id) => {
      pbx.destroyBridge(found(id));
      return noContent;
    },
    'POST bridges/{id}/addChannel': (id, params) => {
      const bridge = found(id);
      const channels = channelsOf(pbx, params);
      if (channels.some(({ app }) => app === null)) {
        throw new Refusal(422, 'Channel not in Stasis application');
      }
      for (const channel of channels) {
        channel.absorbsDigits = params.get('absorbDTMF') === 'true';
        pbx.joinBridge(bridge, channel);
      }
      return noContent;
    },
    'POST bridges/{id}/removeChannel': (id, params) => {
      const bridge = found(id);
      const channels = channelsOf(pbx, params);
      if (channels.some((channel) => channel.bridge !== bridge)) {
        throw new Refusal(422, 'Channel not in this bridge');
      }
      for (const channel of channels) pbx.leaveBridge(channel);
      return noContent;
    },
    'POST bridges/{id}/moh': (id) => {
      found(id).setMusic(true);
      return noContent;
    },
    'DELETE bridges/{id}/moh': (id) => {
      const bridge = found(id);
      if (!bridge.hasMusic) throw new Refusal(409, "Bridge isn't playing music");
      bridge.setMusic(false);
      return noContent;
    },
  };
}

function channelsOf(pbx: Pbx, params: Params) {
  if (!params.has('channel')) throw new Refusal(400, 'Missing parameter channel');
  return params
    .get('channel')
    .split(',')
    .map((id) => {
      const channel = pbx.find(id);
      if (channel === undefined) throw new Refusal(400, 'Channel not found');
      return channel;
    });
}
