// A caller who waits for a place: answered, with music on hold and announcements of Asterisk's own on the channel, and no
// media leg. Asterisk carries out the commands of one channel one after the other, so that the music begins after the
// announcement. Source: asterisk, ARI channels: moh, play.

import type { WaitingSound } from '../../provider/pbx.ts';
import { bestEffort } from '../rest/best-effort.ts';
import type { AriContext } from '../rest/peer.ts';
import type { AriCall } from './ari-call.ts';

const DEFAULT_ANNOUNCEMENT = 'sound:queue-periodic-announce';
const DEFAULT_CLASS = 'default';

/** Plays the announcement, if there is one, and then music. Throws what `AriClient` throws. */
export async function playWaiting(
  peer: AriContext,
  call: AriCall,
  { isAnnounced, announcement, music }: WaitingSound,
  signal: AbortSignal,
): Promise<void> {
  if (call.isWaiting && !isAnnounced) return;
  await stopWaiting(peer, call);
  call.isWaiting = true;
  if (isAnnounced) {
    const query = { media: mediaOf(announcement ?? DEFAULT_ANNOUNCEMENT) };
    const path = `${pathOf(call)}/play/${playbackOf(call)}`;
    // A sound that Asterisk does not have must not end the call.
    await bestEffort(peer, { action: 'announce', method: 'POST', path, query });
  }
  const query = { mohClass: music ?? DEFAULT_CLASS };
  const path = `${pathOf(call)}/moh`;
  await peer.client.run({ action: 'music', method: 'POST', path, query }, signal);
}

/** Ends what a waiting caller hears. Never rejects. */
export async function stopWaiting(peer: AriContext, call: AriCall): Promise<void> {
  if (!call.isWaiting) return;
  call.isWaiting = false;
  const playback = `playbacks/${playbackOf(call)}`;
  await bestEffort(peer, { action: 'announce', method: 'DELETE', path: playback });
  await bestEffort(peer, { action: 'music', method: 'DELETE', path: `${pathOf(call)}/moh` });
}

function pathOf({ channelId }: AriCall): string {
  return `channels/${encodeURIComponent(channelId)}`;
}

function playbackOf({ channelId }: AriCall): string {
  return encodeURIComponent(`wait-${channelId}`);
}

/** Asterisk plays a file from a URL as a sound. */
function mediaOf(audio: string): string {
  return audio.startsWith('sound:') ? audio : `sound:${audio}`;
}
