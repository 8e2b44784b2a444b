// Text that goes out through one buffer for all sockets, as RFC 6455 §5.2 has it.

import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { SharedFrameBuffer } from '../../../src/transport/websocket/shared-frame.ts';
import { frameOf, OPCODE } from '../../../src/transport/websocket/websocket-frames.ts';
import { WebsocketStream } from '../../../src/transport/websocket/websocket-stream.ts';

/** Keeps what it is given, and says that it is written when it is told to. */
class StalledSocket extends Duplex {
  readonly taken: Uint8Array[] = [];
  readonly #waiting: (() => void)[] = [];
  isStalled = false;

  override _read(): void {
    // Nothing comes.
  }

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    if (this.isStalled) {
      this.taken.push(chunk);
      this.#waiting.push(done);
    } else {
      this.taken.push(Buffer.from(chunk));
      done();
    }
  }

  /** Everything that waits is written. */
  flow(): void {
    this.isStalled = false;
    for (const done of this.#waiting.splice(0)) done();
  }
}

function open(side: 'server' | 'client'): { socket: StalledSocket; stream: WebsocketStream } {
  const socket = new StalledSocket();
  const nothing = () => undefined;
  const listener = {
    onText: nothing,
    onAscii: nothing,
    onBinary: nothing,
    onPing: nothing,

    onPong: nothing,
    onFault: nothing,
    onClose: nothing,
  };
  const head = Buffer.alloc(0);
  const messageBytesMax = 100_000;
  return { socket, stream: new WebsocketStream({ socket, head, side, messageBytesMax, listener }) };
}

function message(bytes: number, letter = 'a'): Buffer {
  return Buffer.alloc(bytes, letter);
}

describe('text of plain ASCII', () => {
  it.each([0, 1, 125, 126, 720, 20_000, 65_535, 65_536])('of %d bytes is one frame', (bytes) => {
    const { socket, stream } = open('server');
    stream.sendAscii(message(bytes));
    expect(Buffer.concat(socket.taken)).toEqual(frameOf(OPCODE.text, message(bytes), undefined));
  });

  it('is masked by a client', () => {
    const { socket, stream } = open('client');
    stream.sendAscii(message(3));
    const [frame] = socket.taken;
    expect(frame?.length).toBe(2 + 4 + 3);
    expect((frame?.[1] ?? 0) & 0x80).toBe(0x80);
  });

  it('stays what it was while a socket has not taken it, whatever others send', async () => {
    const slow = open('server');
    const quick = open('server');
    slow.socket.isStalled = true;
    for (const letter of 'abc') {
      slow.stream.sendAscii(message(200, letter));
      quick.stream.sendAscii(message(200, letter.toUpperCase()));
    }
    slow.socket.flow();
    await new Promise((resolve) => setImmediate(resolve));
    const frames = (letters: string) =>
      [...letters].map((each) => frameOf(OPCODE.text, message(200, each), undefined));
    expect(slow.socket.taken.map((each) => Buffer.from(each))).toEqual(frames('abc'));
    expect(quick.socket.taken).toEqual(frames('ABC'));
  });

  it('takes no new memory as long as frames are of one size and taken at once', () => {
    const shared = new SharedFrameBuffer();
    const first = shared.textFrame(message(720));
    expect(shared.textFrame(message(720, 'b'))).toBe(first);
    shared.release();
    expect(shared.textFrame(message(720)).buffer).not.toBe(first.buffer);
  });
});
