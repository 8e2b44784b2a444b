// websocket_client.conf: named connections that Asterisk dials, for media (one per call) and for ARI (one
// that stays). Tries again as configured; before 22.11 it waits for ever for an answer to its upgrade.

import WebSocket from 'ws';
import type { Pbx } from '../pbx.ts';

export interface WebsocketClientFacts {
  uri: string;
  protocols?: string;
  username?: string;
  password?: string;
  connectionTimeoutMs?: number;
  reconnectIntervalMs?: number;
  reconnectAttempts?: number;
  /** Settings of the section that are shown otherwise. */
  shown?: Record<string, string>;
}

export interface WebsocketClient extends WebsocketClientFacts {
  /** The `v()` of the last call that had some. */
  lastVariables: string[];
}

export interface DialOut {
  /** `name=value`, for the query. */
  parameters: string[];
  isWanted: () => boolean;
  onOpen: (socket: WebSocket) => void;
  onFailed: () => void;
}

/** Resolves when the attempts are over, well or badly. */
export async function dialClient(
  pbx: Pbx,
  client: WebsocketClientFacts,
  call: DialOut,
): Promise<void> {
  const attempts = client.reconnectAttempts ?? 3;
  for (let nth = 0; nth < attempts; nth++) {
    const socket = await attempt(pbx, client, call.parameters);
    if (socket !== null) {
      if (call.isWanted()) call.onOpen(socket);
      else socket.close(1000);
      return;
    }
    if (!call.isWanted()) return;
    if (nth === attempts - 1) break;
    await new Promise<void>(
      (resolve) => void pbx.later(client.reconnectIntervalMs ?? 200, resolve),
    );
  }
  call.onFailed();
}

async function attempt(
  pbx: Pbx,
  client: WebsocketClientFacts,
  parameters: string[],
): Promise<WebSocket | null> {
  const query = parameters.join('&');
  const mark = client.uri.includes('?') ? '&' : '?';
  const uri = query === '' ? client.uri : `${client.uri}${mark}${query}`;
  const basic = Buffer.from(`${client.username ?? ''}:${client.password ?? ''}`).toString('base64');
  const hasLogin = client.username !== undefined && client.password !== undefined;
  const socket = new WebSocket(uri, client.protocols ?? [], {
    perMessageDeflate: false,
    headers: hasLogin ? { authorization: `Basic ${basic}` } : {},
  });
  const kill = (): void => socket.terminate();
  pbx.mortals.add(kill);
  socket.once('close', () => pbx.mortals.delete(kill));
  return await new Promise((resolve) => {
    const cancel = pbx.version.handshakeDeadline
      ? pbx.later(2 * (client.connectionTimeoutMs ?? 500), () => socket.terminate())
      : () => undefined;
    const finish = (opened: WebSocket | null): void => {
      cancel();
      resolve(opened);
    };
    socket.once('open', () => finish(socket));
    // Whatever the reason, Asterisk only tries again; it is in its log alone.
    socket.on('error', () => finish(null));
    socket.once('close', () => finish(null));
  });
}
