// HTTP requests to a speech service: connections that are kept between requests, deadlines, limits, and faults
// classified as those of websockets. One request and no retry: the fallback decides that. A kept connection that the
// service has closed is replaced by a fresh one: the service did not answer on it.

import { Agent, type buildConnector, type Dispatcher, errors } from 'undici';
import { serviceFaults } from '../../metrics/speech-metrics.ts';
import { ByteParts } from '../../std/byte-parts.ts';
import type { Clock } from '../../std/clock.ts';
import {
  faultKindOfError,
  faultKindOfRefusal,
  retryAfterMs,
  ServiceFault,
  type ServiceJob,
  vendorMessage,
} from './service-fault.ts';
import type { ServiceMeans } from './service-means.ts';

export interface ServiceHttpOptions {
  job: ServiceJob;
  /** As in the configuration: `openai`. */
  service: string;
  /** Keys and tokens: no fault repeats them. */
  secrets: readonly string[];
  means: Pick<ServiceMeans, 'clock' | 'egress'>;
  /** Whether faults count in the metric of services. False where no call waits: checks of keys. Default: true. */
  isCounted?: boolean;
}

export interface ServiceRequest {
  method: 'GET' | 'POST';
  /** `http:` or `https:`. */
  url: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  signal: AbortSignal;
  /** Until the answer's headers; of a refusal, until its words. */
  answerMsMax: number;
}

export interface ServiceAnswer {
  status: number;
  headers: Dispatcher.ResponseData['headers'];
  /** In chunks as they arrive; an error of the connection is a ServiceFault. */
  body: AsyncIterable<Buffer>;
  /** The whole body; longer ones than `bytesMax` are a fault (`protocol`), and those that take more than 10 s
   *  (`timeout`). */
  bytes(bytesMax: number): Promise<Buffer>;
}

/** Idle connections stay open between a call's turns. Milliseconds; undici's name. */
const keepAliveTimeout = 60_000;
/** Concurrent requests to one service of one process. */
const CONNECTIONS_MAX = 256;
const ERROR_BYTES_MAX = 65_536;
/** Of an answer that is read as a whole, after its headers: the longest are lists of voices. */
const BODY_MS_MAX = 10_000;
const PREPARE_MS_MAX = 5_000;
/** Redirects are not followed: a key is for the address that was configured. */
const REDIRECTED = 'it redirects: the address must be the final one';

export class ServiceHttp {
  readonly #options: ServiceHttpOptions;
  readonly #clock: Clock;
  readonly #agent: Agent;
  /** Keeps no connection. */
  readonly #fresh: Agent;
  /** Origins to which a connection is being opened ahead. */
  readonly #preparing = new Set<string>();
  /** Errors of connections on which the service had answered before. */
  readonly #ofKept = new WeakSet<Error>();

  constructor(options: ServiceHttpOptions) {
    const { egress, clock } = options.means;
    this.#options = options;
    this.#clock = clock;
    const connect: buildConnector.connector = (to, callback) =>
      egress.connect(to, (...[error, socket]) => {
        socket?.on('error', (broken) => {
          if (socket.bytesRead > 0) this.#ofKept.add(broken);
        });
        if (error === null) callback(null, socket);
        else callback(error, null);
      });
    this.#agent = new Agent({ connections: CONNECTIONS_MAX, keepAliveTimeout, connect });
    this.#fresh = new Agent({ connections: CONNECTIONS_MAX, pipelining: 0, connect });
  }

  /** Rejects with a ServiceFault for a status of 300 and above and for a connection that fails, with the signal's
   *  reason when aborted. */
  request(request: ServiceRequest): Promise<ServiceAnswer> {
    return this.#request(request, this.#options.isCounted !== false);
  }

