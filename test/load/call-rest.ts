// The REST interface in front of a provider's fake, which does not know the calls of the load process: here every call
// is live. A command that answers one is passed on to that process; what concerns no call goes to the fake.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { z } from 'zod';

/** A call is waited for this long. */
const COMMAND_MS_MAX = 30_000;
const BODY_BYTES_MAX = 64 * 1024;
/** Telnyx' commands, and Vobiz' look at a call. */
const ACTION = /^\/v2\/calls\/([^/]+)\/actions\/([a-z_]+)$/;
const LOOK = /^\/api\/v1\/Account\/[^/]+\/Call\/([^/]+)\/$/;
const WAIT = /^\/commands\/([^/]+)$/;

const answerBody = z.looseObject({ stream_url: z.url({ protocol: /^wss?$/ }) });

export interface CallRest {
  readonly port: number;
  close(): Promise<void>;
}

export async function startCallRest(options: {
  /** Address of the fake's REST interface. */
  restUrl: string;
  host: string;
}): Promise<CallRest> {
  const rest = new Rest(options.restUrl);
  await rest.listen(options.host);
  return rest;
}

class Rest implements CallRest {
  readonly #restUrl: string;
  readonly #server = createServer((incoming, response) => void this.#serve(incoming, response));
  /** Streams of calls that are not waited for yet, and who waits; each is taken once. */
  readonly #streams = new Map<string, string>();
  readonly #waiting = new Map<string, (streamUrl: string) => void>();

  constructor(restUrl: string) {
    this.#restUrl = restUrl;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port; // A TCP server has an address of this kind.
  }

  listen(host: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, host, resolve);
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const path = (incoming.url ?? '').split('?', 1)[0] ?? '';
      const wanted = WAIT.exec(path)?.[1];
      if (wanted !== undefined) {
        const streamUrl = await this.#streamOf(decodeURIComponent(wanted));
        if (streamUrl === undefined) reply(response, 504, { error: 'no command came' });
        else reply(response, 200, { streamUrl });
        return;
      }
      const body = await textOf(incoming);
      const [, callId, action] = ACTION.exec(path) ?? [];
      const looked = LOOK.exec(path)?.[1];
      if (looked !== undefined) live(incoming.method ?? '', looked, response);
      else if (callId === undefined) await this.#forward(incoming, body, response);
      else this.#command(decodeURIComponent(callId), action ?? '', { body, response });
    } catch (error) {
      if (!response.headersSent) reply(response, 500, { error: String(error) });
    }
  }

  #command(
    callId: string,
    action: string,
    { body, response }: { body: string; response: ServerResponse },
  ): void {
    if (action === 'answer') {
      const read = answerBody.safeParse(JSON.parse(body));
      if (!read.success) {
        reply(response, 422, { errors: [{ code: '10004', title: 'no stream_url' }] });
        return;
      }
      const { stream_url: streamUrl } = read.data;
      const waiting = this.#waiting.get(callId);
      if (waiting === undefined) this.#streams.set(callId, streamUrl);
      else waiting(streamUrl);
    }
    reply(response, 200, { data: { result: 'ok' } });
  }

  async #streamOf(callId: string): Promise<string | undefined> {
    const known = this.#streams.get(callId);
    this.#streams.delete(callId);
    if (known !== undefined) return known;
    return await new Promise((resolve) => {
      const timer = setTimeout(() => settle(undefined), COMMAND_MS_MAX);
      const settle = (streamUrl: string | undefined): void => {
        clearTimeout(timer);
        this.#waiting.delete(callId);
        resolve(streamUrl);
      };
      this.#waiting.set(callId, settle);
    });
  }

  async #forward(incoming: IncomingMessage, body: string, response: ServerResponse): Promise<void> {
    const {
      host: _host,
      connection: _hop,
      'content-length': _bytes,
      ...headers
    } = incoming.headers;
    const method = z.enum(['GET', 'POST', 'PATCH', 'PUT', 'DELETE']).parse(incoming.method);
    const answer = await request(`${this.#restUrl}${incoming.url ?? ''}`, {
      method,
      headers,
      ...(body !== '' && { body }),
      signal: AbortSignal.timeout(COMMAND_MS_MAX),
    });
    response.writeHead(answer.statusCode, { 'content-type': 'application/json' });
    response.end(await answer.body.text());
  }
}

function live(method: string, callUuid: string, response: ServerResponse): void {
  if (method === 'GET') {
    reply(response, 200, { ['call_status']: 'ringing', ['call_uuid']: callUuid });
    return;
  }
  response.writeHead(204);
  response.end();
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error('a request that is too large');
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks).toString();
}
