// Asterisk's releases: what this gateway can do with each. Pure. Source: asterisk §6.

import { canCarry } from './transport-selection.ts';

export interface Release {
  major: number;
  minor: number;
  patch: number;
}

export interface ReleaseVerdict {
  verdict: 'pass' | 'warn' | 'fail';
  message: string;
  advice: string | null;
}

/** First minor release of each branch in which silence is no longer filled in and fragments are taken. */
const GOOD_SINCE: Readonly<Record<number, number>> = { 20: 20, 22: 10, 23: 4 };
/** ARI's outbound websocket. */
const OUTBOUND_SINCE: Readonly<Record<number, number>> = { 20: 15, 21: 10, 22: 5, 23: 0 };
const NEWEST_BRANCH = 23;
/** External media over RTP. */
const FIRST: Release = { major: 16, minor: 6, patch: 0 };
const BEST = 'Asterisk 22.10.1 or newer is recommended.';

/** `22.10.1`, `certified-22.8-cert4`, `16.28.0~dfsg-0+deb11u4`; undefined for what names no release. */
export function readRelease(version: string): Release | undefined {
  const [, major, minor, patch] =
    /(?:^|certified[/-])(\d{2})\.(\d{1,3})(?:\.(\d{1,3}))?/.exec(version) ?? [];
  if (major === undefined || minor === undefined) return undefined;
  return { major: Number(major), minor: Number(minor), patch: Number(patch ?? 0) };
}

/** `isIncoming`: Asterisk is to open the connection. */
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
      message: `Asterisk ${version} cannot hand its audio to anybody: that came with 16.6.`,
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
      message: `Asterisk ${version} works; some faults of its media websocket are mended in later releases.`,
      advice: BEST,
    };
  }
  return { verdict: 'pass', message: `Asterisk ${version} has everything.`, advice: null };
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
