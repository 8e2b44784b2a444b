// Requests to S3: signed, with deadlines, three tries where a fault may pass, and bounded numbers of connections and of
// waiting requests. What an answer means for a file is s3-bucket.ts.

import type { Readable } from 'node:stream';
import { Agent, type Dispatcher, request } from 'undici';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { s3Seconds } from '../../metrics/store-metrics.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import { pause } from '../../std/pause.ts';
import type { Random } from '../../std/random.ts';
import type { S3Settings } from './s3-settings.ts';
import { S3Signer, type UnsignedRequest } from './s3-signer.ts';

/** Tries of a request, while the fault may pass: 429, 5xx, a broken connection, no answer in time. */
const TRIES_MAX = 3;
/** Wait before the second try; it doubles, and varies by half, so that gateways do not return together. */
const AGAIN_MS = 200;
/** Deadline of one try without a body: S3 answers within a tenth of that. */
const ANSWER_MS_MAX = 5_000;
/** Further time of one try for its body: 10 MiB take 40 s at 2 Mbit/s. */
const BODY_BYTES_PER_MS = 262;
/** Longest pause within an answer's body. */
const SILENCE_MS_MAX = 15_000;
/** Longest download: a player that reads a recording as fast as it plays needs half of it. A reader that stands still
 *  would keep its connection for ever: while nobody reads, no pause counts. */
const DOWNLOAD_MS = 60_000;
const DOWNLOAD_BYTES_PER_MS = 16;
/** Connections for requests and for uploads; and those for downloads, which last as long as their readers want. */
const CONNECTIONS_MAX = 32;
const DOWNLOADS_MAX = 128;
/** Requests that run or wait for a connection: the uploads of clients are 128. */
const REQUESTS_MAX = 256;
/** Longest answer that is read as text. An error has 500 bytes. */
const TEXT_BYTES_MAX = 65_536;

/** Kinds of requests, for the metric. */
export type S3Operation = 'head' | 'get' | 'put' | 'part' | 'delete' | 'list';

export interface S3Request extends UnsignedRequest {
  operation: S3Operation;
  /** The body and its length. Called for each try. Default: no body. */
  body?: { bytes: number; open: () => Uint8Array | string | Readable };
  /** Bytes of the answer's body, for its deadline. Default: few. */
  answerBytes?: number;
  signal?: AbortSignal | undefined;
}

export interface S3Answer {
  status: number;
  headers: Dispatcher.ResponseData['headers'];
  body: Buffer;
}

export class S3Requests {
  readonly signer: S3Signer;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #state: S3State;
  readonly #agent = agentOf(CONNECTIONS_MAX);
  readonly #downloads = agentOf(DOWNLOADS_MAX);
  #requests = 0;
  #open = 0;

  constructor(settings: S3Settings, means: { clock: Clock; random: Random; log: Log }) {
    const { clock, random, log } = means;
    this.signer = new S3Signer(settings, clock);
    this.#clock = clock;
    this.#random = random;
    this.#state = new S3State(log);
  }

