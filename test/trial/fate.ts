// The fate of each call to the simulated callees, decided by a hash: the same for the same seed, whatever
// the order in which calls arrive and however often the gateway is killed.

import { createHash } from 'node:crypto';

/** What the called person does. */
export type Fate = 'answered' | 'voicemail' | 'busy' | 'no-answer' | 'failed';

/** What the provider's REST interface answers to the dial, and whether it places the call. */
export type Reply =
  | 'created'
  | 'throttled' // 429, nothing placed
  | 'broken' // 500, nothing placed
  | 'broken-placed' // 500, but the telephone rings
  | 'silent' // no answer, nothing placed
  | 'silent-placed' // no answer, but the telephone rings
  | 'cut-placed'; // the connection breaks, but the telephone rings

/** How status callbacks travel. */
export type News = 'in-order' | 'doubled' | 'swapped' | 'repeated-late' | 'lost';

export interface Lot {
  fate: Fate;
  reply: Reply;
  news: News;
  /** From ringing to the end, about; milliseconds. */
  ringMs: number;
  talkMs: number;
  /** How late it is in the provider's list of calls. */
  listedAfterMs: number;
}

type Shares<T extends string> = readonly (readonly [T, number])[];

const fates: Shares<Fate> = [
  ['answered', 52],
  ['busy', 14],
  ['no-answer', 16],
  ['voicemail', 12],
  ['failed', 6],
];
const replies: Shares<Reply> = [
  ['created', 84],
  ['throttled', 6],
  ['broken', 3],
  ['broken-placed', 2],
  ['silent', 1],
  ['silent-placed', 2],
  ['cut-placed', 2],
];
const news: Shares<News> = [
  ['in-order', 60],
  ['doubled', 15],
  ['swapped', 12],
  ['repeated-late', 12],
  ['lost', 1],
];

const LIST_LAG_MS_MAX = 45_000;

/** `dial` counts the dials of that number that reached the provider, from 0. */
export function drawLot(seed: string, to: string, dial: number): Lot {
  const digest = createHash('sha256').update(`${seed} ${to} ${dial}`).digest();
  const at = (byte: number): number => digest.readUInt16BE(byte) / 65_536;
  return {
    fate: pick(fates, at(0)),
    reply: pick(replies, at(2)),
    news: pick(news, at(4)),
    ringMs: 20 + at(6) * 200,
    talkMs: 150 + at(8) * 400,
    listedAfterMs: at(10) * LIST_LAG_MS_MAX,
  };
}

function pick<T extends string>(shares: Shares<T>, at: number): T {
  const whole = shares.reduce((sum, [, share]) => sum + share, 0);
  let left = at * whole;
  for (const [name, share] of shares) {
    left -= share;
    if (left < 0) return name;
  }
  throw new Error('shares do not add up');
}
