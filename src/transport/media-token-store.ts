// The media tokens that a process has issued: one for each call, good for one connection and a short time. A signed token
// that this process does not know may come from another one, or from its predecessor.

import { timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Clock } from '../std/clock.ts';
import type { Random } from '../std/random.ts';
import {
  type MediaPath,
  type MediaTokenSigner,
  NONCE_BYTES,
  type SignedToken,
  type TokenPlace,
  type TokenSubject,
} from './media-token.ts';

/** Result for a token that is good. */
export type RedeemedToken =
  /** This process issued it, and it was not used before. */
  | { kind: 'issued' }
  /** Another process issued it, whose clock may differ; or this process did (`isOwn`), which has used it, or its
   *  predecessor under the same number. The state of the run shows whether it was used. */
  | { kind: 'signed'; token: SignedToken; isOwn: boolean };

export interface MediaTokenStore {
  /** Issues a new token for the call, which voids an earlier one. Throws QUEUE_FULL. */
  issue(subject: TokenSubject, ttlMs: number): string;
  /** Returns the call's unused token, valid here for `ttlMs` from now, or a new one. Throws QUEUE_FULL. */
  reissue(subject: TokenSubject, ttlMs: number): string;
  /** Redeems the path's token; undefined if it is wrong, void, expired, or of another origin's pages. `issued` at most once for a token; a wrong
   *  token leaves the right one valid. The workflow and the organization of an issued token are not checked. */
  redeem(path: MediaPath): RedeemedToken | undefined;
  /** Whether `redeem` would accept the token. */
  isDue(path: MediaPath): boolean;
  /** Voids the call's token. */
  revoke(id: string): void;
  /** Number of stored tokens, including expired ones. */
  readonly size: number;
}

/** Tokens of a process: calls that may ring at once, with a margin. */
const TOKENS_MAX = 20_000;
/** Time after its expiry in which another process's token is accepted: the clocks of gateways may differ by that, as
 *  `nodes` may say. Whether a call still waits is what its run says. */
export const CLOCK_SKEW_MS_MAX = 300_000;

interface Issued {
  /** Characters of the token. */
  token: Buffer;
  /** End of its validity by the monotonic clock. */
  untilMs: number;
  origin: string | undefined;
}

export interface MediaTokensOptions {
  clock: Clock;
  random: Random;
  signer: MediaTokenSigner;
  /** This process. */
  place: TokenPlace;
  tokensMax?: number;
}

export function createMediaTokens(options: MediaTokensOptions): MediaTokenStore {
  return new IssuedTokens(options);
}

class IssuedTokens implements MediaTokenStore {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #signer: MediaTokenSigner;
  readonly #place: TokenPlace;
  readonly #tokensMax: number;
  readonly #issued = new Map<string, Issued>();
  /** Compared with tokens for calls that have none. */
  readonly #nobody: Buffer;

  constructor({ clock, random, signer, place, tokensMax = TOKENS_MAX }: MediaTokensOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#signer = signer;
    this.#place = place;
    this.#tokensMax = tokensMax;
    this.#nobody = this.#newToken({ id: '0', workflowId: '0', organizationId: '0' }, 0);
  }

  get size(): number {
    return this.#issued.size;
  }

  issue(subject: TokenSubject, ttlMs: number): string {
    const { id } = subject;
    this.#issued.delete(id);
    if (this.#issued.size >= this.#tokensMax) this.#dropExpired();
    if (this.#issued.size >= this.#tokensMax) {
      throw new GatewayError('QUEUE_FULL', { queue: 'media tokens' });
    }
    const token = this.#newToken(subject, ttlMs);
    const untilMs = this.#clock.monotonicMs() + ttlMs;
    this.#issued.set(id, { token, untilMs, origin: subject.origin });
    return token.toString();
  }

  reissue(subject: TokenSubject, ttlMs: number): string {
    const known = this.#issued.get(subject.id);
    const nowMs = this.#clock.monotonicMs();
    if (known === undefined || known.untilMs <= nowMs) return this.issue(subject, ttlMs);
    known.untilMs = nowMs + ttlMs;
    return known.token.toString();
  }

  redeem(path: MediaPath): RedeemedToken | undefined {
    const known = this.#matching(path);
    if (known === undefined) return this.#signed(path);
    this.#issued.delete(path.runId);
    return this.#clock.monotonicMs() < known.untilMs ? { kind: 'issued' } : undefined;
  }

  isDue(path: MediaPath): boolean {
    const known = this.#matching(path);
    if (known !== undefined) return this.#clock.monotonicMs() < known.untilMs;
    return this.#signed(path) !== undefined;
  }

  revoke(id: string): void {
    this.#issued.delete(id);
  }

  #newToken(subject: TokenSubject, ttlMs: number): Buffer {
    const untilMs = Math.floor(this.#clock.now()) + ttlMs;
    const nonce = this.#random.bytes(NONCE_BYTES);
    return Buffer.from(this.#signer.sign(subject, { ...this.#place, untilMs }, nonce));
  }

  #dropExpired(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [id, { untilMs }] of this.#issued) if (untilMs <= nowMs) this.#issued.delete(id);
  }

  #matching({ runId, token, origin }: MediaPath): Issued | undefined {
    const known = this.#issued.get(runId);
    const given = Buffer.from(token);
    // Comparison takes equally long for a call without a token.
    const expected = known?.token ?? this.#nobody;
    const isSame = given.length === expected.length && timingSafeEqual(given, expected);
    const isOfPage = known?.origin === undefined || known.origin === origin;
    return isSame && isOfPage ? known : undefined;
  }

  /** The token of another process, or of this one's predecessor under the same number. */
  #signed(path: MediaPath): RedeemedToken | undefined {
    const token = this.#signer.verified(path);
    if (token === undefined) return undefined;
    const { label, worker } = this.#place;
    const isOwn = token.label === label && token.worker === worker;
    // This process has issued a later one.
    if (isOwn && this.#issued.has(path.runId)) return undefined;
    if (this.#clock.now() >= token.untilMs + CLOCK_SKEW_MS_MAX) return undefined;
    return { kind: 'signed', token, isOwn };
  }
}
