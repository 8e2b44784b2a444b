// Which way a call's audio takes, by what this Asterisk can and what the configuration wants.
// Source: asterisk §3, §6 (versions), §2.7 (why server mode is the default).

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { AriAccount } from '../rest/account.ts';
import type { MediaKind } from '../rest/config.ts';

export type MediaWay = Exclude<MediaKind, 'auto'>;

export interface MediaChoice {
  way: MediaWay;
  /** Asterisk's name. */
  format: string;
}

/** The first release of each branch that has it whole: JSON control, marks, channel ids. */
const WEBSOCKET_SINCE: Readonly<Record<number, number>> = { 20: 18, 22: 8, 23: 2 };
const AUDIOSOCKET_SINCE = 18;
/** Before, AudioSocket had audio of 8 kHz only. */
const AUDIOSOCKET_WIDE_SINCE: Readonly<Record<number, number>> = { 20: 17, 21: 12, 22: 7, 23: 1 };
const RTP_SINCE = 16;

const WAYS: Readonly<Record<MediaWay, string>> = {
  websocket_server: 'media websocket',
  websocket_client: 'media websocket',
  audiosocket: 'AudioSocket',
  rtp: 'external media over RTP',
};

/** `version` as Asterisk gives it; null or words that are no number count as the newest.
 *  `hasAudioSocket`: whether this gateway has a port for it. Throws PBX_TOO_OLD. */
export function selectMediaTransport(
  account: AriAccount,
  version: string | null,
  hasAudioSocket: boolean,
): MediaChoice {
  const way = account.media === 'auto' ? bestOf(account, version, hasAudioSocket) : account.media;
  if (!canCarry(way, version)) {
    throw new GatewayError('PBX_TOO_OLD', {
      version: version ?? '',
      wanted: WAYS[way],
      advice: "Set the configuration's media to auto, or use Asterisk 20.18, 22.8, 23.2 or newer.",
    });
  }
  return { way, format: formatOf(account, way, version) };
}

function bestOf(account: AriAccount, version: string | null, hasAudioSocket: boolean): MediaWay {
  if (!canCarry('websocket_server', version)) {
    return hasAudioSocket && canCarry('audiosocket', version) ? 'audiosocket' : 'rtp';
  }
  // A PBX that has to call us is one that we do not reach.
  return account.connection === 'incoming' ? 'websocket_client' : 'websocket_server';
}

/** Whether that Asterisk has that way. */
export function canCarry(way: MediaWay, version: string | null): boolean {
  if (way === 'rtp') return isSince(version, {}, RTP_SINCE);
  if (way === 'audiosocket') return isSince(version, {}, AUDIOSOCKET_SINCE);
  return isSince(version, WEBSOCKET_SINCE, 24);
}

/** Branches that are not named have it from branch `always` on. */
function isSince(
  version: string | null,
  releases: Readonly<Record<number, number>>,
  always: number,
): boolean {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version ?? '') ?? [];
  if (major === undefined || minor === undefined) return true;
  const since = releases[Number(major)];
  return since === undefined ? Number(major) >= always : Number(minor) >= since;
}

/** AudioSocket labels whatever it is given as linear; RTP goes both ways with static types only. */
function formatOf(
  { media_format: wanted }: AriAccount,
  way: MediaWay,
  version: string | null,
): string {
  if (way === 'audiosocket') {
    return wanted === 'slin16' && isSince(version, AUDIOSOCKET_WIDE_SINCE, 24) ? 'slin16' : 'slin';
  }
  if (wanted === 'auto' || (way === 'rtp' && wanted === 'slin16')) return 'ulaw';
  return wanted;
}
