// Paths of media sockets, and their tokens: random, one per run, good for one connection and a short time. They travel
// in the URL's path, because Twilio drops query strings. Source: contract §7.4.

import { timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Clock } from '../std/clock.ts';
import type { Random } from '../std/random.ts';

export interface MediaTokenStore {
  /** Issues a new token for the run, which voids an earlier one. Throws QUEUE_FULL. */
  issue(runId: string, ttlMs: number): string;
  /** Returns the run's unused token, valid for `ttlMs` from now, or a new one. Throws QUEUE_FULL. */
  reissue(runId: string, ttlMs: number): string;
  /** Whether this is the run's token, unused and valid. True at most once; a wrong token leaves the right one valid. */
  redeem(runId: string, token: string): boolean;
  /** Whether `redeem` would return true. */
  isDue(runId: string, token: string): boolean;
  /** Number of stored tokens, including expired ones. */
  readonly size: number;
}

/** Bytes of a token: 256 bits cannot be guessed within its lifetime. */
const TOKEN_BYTES = 32;
/** Tokens of a process: calls that may ring at once, with a margin. */
const TOKENS_MAX = 20_000;

interface Issued {
  /** Characters of the token. */
  token: Buffer;
  untilMs: number;
}

/** Number of the worker in the token's first characters. Undefined if there is none. */
export function workerOfToken(token: string): number | undefined {
  const number = /^w(\d{1,3})-/.exec(token)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** `worker`: the number of this worker behind the shared port, for `workerOfToken`. */
export function createMediaTokens(options: {
  clock: Clock;
  random: Random;
  tokensMax?: number;
  worker?: number | undefined;
}): MediaTokenStore {
  const { clock, random, tokensMax = TOKENS_MAX, worker } = options;
  const issued = new Map<string, Issued>();
  const prefix = worker === undefined ? '' : `w${worker}-`;
  const newToken = (): Buffer =>
    Buffer.from(prefix + random.bytes(TOKEN_BYTES).toString('base64url'));
  const nobody = newToken();

  function dropExpired(): void {
    const nowMs = clock.monotonicMs();
    for (const [runId, { untilMs }] of issued) if (untilMs <= nowMs) issued.delete(runId);
  }

  function matching(runId: string, token: string): Issued | undefined {
    const known = issued.get(runId);
    const given = Buffer.from(token);
    // Comparison takes equally long for a run without a token.
    const expected = known?.token ?? nobody;
    const isSame = given.length === expected.length && timingSafeEqual(given, expected);
    return isSame ? known : undefined;
  }

  return {
    get size() {
      return issued.size;
    },

    issue(runId, ttlMs) {
      issued.delete(runId);
      if (issued.size >= tokensMax) dropExpired();
      if (issued.size >= tokensMax) throw new GatewayError('QUEUE_FULL', { queue: 'media tokens' });
      const token = newToken();
      issued.set(runId, { token, untilMs: clock.monotonicMs() + ttlMs });
      return token.toString();
    },

    reissue(runId, ttlMs) {
      const known = issued.get(runId);
      const nowMs = clock.monotonicMs();
      if (known === undefined || known.untilMs <= nowMs) return this.issue(runId, ttlMs);
      known.untilMs = nowMs + ttlMs;
      return known.token.toString();
    },

    isDue(runId, token) {
      const known = matching(runId, token);
      return known !== undefined && clock.monotonicMs() < known.untilMs;
    },

    redeem(runId, token) {
      const known = matching(runId, token);
      if (known === undefined) return false;
      issued.delete(runId);
      return clock.monotonicMs() < known.untilMs;
    },
  };
}

export const MEDIA_PATH = '/api/v1/telephony/ws/';
