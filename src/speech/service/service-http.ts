// HTTP client for a speech service: kept connections, deadlines, limits, and faults classified like those of
// websockets. One request without retry: the fallback decides about that. Only a kept connection that the service has
// closed without an answer is replaced by a fresh one.

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
  /** Service name as in the configuration: `openai`. */
  service: string;
  /** Keys and tokens, which are removed from faults. */
  secrets: readonly string[];
  means: Pick<ServiceMeans, 'clock' | 'egress'>;
  /** Whether faults count in the metric of services. False if no call waits, as in key checks. Default: true. */
  isCounted?: boolean;
}

export interface ServiceRequest {
  method: 'GET' | 'POST';
  /** `http:` or `https:` URL. */
  url: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  signal: AbortSignal;
  /** Deadline for the answer's headers, or for the text of a refusal. */
  answerMsMax: number;
}

export interface ServiceAnswer {
  status: number;
  headers: Dispatcher.ResponseData['headers'];
  /** Body in chunks as they arrive. Throws a ServiceFault if the connection fails. */
  body: AsyncIterable<Buffer>;
  /** Reads the whole body. Throws a ServiceFault if it is longer than `bytesMax` (`protocol`) or takes more than 10 s
   *  (`timeout`). */
  bytes(bytesMax: number): Promise<Buffer>;
}

/** Milliseconds that idle connections stay open, to last between a call's turns. The name is undici's. */
const keepAliveTimeout = 60_000;
/** Concurrent requests to one service of one process. */
const CONNECTIONS_MAX = 256;
const ERROR_BYTES_MAX = 65_536;
/** Deadline for a body that is read as a whole, after its headers. The longest are lists of voices. */
const BODY_MS_MAX = 10_000;
const PREPARE_MS_MAX = 5_000;
/** Redirects are not followed: a key is only for the configured address. */
const REDIRECTED = 'it redirects: the address must be the final one';

export class ServiceHttp {
  readonly #options: ServiceHttpOptions;
  readonly #clock: Clock;
  readonly #agent: Agent;
  /** Agent that keeps no connection. */
  readonly #fresh: Agent;
  /** Origins to which a connection is being opened ahead of a request. */
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

  /** Sends a request. Rejects with a ServiceFault for a status of 300 or above and for a failed connection, with the
   *  signal's reason when aborted. */
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

  /** Opens a connection to `url` ahead of the next request, unless one is idle or being opened: a ringing phone must
   *  not cause a request that the service counts. Returns at once and never throws. */
  prepare(url: string, headers: Record<string, string> = {}): void {
    const origin = URL.parse(url)?.origin ?? '';
    const stats = this.#agent.stats[origin];
    const hasFree = stats !== undefined && 'free' in stats && stats.free > 0;
    if (hasFree || this.#preparing.has(origin)) return;
    this.#preparing.add(origin);
    const signal = new AbortController().signal;
    this.#request({ method: 'GET', url, headers, signal, answerMsMax: PREPARE_MS_MAX }, false)
      .then((answer) => answer.bytes(ERROR_BYTES_MAX))
      // Any response shows that the connection is open. A fault appears again in the request.
      .catch(() => undefined)
      .finally(() => this.#preparing.delete(origin));
  }

  /** Creates a fault of this service. */
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

  /** Classifies a refusal by its status, and by its text if that arrives in time. */
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
      // Without more text, the status and the text so far decide.
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
