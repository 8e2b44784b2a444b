import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import {
  frameOf,
  OPCODE,
  textHead,
  type WebsocketFrameHandler,
  WebsocketReader,
} from '../../../src/transport/websocket/websocket-frames.ts';
import { rounds } from '../../rounds.ts';

const MASK = Uint8Array.of(1, 2, 3, 4);

function reader({ masked = true, messageBytesMax = 1_000_000 } = {}) {
  const seen: string[] = [];
  const taker: WebsocketFrameHandler = {
    onText: (message) => seen.push(`text ${message}`),
    onAscii: (bytes, from, end) => seen.push(`text ${bytes.toString('ascii', from, end)}`),
    onBinary: (message) => seen.push(`binary ${Buffer.from(message).toString('hex')}`),
    onPing: (payload) => seen.push(`ping ${Buffer.from(payload).toString('hex')}`),
    onPong: () => seen.push('pong'),
    onCloseFrame: (code, reason) => seen.push(`close ${code} ${reason}`),
  };
  const frames = new WebsocketReader({ masked, messageBytesMax, taker });
  const read = (bytes: Uint8Array) => frames.read(Buffer.from(bytes), bytes.length);
  return { seen, read, fault: (bytes: Uint8Array) => faultOf(() => read(bytes)) };
}

function faultOf(work: () => void): string | undefined {
  try {
    work();
  } catch (error) {
    return codeOf(error) ?? String(error);
  }
  return undefined;
}

const text = (message: string) => frameOf(OPCODE.text, Buffer.from(message), MASK);

/** A masked frame with its first byte replaced: pieces of a message, reserved bits, unknown opcodes. */
function withFirst(first: number, payload: Uint8Array): Buffer {
  const frame = frameOf(OPCODE.text, payload, MASK);
  frame[0] = first;
  return frame;
}

