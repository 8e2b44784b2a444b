// Client shared by all language models, streamed: connection, deadlines, dialect, errors and metrics. A protocol
// describes the wire format. One request per answer without retry: speech/llm/fallback retries.

import type { Readable } from 'node:stream';
import { Agent, type buildConnector, type Dispatcher } from 'undici';
import { codeOf, GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { modelTokens, serviceFaults, serviceSeconds } from '../../../metrics/speech-metrics.ts';
import type { Clock } from '../../../std/clock.ts';
import { parseJson, wellFormedJson } from '../../../std/json.ts';
import { faultKindOfError, ServiceFault } from '../../service/service-fault.ts';
import type { LanguageModel, LlmListener, LlmRequest, LlmResponse } from '../llm.ts';
import { readAnswer } from './answer-stream.ts';
import { adaptDialect, type Dialect, dialectOf } from './dialect.ts';
import type { ModelProtocol } from './protocol.ts';
import {
  type ResponseTimeout,
  type ResponseTimeouts,
  startResponseTimeout,
} from './response-timeout.ts';
import { filterRefusal, serviceFault } from './service-error.ts';

/** Dependencies and limits that every client of a language model receives. */
export interface ModelMeans {
  clock: Clock;
  log: Log;
  /** Opens the connections; default: to any address. */
  connect?: buildConnector.connector | undefined;
  /** Deadlines in milliseconds: first token, between tokens, whole answer. Default: 8 s, 5 s and 60 s. */
  firstTokenMsMax?: number | undefined;
  betweenTokensMsMax?: number | undefined;
  totalMsMax?: number | undefined;
}

interface ModelClientOptions extends ModelMeans {
  /** Service name in metrics, events and faults, as in the configuration. */
  service: string;
  model: string;
  baseUrl: string;
  apiKey: string | undefined;
  protocol: ModelProtocol;
}

/** The options in a model's settings. */
export function modelOptions(settings: {
  base_url: string;
  api_key?: string | undefined;
  model: string;
  extra_body?: Record<string, unknown> | undefined;
}) {
  const { base_url: baseUrl, api_key: apiKey, model, extra_body: extra } = settings;
  return { baseUrl, apiKey, model, extra };
}

const ERROR_BYTES_MAX = 65_536;
/** Retries with an adapted form: one for the renamed field and one for each optional field. */
const ADAPTATIONS_MAX = 4;

export class ModelClient implements LanguageModel {
  readonly name: string;
  readonly model: string;
  readonly #options: ModelClientOptions;
  readonly #connection: Connection;
  readonly #limits: ResponseTimeouts;
  readonly #dialect: Dialect;
  #calls = 0;

  constructor(options: ModelClientOptions) {
    const { service, model, baseUrl, apiKey } = options;
    this.name = service;
    this.model = model;
    this.#options = options;
    this.#connection = openConnection(options);
    this.#limits = {
      firstTokenMsMax: options.firstTokenMsMax ?? 8_000,
      betweenTokensMsMax: options.betweenTokensMsMax ?? 5_000,
      totalMsMax: options.totalMsMax ?? 60_000,
    };
    this.#dialect = dialectOf(baseUrl, model, apiKey);
  }

  async respond(
    request: LlmRequest,
    listener: LlmListener,
    signal: AbortSignal,
  ): Promise<LlmResponse> {
    signal.throwIfAborted();
    const { clock, service } = this.#options;
    const startedAt = clock.monotonicMs();
    const { totalMsMax = this.#limits.totalMsMax } = request;
    const watch = startResponseTimeout(clock, { ...this.#limits, totalMsMax }, signal);
    try {
      const given = await this.#answer(request, listener, watch);
      countAnswer(service, given);
      return given;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const failure = classified(watch.expired ?? error, service);
      countFailure(service, failure, clock.monotonicMs() - startedAt);
      throw failure;
    } finally {
      watch.stop();
    }
  }

  prepare(): void {
    this.#connection.prepare();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #answer(
    request: LlmRequest,
    listener: LlmListener,
    watch: ResponseTimeout,
  ): Promise<LlmResponse> {
    const { clock, protocol, service, apiKey } = this.#options;
    const startedAt = clock.monotonicMs();
    const reader = protocol.createAnswer(request);
    let firstTokenMs: number | undefined;
    const onText = (speakable: string) => {
      firstTokenMs ??= clock.monotonicMs() - startedAt;
      if (speakable !== '' && !watch.signal.aborted) listener.onText(speakable);
    };
    const body = await this.#open(request, watch);
    const context = { service, apiKey };
    await readAnswer(body, { answer: reader, protocol, context, watch, clock, onText });
    watch.signal.throwIfAborted();
    const rest = reader.flush();
    if (rest !== '') onText(rest);
    const result = reader.result(() => {
      this.#calls += 1;
      return `call_${this.#calls}`;
    });
    const totalMs = clock.monotonicMs() - startedAt;
    return { ...result, firstTokenMs: firstTokenMs ?? totalMs, totalMs };
  }

  async #open(request: LlmRequest, watch: ResponseTimeout): Promise<Readable> {
    for (let attempt = 0; ; attempt++) {
      const body = this.#options.protocol.body(request, this.#dialect);
      const response = await this.#connection.post(wellFormedJson(body), watch.signal);
      if (response.statusCode < 300) return response.body;
      const fault = await this.#refusal(response, attempt);
      if (fault !== undefined) throw fault;
    }
  }

  /** Reads the refusal. Returns a fault, or undefined if the request may succeed in another form, which is stored in
   *  the dialect. */
  async #refusal(
    response: Dispatcher.ResponseData,
    attempt: number,
  ): Promise<GatewayError | undefined> {
    const { clock, log, model, service, apiKey, protocol } = this.#options;
    const text = await readText(response.body, ERROR_BYTES_MAX);
    const error = protocol.readError(parseJson(text)) ?? {};
    const { statusCode: status } = response;
    const after = response.headers['retry-after'];
    const retryAfter = Array.isArray(after) ? after[0] : after;
    const context = { service, apiKey };
    const fault = serviceFault(context, error, { status, retryAfter, now: clock.now() });
    log.warn({ service, model, status, 'pii.detail': fault.detail }, 'language model refused');
    const filtered = filterRefusal(context, error, status);
    if (filtered !== undefined) return filtered;
    // The text of a too-long refusal names fields that are not at fault, such as the token limit of the answer.
    if (fault.kind === 'context') return fault;
    const mayAdapt = attempt < ADAPTATIONS_MAX && (status === 400 || status === 422);
    const said = `${error.param ?? ''} ${error.message ?? ''} ${error.code ?? ''}`;
    return mayAdapt && adaptDialect(this.#dialect, said, protocol.dialect) ? undefined : fault;
  }
}

async function readText(body: Readable, bytesMax: number): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body) {
    if (!Buffer.isBuffer(part)) continue;
    parts.push(part);
    bytes += part.length;
    if (bytes >= bytesMax) break;
  }
  return Buffer.concat(parts).toString('utf8', 0, bytesMax);
}

