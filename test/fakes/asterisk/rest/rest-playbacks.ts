// ARI's playing of a tone to a bridge, and /playbacks, by which it ends. Only endless tones are played here.

import type { Bridge } from '../bridge.ts';
import type { Pbx } from '../pbx.ts';
import { noContent, ok, type Params, Refusal, type RestAnswer, type Routes } from './rest.ts';

interface Playback {
  bridge: Bridge;
  mediaUri: string;
}

export function playbackRoutes(pbx: Pbx): Routes {
  const all = new Map<string, Playback>();
  const found = (id: string): Playback => {
    const playback = all.get(id);
    const isThere =
      playback !== undefined && pbx.bridges.get(playback.bridge.id) === playback.bridge;
    if (!isThere) throw new Refusal(404, 'Playback not found');
    return playback;
  };
  const shown = (id: string, state: string): object => {
    const { bridge, mediaUri } = found(id);
    return { id, media_uri: mediaUri, target_uri: `bridge:${bridge.id}`, language: 'en', state };
  };
  const tell = (type: string, id: string, state: string): void => {
    const { bridge } = found(id);
    pbx.stasis.tell(bridge.apps, { type, timestamp: pbx.timestamp(), playback: shown(id, state) });
  };
  const play = (bridgeId: string, params: Params, id: string): RestAnswer => {
    const bridge = pbx.bridges.get(bridgeId);
    if (bridge === undefined) throw new Refusal(404, 'Bridge not found');
    const mediaUri = params.get('media');
    all.set(id, { bridge, mediaUri });
    const answer = { status: 201, body: shown(id, 'queued') };
    pbx.soon(() => {
      bridge.setTone(mediaUri.startsWith('tone:'));
      tell('PlaybackStarted', id, 'playing');
    });
    return answer;
  };
  return {
    'POST bridges/{id}/play/{playbackId}': play,
    'GET playbacks/{id}': (id) => ok(shown(id, 'playing')),
    'DELETE playbacks/{id}': (id) => {
      const { bridge } = found(id);
      bridge.setTone(false);
      pbx.soon(() => {
        tell('PlaybackFinished', id, 'done');
        all.delete(id);
      });
      return noContent;
    },
  };
}
