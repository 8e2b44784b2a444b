// The ids that we give to channels and bridges. All have the same length, because Asterisk confuses an id with
// another that begins with it. They cannot be guessed, because a media channel's id opens its socket. Their first
// letters mark them as ours, so that those of a killed process are found. Source: asterisk §0.3, §0.4.

import { createHash } from 'node:crypto';
import type { Random } from '../../../std/random.ts';

/** `o`: a call that we dialled. `m`: a media leg. `t`: the destination of a transfer. `d`: a call of the doctor.
 *  `b`: a bridge. */
export type OwnKind = 'o' | 'm' | 't' | 'd' | 'b';

const RUN_DIGITS = 19;
const OUTBOUND_BYTES = 8;
/** Bytes of all ids but those of dialled calls, 140 bits of them random. */
const OTHER_BYTES = 18;
const TAIL_LENGTH = RUN_DIGITS + 2 * OUTBOUND_BYTES;

export interface ChannelIds {
  outbound(runId: string): string;
  make(kind: Exclude<OwnKind, 'o'>): string;
  /** The kind of our id; undefined for other ids. */
  kindOf(id: string): OwnKind | undefined;
  /** The run of a call that we dialled. */
  runOf(id: string): string | undefined;
}

/** `app`: the configuration's Stasis application, which no other configuration has. */
export function createChannelIds(app: string, random: Random): ChannelIds {
  const prefix = `pb${createHash('sha256').update(app).digest('hex').slice(0, 8)}`;
  const own = new RegExp(`^${prefix}([omtdb])([0-9a-f]{${TAIL_LENGTH}})$`);
  return {
    outbound(runId) {
      const run = runId.padStart(RUN_DIGITS, '0');
      return `${prefix}o${run}${random.bytes(OUTBOUND_BYTES).toString('hex')}`;
    },

    make(kind) {
      const tail = random.bytes(OTHER_BYTES).toString('hex').slice(0, TAIL_LENGTH);
      return `${prefix}${kind}${tail}`;
    },

    kindOf(id) {
      return own.exec(id)?.[1] as OwnKind | undefined;
    },

    runOf(id) {
      const [, kind, tail = ''] = own.exec(id) ?? [];
      const run = tail.slice(0, RUN_DIGITS);
      return kind === 'o' && /^\d+$/.test(run) ? String(BigInt(run)) : undefined;
    },
  };
}
