// ARI's event socket, whoever dialled it: events out, and REST requests in where the version has them.

import type WebSocket from 'ws';
import type { Pbx } from './pbx.ts';
import type { RestAnswer, RestRequest } from './rest.ts';
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
  /** Asterisk dialled it. */
  isOutbound: boolean;
}

export class EventSocket implements EventSink {
  readonly #socket: WebSocket;
  readonly #means: EventSocketMeans;

  constructor(socket: WebSocket, means: EventSocketMeans) {
    this.#socket = socket;
    this.#means = means;
    const { pbx } = means;
    for (const app of means.apps) {
      pbx.stasis.connect(app, this, means.subscribesAll);
      if (means.isOutbound) this.#registered(app);
    }
    socket.on('message', (data: Buffer) => void this.#take(data.toString()));
    socket.on('error', () => undefined); // What broke is told by the close that follows.
    socket.on('close', () => pbx.stasis.disconnect(this, (app) => pbx.isNeeded(app)));
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

  #registered(app: string): void {
    const { pbx } = this.#means;
    this.send({
      type: 'ApplicationRegistered',
      timestamp: pbx.timestamp(),
      asterisk_id: '02:00:00:00:00:01',
      application: app,
    });
  }

  async #take(message: string): Promise<void> {
    if (!this.#means.pbx.version.restOverWebsocket) return;
    const asked = requestIn(message);
    const answer =
      asked === undefined
        ? { status: 400, body: { message: 'Unable to parse JSON' } }
        : await this.#means.rest({ ...asked.request, isReadOnly: this.#means.isReadOnly });
    if (answer === undefined) return;
    const isJson = answer.body !== null;
    this.send({
      type: 'RESTResponse',
      transaction_id: asked?.transactionId ?? '',
      request_id: asked?.requestId ?? '',
      status_code: answer.status,
      reason_phrase: reasons[answer.status] ?? 'Unknown',
      uri: asked?.request.path ?? '',
      ...(isJson
        ? { content_type: 'application/json', message_body: JSON.stringify(answer.body) }
        : {}),
      timestamp: this.#means.pbx.timestamp(),
      asterisk_id: '02:00:00:00:00:01',
      application: this.#means.apps[0] ?? '',
    });
  }
}

interface Asked {
  request: Omit<RestRequest, 'isReadOnly'>;
  requestId: string;
  transactionId: string;
}

function requestIn(message: string): Asked | undefined {
  try {
    const fields: unknown = JSON.parse(message);
    if (typeof fields !== 'object' || fields === null) return undefined;
    const text = (name: string): string => {
      const value: unknown = Reflect.get(fields, name);
      return typeof value === 'string' ? value : '';
    };
    if (text('type') !== 'RESTRequest') return undefined;
    const [path = '', search = ''] = text('uri')
      .replace(/^\/?(ari\/)?/, '')
      .split('?');
    const query = new URLSearchParams(search);
    const pairs: unknown = Reflect.get(fields, 'query_strings');
    for (const pair of Array.isArray(pairs) ? pairs : []) {
      query.set(String(pair?.name), String(pair?.value));
    }
    const raw = text('message_body');
    return {
      request: {
        method: text('method').toUpperCase(),
        path,
        query,
        body: raw === '' ? undefined : JSON.parse(raw),
      },
      requestId: text('request_id'),
      transactionId: text('transaction_id'),
    };
  } catch {
    return undefined; // Asterisk says only that it could not parse it.
  }
}
