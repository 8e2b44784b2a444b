// Media transports of each Asterisk release, and the selection of one by release and configuration. Pure. Source:
// asterisk §3, §6 (versions), §2.7 (why server mode is the default).

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { AriAccount, MediaKind } from '../rest/config.ts';

export type MediaWay = Exclude<MediaKind, 'auto'>;

export interface MediaChoice {
  way: MediaWay;
  /** Asterisk's name of the audio format. */
  format: string;
}

interface Release {
  major: number;
  minor: number;
  patch: number;
}

export interface ReleaseVerdict {
  verdict: 'pass' | 'warn' | 'fail';
  message: string;
  advice: string | null;
}

/** First minor release of each branch whose media websocket has JSON control, marks and channel ids. */
const WEBSOCKET_SINCE: Readonly<Record<number, number>> = { 20: 18, 22: 8, 23: 2 };
const AUDIOSOCKET_SINCE = 18;
/** First minor release of each branch with wideband AudioSocket; older ones have 8 kHz only. */
const AUDIOSOCKET_WIDE_SINCE: Readonly<Record<number, number>> = { 20: 17, 21: 12, 22: 7, 23: 1 };
const RTP_SINCE = 16;

/** First minor release of each branch that no longer inserts silence and accepts fragments. */
const GOOD_SINCE: Readonly<Record<number, number>> = { 20: 20, 22: 10, 23: 4 };
/** First minor release of each branch with ARI's outbound websocket. */
const OUTBOUND_SINCE: Readonly<Record<number, number>> = { 20: 15, 21: 10, 22: 5, 23: 0 };
const NEWEST_BRANCH = 23;
/** First release with external media over RTP. */
const FIRST: Release = { major: 16, minor: 6, patch: 0 };
const BEST = 'Asterisk 22.10.1 or newer is recommended.';

const WAYS: Readonly<Record<MediaWay, string>> = {
  websocket_server: 'media websocket',
  websocket_client: 'media websocket',
  audiosocket: 'AudioSocket',
  rtp: 'external media over RTP',
};

/** Selects the transport. `version` as Asterisk reports it; null or text without a number counts as the newest.
 *  `hasAudioSocket`: whether this gateway has a port for it. Throws PBX_TOO_OLD. */
export function selectMediaTransport(
  account: AriAccount,
  version: string | null,
  hasAudioSocket: boolean,
): MediaChoice {
  const planned = plannedMedia(account, version, hasAudioSocket);
  const { way } = planned;
  if (!canCarry(way, version)) {
    throw new GatewayError('PBX_TOO_OLD', {
      version: version ?? '',
      wanted: WAYS[way],
      advice: "Set the configuration's media to auto, or use Asterisk 20.18, 22.8, 23.2 or newer.",
    });
  }
  return planned;
}

/** The transport of calls to come, whether or not the release can carry it. Parameters as in `selectMediaTransport`. */
export function plannedMedia(
  account: AriAccount,
  version: string | null,
  hasAudioSocket: boolean,
): MediaChoice {
  const way = account.media === 'auto' ? bestOf(account, version, hasAudioSocket) : account.media;
  return { way, format: formatOf(account, way, version) };
}

/** Where calls of one connection can be: in one process, in all of the gateway, or in those of all gateways. */
export type Spread = 'process' | 'gateway' | 'gateways';

/** Where calls can be. Where Asterisk opens the connection or the media socket, that comes to one process, and AudioSocket
 *  has one port. RTP comes to an address of the gateway, which nobody has checked at the others: a wrong one would make
 *  every second call silent. */
export function spreadOf({ connection }: AriAccount, { way }: MediaChoice): Spread {
  if (connection !== 'outgoing') return 'process';
  if (way === 'websocket_server') return 'gateways';
  return way === 'rtp' ? 'gateway' : 'process';
}

function bestOf(account: AriAccount, version: string | null, hasAudioSocket: boolean): MediaWay {
  if (!canCarry('websocket_server', version)) {
    return hasAudioSocket && canCarry('audiosocket', version) ? 'audiosocket' : 'rtp';
  }
  // A PBX that has to connect to us cannot be reached from here.
  return account.connection === 'incoming' ? 'websocket_client' : 'websocket_server';
}

/** Whether that release has that transport. */
export function canCarry(way: MediaWay, version: string | null): boolean {
  if (way === 'rtp') return isSince(version, {}, RTP_SINCE);
  if (way === 'audiosocket') return isSince(version, {}, AUDIOSOCKET_SINCE);
  return isSince(version, WEBSOCKET_SINCE, 24);
}

/** Whether the release has the feature. Branches that are not listed have it from branch `always` on. */
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

/** Audio format of the call. AudioSocket labels any payload as linear; RTP works both ways with static types only. */
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

/** The release in a version such as `22.10.1`, `certified-22.8-cert4` or `16.28.0~dfsg-0+deb11u4`; undefined if it has
 *  none. */
function readRelease(version: string): Release | undefined {
  const [, major, minor, patch] =
    /(?:^|certified[/-])(\d{2})\.(\d{1,3})(?:\.(\d{1,3}))?/.exec(version) ?? [];
  if (major === undefined || minor === undefined) return undefined;
  return { major: Number(major), minor: Number(minor), patch: Number(patch ?? 0) };
}

/** Verdict on a release for the doctor. `isIncoming`: Asterisk opens the connection to us. */
export function judgeRelease(version: string, isIncoming: boolean): ReleaseVerdict {
  const release = readRelease(version);
  if (release === undefined) {
    return {
      verdict: 'warn',
      message: `Asterisk calls itself "${version.slice(0, 60)}", which names no release.`,
      advice: `Nothing is assumed of it. ${BEST}`,
    };
  }
  if (isBefore(release, FIRST)) {
    return {
      verdict: 'fail',
      message: `Asterisk ${version} cannot send its audio to a gateway: that came with 16.6.`,
      advice: `Update it. ${BEST}`,
    };
  }
  if (isIncoming && !hasSince(release, OUTBOUND_SINCE)) {
    return {
      verdict: 'fail',
      message: `Asterisk ${version} cannot open the connection itself: that came with 20.15 and 22.5.`,
      advice: `Update it, or let the gateway connect ("connection": "outgoing"). ${BEST}`,
    };
  }
  return judgeMedia(release, version);
}

function judgeMedia(release: Release, version: string): ReleaseVerdict {
  if (!canCarry('websocket_server', version)) {
    const kinds = canCarry('audiosocket', version) ? 'AudioSocket and RTP' : 'RTP';
    return {
      verdict: 'warn',
      message: `Asterisk ${version} has no media websocket that can be used: ${kinds} work.`,
      advice: `With 20.18, 22.8 or 23.2 interruptions are heard sooner and nothing has to reach the gateway. ${BEST}`,
    };
  }
  if (!hasSince(release, GOOD_SINCE)) {
    return {
      verdict: 'warn',
      message: `Asterisk ${version} works; some faults of its media websocket are fixed in later releases.`,
      advice: BEST,
    };
  }
  return {
    verdict: 'pass',
    message: `Asterisk ${version} has all features that the gateway uses.`,
    advice: null,
  };
}

function hasSince({ major, minor }: Release, since: Readonly<Record<number, number>>): boolean {
  const first = since[major];
  return first === undefined ? major > NEWEST_BRANCH : minor >= first;
}

function isBefore(release: Release, first: Release): boolean {
  return (
    release.major < first.major || (release.major === first.major && release.minor < first.minor)
  );
}
