// ARI's event socket, whoever dialled it: events out, and REST requests in where the version has them.

import type WebSocket from 'ws';
import type { OutboundSession } from './outbound-session.ts';
import type { Pbx } from './pbx.ts';
import type { RestAnswer, RestRequest } from './rest/rest.ts';
import type { AriEvent, EventSink } from './stasis.ts';

const reasons: Record<number, string> = {
  200: 'OK',
  201: 'Created',
  204: 'No Content',
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  422: 'Unprocessable Entity',
  500: 'Internal Server Error',
  501: 'Not Implemented',
};

export interface EventSocketMeans {
  pbx: Pbx;
  apps: string[];
  subscribesAll: boolean;
  isReadOnly: boolean;
  /** Undefined: never answered. */
  rest: (request: RestRequest) => Promise<RestAnswer | undefined>;
  /** Session of the connection that Asterisk opened; undefined: a client opened it. */
  outbound?: OutboundSession | undefined;
}

export class EventSocket implements EventSink {
  readonly #socket: WebSocket;
  readonly #means: EventSocketMeans;

  constructor(socket: WebSocket, means: EventSocketMeans) {
    this.#socket = socket;
    this.#means = means;
    const { pbx, outbound } = means;
    if (outbound === undefined) {
      for (const app of means.apps) pbx.stasis.connect(app, this, means.subscribesAll);
    } else {
      outbound.attach(this);
    }
    socket.on('message', (data: Buffer) => void this.#take(data.toString()));
    socket.on('error', () => undefined); // What broke is told by the close that follows.
    socket.on('close', () => {
      if (outbound === undefined) pbx.stasis.disconnect(this, (app) => pbx.isNeeded(app));
      else outbound.detach(this);
    });
  }

  send(event: AriEvent): void {
    this.#socket.send(JSON.stringify(event));
  }

  /** The connection breaks without a goodbye. */
  cut(): void {
    this.#socket.terminate();
  }

  /** Half open: nothing comes from it any more, and nothing is heard. */
  freeze(): void {
    this.#socket.pause();
    this.send = () => undefined;
  }

  async #take(message: string): Promise<void> {
    if (!this.#means.pbx.version.restOverWebsocket) return;
    const asked = requestIn(message);
    if ('problem' in asked) {
      this.#respond({ requestId: '', transactionId: '', path: '' }, 400, asked);
      return;
    }
    const { isReadOnly, rest } = this.#means;
    const answer = await rest({ ...asked.request, isReadOnly });
    if (answer === undefined) return;
    const reason = reasons[answer.status] ?? 'Unknown';
    const { requestId, transactionId, request } = asked;
    const to = { requestId, transactionId, path: request.path };
    this.#respond(to, answer.status, { reason, problem: answer.body });
  }

  #respond(
    to: { requestId: string; transactionId: string; path: string },
    status: number,
    { reason, problem }: { reason: string; problem: unknown },
  ): void {
    const { pbx, apps } = this.#means;
    const app = apps[0] ?? '';
    // Answers go through the application's filter of events: without an application there is no answer.
    if (pbx.stasis.apps.get(app)?.takes('RESTResponse') !== true) return;
    this.send({
      type: 'RESTResponse',
      transaction_id: to.transactionId,
      request_id: to.requestId,
      status_code: status,
      reason_phrase: reason,
      uri: to.path,
      ...(problem === null
        ? {}
        : { content_type: 'application/json', message_body: JSON.stringify(problem) }),
      application: app,
      timestamp: pbx.timestamp(),
      asterisk_id: '02:00:00:00:00:01',
    });
  }
}

interface Asked {
  request: Omit<RestRequest, 'isReadOnly'>;
  requestId: string;
  transactionId: string;
}

/** Not a request: `problem` is the answer's body, null for none. */
interface NoRequest {
  reason: string;
  problem: unknown;
}

function requestIn(message: string): Asked | NoRequest {
  const unreadable = { reason: 'Failed to parse request message JSON', problem: null };
  let fields: unknown;
  try {
    fields = JSON.parse(message);
  } catch {
    return unreadable;
  }
  if (typeof fields !== 'object' || fields === null) return unreadable;
  const text = (name: string): string => {
    const value: unknown = Reflect.get(fields, name);
    return typeof value === 'string' ? value : '';
  };
  const reason = 'Bad request';
  if (text('type') !== 'RESTRequest') {
    return { reason, problem: { message: 'Unknown request type.' } };
  }
  if (text('uri') === '') {
    return { reason, problem: { message: "Empty or missing 'uri' property." } };
  }
  const [path = '', search = ''] = text('uri').split('?');
  const query = new URLSearchParams(search);
  const pairs: unknown = Reflect.get(fields, 'query_strings');
  for (const pair of Array.isArray(pairs) ? pairs : []) {
    query.set(String(pair?.name), String(pair?.value));
  }
  const raw = text('message_body');
  const body: unknown = raw === '' ? undefined : JSON.parse(raw);
  const request = { method: text('method').toUpperCase(), path, query, body };
  return { request, requestId: text('request_id'), transactionId: text('transaction_id') };
}
