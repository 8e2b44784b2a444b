// A Wyoming server in place of the real ones, with framing of its own: records the events it gets on each connection,
// and answers by a script. It checks the order of events and ends a connection that breaks it.

import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

export interface WireEvent {
  type: string;
  data: Record<string, unknown>;
  payloadBytes: number;
  payload: Buffer;
}

export interface WyomingPeer {
  events: WireEvent[];
  socket: Socket;
  send(type: string, data?: Record<string, unknown>, payload?: Uint8Array): void;
}

export interface FakeWyoming {
  url: string;
  peers: WyomingPeer[];
  close(): Promise<void>;
}

/** `onEvent` is called for each event that came. */
export async function startFakeWyoming(
  onEvent: (peer: WyomingPeer, event: WireEvent) => void,
): Promise<FakeWyoming> {
  const peers: WyomingPeer[] = [];
  const server = createServer((socket) => {
    const peer: WyomingPeer = {
      events: [],
      socket,
      send(type, data = {}, payload = new Uint8Array()) {
        // Some programs put the data into the line, others behind it: the fake does both in turn.
        const isInline = peer.events.length % 2 === 0;
        const json = isInline ? '' : JSON.stringify(data);
        const head = {
          type,
          version: '1.0',
          ...(isInline ? { data } : { data_length: json.length }),
        };
        socket.write(`${JSON.stringify({ ...head, payload_length: payload.length })}\n${json}`);
        socket.write(payload);
      },
    };
    peers.push(peer);
    let held = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      held = Buffer.concat([held, bytes]);
      for (let read = firstEvent(held); read !== undefined; read = firstEvent(held)) {
        held = held.subarray(read.bytes);
        peer.events.push(read.event);
        onEvent(peer, read.event);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    peers,
    async close() {
      for (const { socket } of peers) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Undefined if it is not complete. */
function firstEvent(held: Buffer): { event: WireEvent; bytes: number } | undefined {
  const end = held.indexOf('\n');
  if (end === -1) return undefined;
  const head = JSON.parse(held.toString('utf8', 0, end));
  const dataEnd = end + 1 + (head.data_length ?? 0);
  const bytes = dataEnd + (head.payload_length ?? 0);
  if (held.length < bytes) return undefined;
  const text = held.toString('utf8', end + 1, dataEnd);
  const data = { ...head.data, ...JSON.parse(text === '' ? '{}' : text) };
  const payload = held.subarray(dataEnd, bytes);
  return { event: { type: head.type, data, payloadBytes: payload.length, payload }, bytes };
}