describe('websocket frames', () => {
  it('are unmasked at any offset in memory, up to their end', () => {
    const mask = fc.uint8Array({ minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(fc.nat(9), fc.nat(9), fc.uint8Array({ maxLength: 120 }), mask, (...given) => {
        const [offset, before, payload, key] = given;
        const head = [0x82, 0x80 | payload.length, ...key];
        const masked = payload.map((byte, i) => byte ^ (key[i % 4] as number));
        const ping = [0x89, 0x80, ...MASK];
        const pings = Array.from({ length: before }, () => ping).flat();
        const stream = Buffer.from([...pings, ...head, ...masked, ...ping]);
        const memory = Buffer.alloc(offset + stream.length + 3, 0xee);
        memory.set(stream, offset);
        const seen: string[] = [];
        const taker = {
          onBinary: (message: Uint8Array) => seen.push(Buffer.from(message).toString('hex')),
          onPing: () => seen.push('ping'),
        } as unknown as WebsocketFrameHandler;
        const bytes = memory.subarray(offset, offset + stream.length);
        new WebsocketReader({ masked: true, messageBytesMax: 1_000, taker }).read(
          bytes,
          bytes.length,
        );
        const told = Array.from({ length: before }, () => 'ping');
        expect(seen).toEqual([...told, Buffer.from(payload).toString('hex'), 'ping']);
        expect(memory.subarray(0, offset).every((byte) => byte === 0xee)).toBe(true);
        expect(memory.subarray(offset + stream.length).toString('hex')).toBe('eeeeee');
      }),
      { numRuns: rounds(2_000) },
    );
  });

  it('distinguish ASCII text from other text at every length', () => {
    for (let length = 1; length < 40; length++) {
      for (let at = 0; at < length; at++) {
        const message = `${'a'.repeat(at)}é${'a'.repeat(length - at)}`;
        const all = reader();
        all.read(text(message));
        expect(all.seen).toEqual([`text ${message}`]);
      }
    }
  });

  it('are read however the stream was cut, of every length form', () => {
    const message = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.constantFrom('', 'a'.repeat(125), 'a'.repeat(126), 'ä'.repeat(40_000), 'b'.repeat(65_536)),
    );
    const frame = fc.oneof(
      message.map((content) => ({ frame: text(content), seen: `text ${content}` })),
      fc.uint8Array({ maxLength: 400 }).map((bytes) => ({
        frame: frameOf(OPCODE.binary, bytes, MASK),
        seen: `binary ${Buffer.from(bytes).toString('hex')}`,
      })),
      fc.uint8Array({ maxLength: 125 }).map((bytes) => ({
        frame: frameOf(OPCODE.ping, bytes, Uint8Array.of(0, 0, 0, 0)),
        seen: `ping ${Buffer.from(bytes).toString('hex')}`,
      })),
    );
    const cuts = fc.infiniteStream(fc.integer({ min: 1, max: 700 }));
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 6 }), cuts, (frames, sizes) => {
        const { seen, read } = reader();
        const stream = Buffer.concat(frames.map((each) => each.frame));
        for (let at = 0; at < stream.length; ) {
          const size = sizes.next().value;
          read(stream.subarray(at, at + size));
          at += size;
        }
        expect(seen).toEqual(frames.map((each) => each.seen));
      }),
    );
  });

  it('make one message of its pieces, with a ping between them', () => {
    const { seen, read } = reader();
    const whole = Buffer.from('Grüße');
    read(withFirst(OPCODE.text, whole.subarray(0, 3))); // within a character
    read(frameOf(OPCODE.ping, Uint8Array.of(9), MASK));
    read(withFirst(OPCODE.more, whole.subarray(3, 4)));
    read(withFirst(0x80 | OPCODE.more, whole.subarray(4)));
    read(text('next'));
    expect(seen).toEqual(['ping 09', 'text Grüße', 'text next']);
  });

  it.each([
    ['an unmasked frame of a client', frameOf(OPCODE.text, Buffer.from('a'), undefined)],
    ['a reserved bit', withFirst(0xc1, Buffer.from('a'))],
    ['an unknown opcode', withFirst(0x83, Buffer.from('a'))],
    ['an unknown control opcode', withFirst(0x8b, Buffer.from('a'))],
    ['a ping in pieces', withFirst(OPCODE.ping, Buffer.from('a'))],
    ['a long ping', withFirst(0x89, Buffer.alloc(126))],
    ['a continuation of nothing', withFirst(0x80, Buffer.from('a'))],
    ['a message within a message', Buffer.concat([withFirst(1, Buffer.from('a')), text('b')])],
    ['text that is not UTF-8', frameOf(OPCODE.text, Uint8Array.of(0xff), MASK)],
    ['half a close code', frameOf(OPCODE.close, Uint8Array.of(3), MASK)],
    ['a close code that is never sent', frameOf(OPCODE.close, Uint8Array.of(0x03, 0xed), MASK)],
  ])('are refused: %s', (_, bytes) => {
    expect(reader().fault(bytes)).toBe('MEDIA_MALFORMED');
  });

  it('are refused before they are kept when they are too large, also in pieces', () => {
    const head = frameOf(OPCODE.binary, Buffer.alloc(70_000), MASK).subarray(0, 14);
    expect(reader({ messageBytesMax: 69_999 }).fault(head)).toBe('MEDIA_OVERSIZED');
    const pieces = reader({ messageBytesMax: 5 });
    pieces.read(withFirst(OPCODE.binary, Buffer.alloc(3)));
    expect(pieces.fault(withFirst(OPCODE.more, Buffer.alloc(3)))).toBe('MEDIA_OVERSIZED');
    const many = reader();
    many.read(withFirst(OPCODE.binary, Buffer.alloc(0)));
    const more = Buffer.concat(Array.from({ length: 128 }, () => withFirst(0, Buffer.alloc(0))));
    expect(many.fault(more)).toBe('MEDIA_OVERSIZED');
  });

  it('of garbage are read or refused, never anything else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, masked) => {
        const fault = reader({ masked }).fault(bytes);
        expect([undefined, 'MEDIA_MALFORMED', 'MEDIA_OVERSIZED']).toContain(fault);
      }),
    );
  });

  it('of a server have a head that is written as text', () => {
    for (const bytes of [0, 125, 126, 65_535]) {
      const payload = Buffer.alloc(bytes, 'x');
      const head = Buffer.from(textHead(bytes), 'latin1');
      expect(Buffer.concat([head, payload])).toEqual(frameOf(OPCODE.text, payload, undefined));
    }
  });
});
