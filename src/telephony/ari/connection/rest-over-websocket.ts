// Requests to Asterisk over its own websocket: many in parallel, each with a deadline, answered in any order.
// Source: asterisk §4 (REST over websocket).

import { z } from 'zod';
import { GatewayError } from '../../../errors/gateway-error.ts';
import { providerRequestSeconds } from '../../../metrics/metrics.ts';
import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import { parseJson } from '../../../std/json.ts';
import {
  type AriAnswer,
  type AriRequest,
  type AriRequestTransport,
  isRepeatable,
} from '../rest/client.ts';

/** Deadline of a request, as over HTTP. */
const DEADLINE_MS = 10_000;
/** Requests in flight: a PBX that answers nothing must not fill our memory. */
const WAITING_MAX = 1_000;

const response = z.looseObject({
  type: z.literal('RESTResponse'),
  request_id: z.string(),
  status_code: z.number(),
  message_body: z.string().catch(''),
});

export class SocketRest implements AriRequestTransport {
  readonly #send: (text: string) => void;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, (answer: AriAnswer | undefined) => void>();
  #last = 0;

  constructor(options: { send: (text: string) => void; clock: Clock }) {
    this.#send = options.send;
    this.#clock = options.clock;
  }

  async send(request: AriRequest, signal: AbortSignal): Promise<AriAnswer> {
    const { action } = request;
    const facts = { provider: 'ari', action };
    if (this.#waiting.size >= WAITING_MAX) {
      throw new GatewayError('PROVIDER_CAPACITY', { ...facts, reason: 'too many requests wait' });
    }
    const startedMs = this.#clock.monotonicMs();
    const deadline = deadlineSignal(this.#clock, DEADLINE_MS, action, signal);
    let result = 'failed';
    try {
      const answer = await this.#exchange(request, deadline.signal);
      if (answer === undefined) throw this.#lost(request, 'the connection was closed');
      result = `${Math.floor(answer.status / 100)}xx`;
      return answer;
    } catch (error) {
      if (!deadline.signal.aborted) throw error;
      if (signal.aborted) throw this.#lost(request, 'aborted', error);
      result = 'late';
      throw new GatewayError('PROVIDER_TIMEOUT', facts, error);
    } finally {
      deadline.done();
      const seconds = (this.#clock.monotonicMs() - startedMs) / 1_000;
      providerRequestSeconds.observe({ provider: 'ari', action, result }, seconds);
    }
  }

  /** Whether the message was an answer. */
  take(text: string): boolean {
    if (!text.includes('"RESTResponse"')) return false;
    const read = response.safeParse(parseJson(text));
    if (!read.success) return false;
    const { request_id: id, status_code: status, message_body: body } = read.data;
    this.#waiting.get(id)?.({ status, body: parseJson(body) });
    return true;
  }

  /** The socket is closed: every pending request fails. */
  close(): void {
    for (const settle of this.#waiting.values()) settle(undefined);
  }

  #exchange(request: AriRequest, signal: AbortSignal): Promise<AriAnswer | undefined> {
    this.#last += 1;
    const id = `r${this.#last}`;
    return new Promise<AriAnswer | undefined>((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason as Error);
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.set(id, (answer) => {
        signal.removeEventListener('abort', onAbort);
        resolve(answer);
      });
      this.#send(wordsOf(id, request));
    }).finally(() => this.#waiting.delete(id));
  }

  #lost(request: AriRequest, reason: string, cause?: unknown): GatewayError {
    const code = isRepeatable(request) ? 'PROVIDER_FAILED' : 'PROVIDER_UNCERTAIN';
    return new GatewayError(code, { provider: 'ari', action: request.action, reason }, cause);
  }
}

function wordsOf(id: string, { method, path, query, body }: AriRequest): string {
  return JSON.stringify({
    type: 'RESTRequest',
    request_id: id,
    transaction_id: id,
    method,
    uri: path,
    query_strings: Object.entries(query ?? {}).map(([name, value]) => ({ name, value })),
    ...(body === undefined
      ? {}
      : { content_type: 'application/json', message_body: JSON.stringify(body) }),
  });
}