  async #request(request: ServiceRequest, isCounted: boolean): Promise<ServiceAnswer> {
    const { method, url, headers, body, signal, answerMsMax } = request;
    signal.throwIfAborted();
    const controller = new AbortController();
    const onAbort = (): void => controller.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    let isLate = false;
    const deadline = this.#clock.after(answerMsMax, () => {
      isLate = true;
      controller.abort();
    });
    const faultOf = (...of: Parameters<ServiceHttp['fault']>): ServiceFault =>
      isCounted ? this.fault(...of) : this.#uncounted(...of);
    const failed = (error: unknown): unknown => {
      if (signal.aborted) return signal.reason;
      if (error instanceof ServiceFault) return error;
      if (isLate) return faultOf('timeout', 'no answer in time');
      const detail = error instanceof Error ? error.message : 'no answer';
      return faultOf(faultKindOfError(error), detail, { cause: error });
    };
    const done = (): void => signal.removeEventListener('abort', onAbort);
    try {
      const response = await this.#send({
        ...targetOf(url),
        method,
        headers: headers ?? {},
        body: body ?? null,
        signal: controller.signal,
      });
      if (response.statusCode >= 400) throw await this.#refusal(response, faultOf);
      deadline.cancel();
      if (response.statusCode >= 300) {
        response.body.on('error', () => undefined).destroy();
        throw faultOf('request', REDIRECTED, { status: response.statusCode });
      }
      return this.#answer(response, { controller, failed, faultOf, done });
    } catch (error) {
      deadline.cancel();
      done();
      throw failed(error);
    }
  }

  /** Opens a connection to `url` ahead of the next request, unless one is idle or being opened: ringing phones must not
   *  become requests that count at the service. Returns at once and never throws. */
  prepare(url: string, headers: Record<string, string> = {}): void {
    const origin = URL.parse(url)?.origin ?? '';
    const stats = this.#agent.stats[origin];
    const hasFree = stats !== undefined && 'free' in stats && stats.free > 0;
    if (hasFree || this.#preparing.has(origin)) return;
    this.#preparing.add(origin);
    const signal = new AbortController().signal;
    this.#request({ method: 'GET', url, headers, signal, answerMsMax: PREPARE_MS_MAX }, false)
      .then((answer) => answer.bytes(ERROR_BYTES_MAX))
      // Any answer will do: the connection is open then. A fault appears again in the request.
      .catch(() => undefined)
      .finally(() => this.#preparing.delete(origin));
  }

  /** A fault of this service. */
  fault(
    kind: ServiceFault['kind'],
    detail: string,
    more: Partial<ConstructorParameters<typeof ServiceFault>[3]> = {},
  ): ServiceFault {
    const { job, service, isCounted = true } = this.#options;
    if (isCounted) serviceFaults.inc({ kind: job, service, fault: kind });
    return this.#uncounted(kind, detail, more);
  }

  /** Aborts every request in progress. */
  async close(): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#fresh.destroy()]);
  }

  async #send(request: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
    try {
      return await this.#agent.request(request);
    } catch (error) {
      if (!(error instanceof Error) || !this.#isOfKept(error)) throw error;
      return this.#fresh.request(request);
    }
  }

  #isOfKept(error: Error): boolean {
    if (error instanceof errors.SocketError) return (error.socket?.bytesRead ?? 0) > 0;
    return this.#ofKept.has(error);
  }

  #uncounted(...[kind, detail, more]: Parameters<ServiceHttp['fault']>): ServiceFault {
    const { job, service, secrets } = this.#options;
    return new ServiceFault(job, service, kind, { ...more, detail, redact: secrets });
  }

  #answer(
    response: Dispatcher.ResponseData,
    of: {
      controller: AbortController;
      failed: (error: unknown) => unknown;
      faultOf: ServiceHttp['fault'];
      done: () => void;
    },
  ): ServiceAnswer {
    const { controller, failed, faultOf, done } = of;
    const body = chunksOf(response.body, failed, done);
    return {
      status: response.statusCode,
      headers: response.headers,
      body,
      bytes: async (bytesMax) => {
        const parts = new ByteParts();
        const late = this.#clock.after(BODY_MS_MAX, () =>
          controller.abort(faultOf('timeout', 'no end of the answer in time')),
        );
        try {
          for await (const part of body) {
            parts.push(part);
            if (parts.bytes > bytesMax) throw faultOf('protocol', 'the answer is too long');
          }
        } finally {
          late.cancel();
        }
        return parts.take();
      },
    };
  }

  /** Says what its status says, also if its words do not come in time. */
  async #refusal(
    { statusCode: status, headers, body }: Dispatcher.ResponseData,
    faultOf: ServiceHttp['fault'],
  ): Promise<ServiceFault> {
    const parts = new ByteParts();
    try {
      for await (const part of body) {
        parts.push(part as Buffer);
        if (parts.bytes >= ERROR_BYTES_MAX) break;
      }
    } catch {
      // The status and the words until then are the refusal.
    }
    const text = parts.take().toString('utf8', 0, ERROR_BYTES_MAX);
    const after = headers['retry-after'];
    return faultOf(faultKindOfRefusal(status, text), vendorMessage(text), {
      status,
      retryAfterMs: retryAfterMs(Array.isArray(after) ? after[0] : after, this.#clock.now()),
    });
  }
}

async function* chunksOf(
  body: Dispatcher.ResponseData['body'],
  failed: (error: unknown) => unknown,
  done: () => void,
): AsyncGenerator<Buffer> {
  try {
    for await (const part of body) yield part as Buffer;
  } catch (error) {
    throw failed(error);
  } finally {
    done();
  }
}

function targetOf(text: string): { origin: string; path: string } {
  const url = new URL(text);
  return { origin: url.origin, path: `${url.pathname}${url.search}` };
}