function countAnswer(service: string, { usage, firstTokenMs }: LlmResponse): void {
  serviceSeconds.observe({ kind: 'llm', service, result: 'ok' }, firstTokenMs / 1_000);
  modelTokens.inc({ service, kind: 'prompt' }, usage.promptTokens);
  modelTokens.inc({ service, kind: 'completion' }, usage.completionTokens);
}

function countFailure(service: string, failure: unknown, ms: number): void {
  const result = codeOf(failure) ?? 'bug';
  serviceSeconds.observe({ kind: 'llm', service, result }, ms / 1_000);
  if (!(failure instanceof ServiceFault)) return;
  serviceFaults.inc({ kind: 'llm', service, fault: failure.kind });
}

/** Adds the service's name to the error's facts. Network errors become faults; other errors (bugs) stay as they are. */
function classified(error: unknown, service: string): unknown {
  if (error instanceof ServiceFault) return error;
  if (codeOf(error) === 'LLM_TIMEOUT' && error instanceof GatewayError) {
    const what = String(error.facts['what']);
    return new ServiceFault('llm', service, 'timeout', { detail: `no ${what} in time`, what });
  }
  if (error instanceof GatewayError) {
    return new GatewayError(error.code, { service, ...error.facts }, error.cause);
  }
  if (!(error instanceof Error && 'code' in error)) return error;
  const kind = faultKindOfError(error);
  return new ServiceFault('llm', service, kind, { detail: String(error.code), cause: error });
}

