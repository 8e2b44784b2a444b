// Which way a call's audio takes, by what this Asterisk can and what the configuration wants.
// Source: asterisk.md §3, §6 (versions), §2.7 (why server mode is the default).

import { GatewayError } from '../../errors.ts';
import type { AriAccount } from './account.ts';
import type { MediaKind } from './config.ts';

export type Way = Exclude<MediaKind, 'auto'>;

export interface MediaChoice {
  way: Way;
  /** Asterisk's name. */
  format: string;
}

/** The first release of each branch that has it whole: JSON control, marks, channel ids. */
const WEBSOCKET_SINCE: Readonly<Record<number, number>> = { 20: 18, 22: 8, 23: 2 };
const AUDIOSOCKET_SINCE = 18;
const RTP_SINCE = 16;

const WAYS: Readonly<Record<Way, string>> = {
  websocket_server: 'media websocket',
  websocket_client: 'media websocket',
  audiosocket: 'AudioSocket',
  rtp: 'external media over RTP',
};

/** `version` as Asterisk gives it; null or words that are no number count as the newest. Throws
 *  PBX_TOO_OLD. */
export function chooseMedia(account: AriAccount, version: string | null): MediaChoice {
  const way = account.media === 'auto' ? bestOf(account, version) : account.media;
  if (!has(way, version)) {
    throw new GatewayError('PBX_TOO_OLD', {
      version: version ?? '',
      wanted: WAYS[way],
      advice: "Set the configuration's media to auto, or use Asterisk 20.18, 22.8, 23.2 or newer.",
    });
  }
  return { way, format: formatOf(account, way) };
}

function bestOf(account: AriAccount, version: string | null): Way {
  if (!has('websocket_server', version)) {
    return has('audiosocket', version) ? 'audiosocket' : 'rtp';
  }
  // A PBX that has to call us is one that we do not reach.
  return account.connection === 'incoming' ? 'websocket_client' : 'websocket_server';
}

function has(way: Way, version: string | null): boolean {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version ?? '') ?? [];
  if (major === undefined || minor === undefined) return true;
  const branch = Number(major);
  if (way === 'rtp') return branch >= RTP_SINCE;
  if (way === 'audiosocket') return branch >= AUDIOSOCKET_SINCE;
  const since = WEBSOCKET_SINCE[branch];
  return since === undefined ? branch > 23 : Number(minor) >= since;
}

/** AudioSocket labels whatever it is given as linear; RTP goes both ways with static types only. */
function formatOf({ media_format: wanted }: AriAccount, way: Way): string {
  if (way === 'audiosocket') return wanted === 'slin16' ? 'slin16' : 'slin';
  if (wanted === 'auto' || (way === 'rtp' && wanted === 'slin16')) return 'ulaw';
  return wanted;
}
