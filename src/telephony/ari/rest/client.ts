// Requests to one Asterisk, over HTTP or over a socket that Asterisk has opened to us: one attempt, a
// deadline, typed failures. Source: asterisk §4, wiki "Asterisk REST Interface".

import type { z } from 'zod';
import { GatewayError } from '../../../errors/gateway-error.ts';
import { parseJson } from '../../../std/json.ts';
import type { Rest } from '../../provider/rest-client.ts';
import { type AriAccount, basicAuth, restUrl } from './config.ts';
import { ariFault } from './messages.ts';

export interface AriRequest {
  /** Name for metric and messages: `dial`, `hang-up`, ... */
  action: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path under /ari, without a leading slash; ids in it are percent-encoded. */
  path: string;
  query?: Record<string, string>;
  body?: unknown;
  /** Whether the request is idempotent. Default: all but POST. */
  repeatable?: boolean;
}

export interface AriAnswer {
  status: number;
  /** Parsed JSON; undefined if there is none. */
  body: unknown;
}

/** How requests are sent. `send` fails as `Rest.send` does: any status is an answer. */
export interface AriRequestTransport {
  send(request: AriRequest, signal: AbortSignal): Promise<AriAnswer>;
}

export interface AriClient {
  /** Sends one request; any status is an answer. Throws PROVIDER_TIMEOUT, PROVIDER_FAILED, PROVIDER_UNCERTAIN. */
  send(request: AriRequest, signal: AbortSignal): Promise<AriAnswer>;
  /** The content of a 2xx answer. Throws what `send` throws, and for another status the error of `ariFaultOf`. */
  get<T>(request: AriRequest, schema: z.ZodType<T>, signal: AbortSignal): Promise<T>;
  /** Sends a request whose answer has no content of interest. Throws as `get`. */
  run(request: AriRequest, signal: AbortSignal): Promise<void>;
}

/** `onAnswer` gets every answer, before the sender of the request. */
export function createAriClient(
  transport: () => AriRequestTransport,
  onAnswer: (request: AriRequest, answer: AriAnswer) => void = () => undefined,
): AriClient {
  const ask = async (request: AriRequest, signal: AbortSignal) => {
    const answer = await transport().send(request, signal);
    onAnswer(request, answer);
    return answer;
  };
  const answered = async (request: AriRequest, signal: AbortSignal) => {
    const answer = await ask(request, signal);
    if (answer.status < 200 || answer.status > 299) throw ariFaultOf(request, answer);
    return answer.body;
  };
  return {
    send: ask,

    async get(request, schema, signal) {
      const content = schema.safeParse(await answered(request, signal));
      if (content.success) return content.data;
      const facts = { provider: 'ari', action: request.action, reason: 'unreadable answer' };
      const code = isRepeatable(request) ? 'PROVIDER_FAILED' : 'PROVIDER_UNCERTAIN';
      throw new GatewayError(code, facts, content.error);
    },

    async run(request, signal) {
      await answered(request, signal);
    },
  };
}

export function httpTransport(rest: Rest, account: AriAccount): AriRequestTransport {
  const base = restUrl(account);
  const authorization = basicAuth(account);
  return {
    async send(request, signal) {
      const query = new URLSearchParams(request.query).toString();
      const response = await rest.send(
        {
          action: request.action,
          method: request.method,
          url: `${base}/${request.path}${query === '' ? '' : `?${query}`}`,
          headers: {
            authorization,
            accept: 'application/json',
            ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          body: request.body === undefined ? null : JSON.stringify(request.body),
          repeatable: isRepeatable(request),
        },
        signal,
      );
      return { status: response.status, body: parseJson(response.body) };
    },
  };
}

export function isRepeatable({ method, repeatable }: AriRequest): boolean {
  return repeatable ?? method !== 'POST';
}

export const READ_ONLY =
  'the ARI user may only read: set read_only = no in ari.conf, then module reload res_ari.so';

/** Whether Asterisk refuses the request because its user has `read_only = yes`. A proxy has other words. */
export function isWriteRefused({ method }: Pick<AriRequest, 'method'>, answer: AriAnswer): boolean {
  return method !== 'GET' && answer.status === 403 && messageOf(answer) === 'Write access denied';
}

/** The PROVIDER_* error for an unsuccessful answer. */
export function ariFaultOf(request: AriRequest, answer: AriAnswer): GatewayError {
  const { action } = request;
  const { status } = answer;
  const said = messageOf(answer);
  const reason = `HTTP ${status}${said === '' ? '' : ` ${said}`}`;
  const facts = { provider: 'ari', action, reason };
  if (status === 401) return new GatewayError('PROVIDER_AUTH', facts);
  if (status === 403) return new GatewayError('PROVIDER_REFUSED', { ...facts, reason: READ_ONLY });
  if (status === 503) return new GatewayError('PROVIDER_CAPACITY', facts);
  // Asterisk answers 500 if it cannot create a channel: the technology, the endpoint or the format is missing.
  if (status === 500 && action === 'dial') {
    return new GatewayError('PROVIDER_DESTINATION', {
      ...facts,
      reason: `${reason} (no such endpoint)`,
    });
  }
  if (status >= 500) {
    return new GatewayError(
      isRepeatable(request) ? 'PROVIDER_FAILED' : 'PROVIDER_UNCERTAIN',
      facts,
    );
  }
  return new GatewayError('PROVIDER_REFUSED', facts);
}

/** Characters of Asterisk's own error text. */
const WORDS_MAX = 120;

function messageOf({ body }: AriAnswer): string {
  const said = ariFault.safeParse(body).data;
  return (said?.message ?? said?.error ?? '').slice(0, WORDS_MAX);
}

/** Whether the channel or bridge does not exist any more. */
export function isAriNotFound({ status }: Pick<AriAnswer, 'status'>): boolean {
  return status === 404;
}
