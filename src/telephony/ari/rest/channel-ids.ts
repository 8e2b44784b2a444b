// The ids that we give to channels and bridges. All have the same length, because Asterisk confuses an id with
// another that begins with it. They cannot be guessed, because a media channel's id opens its socket. Their first
// letters mark them as ours, so that those of a killed process are found, and a tag names the process that made them:
// its events go there. Source: asterisk §0.3, §0.4.

import { createHash } from 'node:crypto';
import type { Random } from '../../../std/random.ts';
import type { ProcessIdentity } from '../../provider/pbx.ts';

/** `o`: a call that we dialled. `m`: a media leg. `t`: the destination of a transfer. `d`: a call of the doctor.
 *  `b`: a bridge. */
export type OwnKind = 'o' | 'm' | 't' | 'd' | 'b';

const RUN_DIGITS = 19;
/** Bytes of a tag, 8 hexadecimal digits: no two of the processes that run at one time have the same. */
const TAG_BYTES = 4;
/** Random bytes of a dialled call: one run is dialled a few times at most. */
const OUTBOUND_BYTES = 4;
/** Random bytes of all other ids, of which 108 bits are used. */
const OTHER_BYTES = 14;
const TAIL_LENGTH = RUN_DIGITS + 2 * (TAG_BYTES + OUTBOUND_BYTES);

export interface ChannelIds {
  /** The tag of this process. */
  readonly tag: string;
  outbound(runId: string): string;
  make(kind: Exclude<OwnKind, 'o'>): string;
  /** The kind of our id; undefined for other ids. */
  kindOf(id: string): OwnKind | undefined;
  /** The run of a call that we dialled. */
  runOf(id: string): string | undefined;
  /** The tag of the process that made our id; undefined for other ids. */
  tagOf(id: string): string | undefined;
}

/** The tag of a process without an identity. */
export function createTag(random: Random): string {
  return random.bytes(TAG_BYTES).toString('hex');
}

/** The tag of a process, which other processes can compute. */
export function processTag({ node, epoch }: ProcessIdentity): string {
  const text = JSON.stringify([node, epoch]);
  return createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, 2 * TAG_BYTES);
}

/** `app`: the configuration's Stasis application, which no other configuration has. `tag`: this process's. */
export function createChannelIds(
  app: string,
  random: Random,
  tag: string = createTag(random),
): ChannelIds {
  const prefix = `pb${createHash('sha256').update(app).digest('hex').slice(0, 8)}`;
  const own = new RegExp(`^${prefix}([omtdb])([0-9a-f]{${TAIL_LENGTH}})$`);
  return {
    tag,

    outbound(runId) {
      const run = runId.padStart(RUN_DIGITS, '0');
      return `${prefix}o${run}${tag}${random.bytes(OUTBOUND_BYTES).toString('hex')}`;
    },

    make(kind) {
      const tail = `${tag}${random.bytes(OTHER_BYTES).toString('hex')}`;
      return `${prefix}${kind}${tail.slice(0, TAIL_LENGTH)}`;
    },

    kindOf(id) {
      return own.exec(id)?.[1] as OwnKind | undefined;
    },

    runOf(id) {
      const [, kind, tail = ''] = own.exec(id) ?? [];
      const run = tail.slice(0, RUN_DIGITS);
      return kind === 'o' && /^\d+$/.test(run) ? String(BigInt(run)) : undefined;
    },

    tagOf(id) {
      const [, kind, tail] = own.exec(id) ?? [];
      const from = kind === 'o' ? RUN_DIGITS : 0;
      return tail?.slice(from, from + 2 * TAG_BYTES);
    },
  };
}