interface ConnectionOptions {
  /** Base URL including the version: `https://api.openai.com/v1`. */
  baseUrl: string;
  protocol: Pick<ModelProtocol, 'path' | 'headers' | 'warmUp'>;
  /** Service name for metrics and the log. */
  service: string;
  /** Opens the connections; default: to any address. */
  connect?: buildConnector.connector | undefined;
  clock: Clock;
  log: Log;
}

interface Connection {
  /** Sends a request; `signal` aborts it. Rejects with network errors. */
  post(body: string, signal: AbortSignal): Promise<Dispatcher.ResponseData>;
  /** Opens a connection ahead of the next request, unless one is idle or being opened. */
  prepare(): void;
  /** Aborts every request in progress. */
  close(): Promise<void>;
}

const PREPARE_MS_MAX = 5_000;
/** Milliseconds that idle connections stay open, to last between a call's turns. The name is undici's. */
const keepAliveTimeout = 60_000;
/** Concurrent answers of one process. Further requests wait for a connection within their deadline. */
const CONNECTIONS_MAX = 256;

/** Connections to the server: kept alive between requests, opened ahead of the first one (DNS, TCP, TLS). */
function openConnection(options: ConnectionOptions): Connection {
  const { clock, log, service, protocol, connect } = options;
  const base = new URL(`${options.baseUrl.replace(/\/+$/, '')}/`);
  const agent = new Agent({
    connections: CONNECTIONS_MAX,
    keepAliveTimeout,
    ...(connect === undefined ? {} : { connect }),
  });
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    ...protocol.headers,
  };
  let isPreparing = false;

  function target(resource: string): { origin: string; path: string } {
    const root = resource.startsWith('/') ? '' : base.pathname;
    const joined = resource.includes('?') ? base.search.replace('?', '&') : base.search;
    return { origin: base.origin, path: `${root}${resource}${joined}` };
  }

  function hasFree(): boolean {
    const stats = agent.stats[base.origin];
    return stats !== undefined && 'free' in stats && stats.free > 0;
  }

  function warmUp(signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { method, path, body } = protocol.warmUp;
    return agent.request({
      ...target(path),
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal,
    });
  }

  return {
    post: (body, signal) =>
      agent.request({ ...target(protocol.path), method: 'POST', headers, body, signal }),
    prepare() {
      if (isPreparing || hasFree()) return;
      isPreparing = true;
      const startedAt = clock.monotonicMs();
      const count = (result: string) => {
        const seconds = (clock.monotonicMs() - startedAt) / 1_000;
        serviceSeconds.observe({ kind: 'llm-prepare', service, result }, seconds);
      };
      const controller = new AbortController();
      const deadline = clock.after(PREPARE_MS_MAX, () => controller.abort());
      // Any response shows that the connection is open.
      warmUp(controller.signal)
        .then(async (response) => {
          await response.body.dump();
          count('ok');
        })
        // If the server cannot be reached, the call's own request reports it.
        .catch((error: unknown) => {
          count(controller.signal.aborted ? 'timeout' : 'failed');
          log.debug({ service, err: error }, 'connection to language model not opened ahead');
        })
        .finally(() => {
          deadline.cancel();
          isPreparing = false;
        });
    },
    close: () => agent.destroy(),
  };
}
