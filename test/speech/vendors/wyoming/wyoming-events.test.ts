import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeWyoming,
  WyomingEventReader,
} from '../../../../src/speech/vendors/wyoming/wyoming-connection.ts';

interface Plain {
  type: string;
  data: Record<string, unknown>;
  payload: string;
}

/** What is read of `bytes` when they come in pieces that end at `cuts`. */
function read(bytes: Buffer, cuts: readonly number[]): Plain[] {
  const reader = new WyomingEventReader();
  const events: Plain[] = [];
  let from = 0;
  for (const to of [...cuts, bytes.length]) {
    const piece = Buffer.from(bytes.subarray(from, to));
    reader.push(piece, ({ type, data, payload }) =>
      events.push({ type, data, payload: payload.toString('hex') }),
    );
    // The reader must not need the bytes once it has returned the events.
    from = to;
  }
  return events;
}

const EXAMPLES = [
  { type: 'transcribe', data: { language: 'en' }, payload: Buffer.alloc(0) },
  {
    type: 'audio-chunk',
    data: { rate: 16_000, width: 2, channels: 1 },
    payload: Buffer.from('\n{"\n'),
  },
  { type: 'transcript', data: { text: 'Grüße — “two” tickets\n' }, payload: Buffer.alloc(0) },
  { type: 'audio-stop', data: {}, payload: Buffer.alloc(0) },
];
const plain = (events: typeof EXAMPLES): Plain[] =>
  events.map(({ type, data, payload }) => ({ type, data, payload: payload.toString('hex') }));
const stream = (events: typeof EXAMPLES): Buffer =>
  Buffer.concat(events.map(({ type, data, payload }) => encodeWyoming(type, data, payload)));

describe('the framing of Wyoming events', () => {
  it('writes a line, the data and the payload, as the protocol’s description has it', () => {
    const bytes = encodeWyoming('audio-chunk', { rate: 16_000 }, Uint8Array.of(1, 2));
    expect(bytes.toString('latin1')).toBe(
      '{"type":"audio-chunk","version":"1.5.0","data_length":14,"payload_length":2}\n' +
        '{"rate":16000}\x01\x02',
    );
    expect(encodeWyoming('audio-stop').toString()).toBe(
      '{"type":"audio-stop","version":"1.5.0"}\n',
    );
  });

  it('reads the same events wherever the stream is cut in two', () => {
    const bytes = stream(EXAMPLES);
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(read(bytes, [cut]), `cut at ${cut}`).toEqual(plain(EXAMPLES));
    }
  });

  it('reads the same events byte by byte', () => {
    const bytes = stream(EXAMPLES);
    expect(read(bytes, [...bytes.keys()])).toEqual(plain(EXAMPLES));
  });

  it('reads any events cut anywhere', () => {
    const event = fc.record({
      type: fc.string({ minLength: 1 }),
      data: fc.dictionary(fc.string(), fc.string()).map((data) => ({ ...data })),
      payload: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 5 }), fc.array(fc.nat(2_000)), (events, cuts) => {
        const bytes = stream(events as typeof EXAMPLES);
        const sorted = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
        // A key like __proto__ is data of the line, and is lost on both ways alike.
        const wanted = events.map(({ data, ...rest }) => ({ ...rest, data: { ...data } }));
        expect(read(bytes, sorted)).toEqual(plain(wanted as typeof EXAMPLES));
      }),
    );
  });

  it('takes data from the line; data behind it has precedence', () => {
    const bytes = Buffer.from('{"type":"a","data":{"x":1,"y":1},"data_length":7}\n{"y":2}');
    expect(read(bytes, [])).toEqual([{ type: 'a', data: { x: 1, y: 2 }, payload: '' }]);
  });

  it.each([
    ['text\n', 'a line that is no event'],
    ['{"type":7}\n', 'a line that is no event'],
    ['{"type":"a","data_length":-1}\n', 'a length that is not a number of bytes'],
    ['{"type":"a","payload_length":1.5}\n', 'a length that is not a number of bytes'],
    ['{"type":"a","payload_length":99999999}\n', 'an event of 99999999 bytes'],
    ['{"type":"a","data_length":4}\n[1]\n', 'data that is not a JSON object'],
    ['x'.repeat(70_000), 'a line that is too long'],
  ])('refuses %j', (text, reason) => {
    expect(() => read(Buffer.from(text), [])).toThrow(new RangeError(reason));
  });

  it('gives events or its own error for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        try {
          read(Buffer.concat([Buffer.from(bytes), Buffer.from('\n')]), []);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });
});
