// A process that is too busy to read a media socket: its peer is not silent, and the backlog is no flood.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { SocketKernel } from '../../../src/runtime/direct-socket.ts';
import type { MediaSocket } from '../../../src/transport/media-socket.ts';
import { createMediaServer } from '../../../src/transport/websocket/media-server.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

const PER_SECOND_MAX = 500;

/** Text frame of one character, and an empty one, masked with zeros. */
const TEXT = '8181000000006d';
const PING = '898000000000';

/** What the peer sent and nobody has read. */
class Unread implements SocketKernel {
  readonly received = Buffer.alloc(65_536);
  readonly outgoing = Buffer.alloc(65_536);
  messages = 0;
  frame = TEXT;

  receive(): number {
    const count = Math.min(this.messages, 4_000);
    const bytes = this.frame.length / 2;
    for (let nth = 0; nth < count; nth++) this.received.write(this.frame, nth * bytes, 'hex');
    this.messages -= count;
    return count === 0 ? -1 : count * bytes;
  }

  send(): number {
    return -1; // Node sends it.
  }
}

describe('a media socket that was not read for a time', () => {
  const clock = new FakeClock();
  let unread: Unread;
  let socket: MediaSocket;
  let seen: string[];
  let stop: () => Promise<void>;

  beforeEach(async () => {
    unread = new Unread();
    seen = [];
    let admitted: (() => void) | undefined;
    const isAdmitted = new Promise<void>((resolve) => {
      admitted = resolve;
    });
    const media = createMediaServer({
      log: quietLog().log,
      clock,
      kernel: unread,
      limits: { messagesPerSecondMax: PER_SECOND_MAX },
      authorize: async () => ({
        accept: (accepted: MediaSocket) => {
          socket = accepted;
          admitted?.();
          return {
            onText: (message) => seen.push(message),
            onBinary: () => undefined,
            onClose: (_code, reason) => seen.push(`closed: ${reason}`),
          };
        },
      }),
    });
    const http = createServer();
    http.on('upgrade', (request, duplex, head) => void media.handleUpgrade(request, duplex, head));
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const { port } = http.address() as AddressInfo;
    const client = new WebSocket(`ws://127.0.0.1:${port}/api/v1/telephony/ws/1/2/3/token`);
    client.on('error', () => undefined);
    await isAdmitted;
    socket.reads?.setBatched(true);
    stop = async () => {
      socket.reads?.setBatched(false); // Else its end is not detected.
      client.terminate();
      const closed = media.close(1001);
      clock.advance(2_000);
      await closed;
      http.close();
    };
    unread.messages = 1;
    socket.reads?.readNow();
    expect(seen).toEqual(['m']);
  });

  afterEach(() => stop());

  it('is kept at its ping if anything came, and dropped if nothing did', async () => {
    clock.advance(15_000);
    unread.messages = 1;
    clock.advance(10_000);
    await settle();
    expect(seen).toEqual(['m', 'm']);
    clock.advance(5_000 + 10_000);
    await expect.poll(() => seen.at(-1)).toBe('closed: ');
  });

  it('takes the backlog of that time, and no more than that', () => {
    clock.advance(8_000);
    unread.messages = 8 * 250;
    socket.reads?.readNow();
    expect([unread.messages, seen.length, socket.open]).toEqual([0, 2_001, true]);
    unread.messages = 1;
    socket.reads?.readNow();
    expect(socket.open).toBe(false);
  });

  it('answers as many pings of that time as a tenth of the messages, and no more', () => {
    unread.frame = PING;
    unread.messages = 1;
    socket.reads?.readNow();
    clock.advance(8_000);
    unread.messages = 8 * 25;
    socket.reads?.readNow();
    expect(socket.open).toBe(true);
    unread.messages = 1;
    socket.reads?.readNow();
    expect(socket.open).toBe(false);
  });
});