  /** Sends a request and reads the answer, `bytesMax` at most (default: that of a text). Any status below 500 but 429 is
   *  an answer. Throws FILES_UNAVAILABLE, QUEUE_FULL, and the signal's reason. */
  async send(wanted: S3Request, bytesMax = TEXT_BYTES_MAX): Promise<S3Answer> {
    if (this.#requests >= REQUESTS_MAX) throw new GatewayError('QUEUE_FULL', { queue: 's3' });
    this.#requests += 1;
    try {
      return await this.#tries(wanted, (signal) => this.#exchange(wanted, bytesMax, signal));
    } finally {
      this.#requests -= 1;
    }
  }

  /** Like `send`, for an answer with a long body, which the caller reads or destroys; one that is read too slowly fails
   *  with TIMED_OUT. The body is empty unless the status is 200 or 206. */
  async open(wanted: S3Request): Promise<Omit<S3Answer, 'body'> & { stream: Readable }> {
    if (this.#open >= DOWNLOADS_MAX) throw new GatewayError('QUEUE_FULL', { queue: 'downloads' });
    this.#open += 1;
    let deadline: Timer | undefined;
    const closed = (): void => {
      deadline?.cancel();
      this.#open -= 1;
    };
    try {
      const answer = await this.#tries(wanted, (signal) =>
        this.#request(wanted, { signal, dispatcher: this.#downloads }),
      );
      const { statusCode: status, headers, body: stream } = answer;
      stream.once('close', closed);
      stream.on('error', () => undefined); // Readers have listeners of their own.
      const bytes = Number(headers['content-length'] ?? 0);
      const ms = DOWNLOAD_MS + Math.ceil(bytes / DOWNLOAD_BYTES_PER_MS);
      deadline = this.#clock.after(ms, () => {
        stream.destroy(new GatewayError('TIMED_OUT', { what: 'a download from S3', ms }));
      });
      if (status >= 300) stream.destroy();
      return { status, headers, stream };
    } catch (error) {
      closed();
      throw error;
    }
  }

  /** Aborts current requests. */
  async close(): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#downloads.destroy()]);
  }

  async #tries<A extends { status: number } | { statusCode: number }>(
    wanted: S3Request,
    attempt: (signal: AbortSignal) => Promise<A>,
  ): Promise<A> {
    for (let tries = 1; ; tries += 1) {
      const outcome = await this.#try(wanted, attempt);
      if ('answer' in outcome) {
        if (outcome.result === 'refused')
          this.#state.failed(`refused: ${statusOf(outcome.answer)}`);
        else this.#state.answered();
        return outcome.answer;
      }
      wanted.signal?.throwIfAborted();
      if (tries === TRIES_MAX) {
        this.#state.failed(outcome.reason);
        throw new GatewayError('FILES_UNAVAILABLE', { reason: outcome.reason }, outcome.cause);
      }
      const ms = AGAIN_MS * 2 ** (tries - 1);
      const jitterMs = this.#random.integer(ms);
      await pause(this.#clock, ms / 2 + jitterMs, wanted.signal ?? new AbortController().signal);
    }
  }

  async #try<A extends { status: number } | { statusCode: number }>(
    wanted: S3Request,
    attempt: (signal: AbortSignal) => Promise<A>,
  ): Promise<{ answer: A; result: string } | { reason: string; cause?: unknown }> {
    const bytes = (wanted.body?.bytes ?? 0) + (wanted.answerBytes ?? 0);
    const ms = ANSWER_MS_MAX + Math.ceil(bytes / BODY_BYTES_PER_MS);
    const deadline = deadlineSignal(this.#clock, ms, `S3 ${wanted.operation}`, wanted.signal);
    const startMs = this.#clock.monotonicMs();
    let result = 'failed';
    try {
      const answer = await attempt(deadline.signal);
      result = resultOf(statusOf(answer));
      return result === 'failed' ? { reason: String(statusOf(answer)) } : { answer, result };
    } catch (cause) {
      if (deadline.signal.aborted) result = 'timeout';
      return { reason: result === 'timeout' ? 'no answer in time' : reasonOf(cause), cause };
    } finally {
      deadline.done();
      const { operation } = wanted;
      const tookMs = this.#clock.monotonicMs() - startMs;
      s3Seconds.observe({ operation, result }, tookMs / 1_000);
    }
  }

  async #exchange(wanted: S3Request, bytesMax: number, signal: AbortSignal): Promise<S3Answer> {
    const answer = await this.#request(wanted, { signal, dispatcher: this.#agent });
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of answer.body) {
      bytes += piece.length;
      if (bytes > bytesMax) throw new Error('answer too long');
      pieces.push(piece);
    }
    const { statusCode: status, headers } = answer;
    return { status, headers, body: Buffer.concat(pieces) };
  }

  async #request(
    wanted: S3Request,
    by: { signal: AbortSignal; dispatcher: Agent },
  ): Promise<Dispatcher.ResponseData> {
    const { method, body } = wanted;
    const { url, headers } = await this.signer.sign(wanted);
    if (body !== undefined) headers['content-length'] = String(body.bytes);
    return request(url, { method, headers, body: body?.open() ?? null, ...by });
  }
}

/** Whether S3 can be used, with one line in the log for each change. */
class S3State {
  readonly #log: Log;
  #isAway = false;

  constructor(log: Log) {
    this.#log = log;
  }

  answered(): void {
    if (this.#isAway) this.#log.info('S3 can be used again');
    this.#isAway = false;
  }

  failed(reason: string): void {
    if (this.#isAway) return;
    this.#isAway = true;
    this.#log.error({ reason }, 'S3 cannot be used: files of calls wait on the disk');
  }
}

function statusOf(answer: { status: number } | { statusCode: number }): number {
  return 'status' in answer ? answer.status : answer.statusCode;
}

function agentOf(connections: number): Agent {
  return new Agent({ connections, pipelining: 1, bodyTimeout: SILENCE_MS_MAX });
}

function resultOf(status: number): string {
  if (status >= 500 || status === 429) return 'failed';
  if (status === 404) return 'missing';
  if (status === 409 || status === 412) return 'exists';
  return status >= 300 ? 'refused' : 'ok';
}

/** The system's or undici's error code. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
