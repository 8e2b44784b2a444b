import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../../src/errors/gateway-error.ts';
import { createSseParser, type SseEvent } from '../../../../src/speech/llm/client/answer-stream.ts';

function parse(parts: (string | Uint8Array)[]): SseEvent[] {
  const parser = createSseParser();
  const events = parts.flatMap((part) =>
    parser.push(typeof part === 'string' ? Buffer.from(part) : part),
  );
  return [...events, ...parser.end()];
}
const datas = (...parts: string[]) => parse(parts).map((event) => event.data);

describe('server-sent events', () => {
  it.each([
    ['LF', 'data: a\n\ndata: b\n\n'],
    ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n'],
    ['CR', 'data: a\r\rdata: b\r\r'],
    ['no space after the colon', 'data:a\n\ndata:b\n\n'],
    ['comments between', ': ping\n\ndata: a\n: ping\n\n:\n\ndata: b\n\n'],
    ['no blank line at the end', 'data: a\n\ndata: b'],
    ['a byte order mark', '\uFEFFdata: a\n\ndata: b\n\n'],
    ['other fields', 'id: 1\nretry: 5\ndata: a\n\nevent: x\ndata: b\n\n'],
  ])('understands %s', (_what, text) => {
    expect(datas(text)).toEqual(['a', 'b']);
  });

  it('joins data lines with line feeds and keeps further spaces', () => {
    expect(datas('data: a\ndata:  b\n\n')).toEqual(['a\n b']);
  });

  it('gives the event name', () => {
    expect(parse(['event: error\ndata: {}\n\n'])).toEqual([{ event: 'error', data: '{}' }]);
  });

  it('reads the same events however the bytes are cut', () => {
    const bytes = Buffer.from('data: é😀\r\n\r\n: c\r\ndata: two\ndata: lines\n\r\ndata: x\n\n');
    const whole = parse([bytes]);
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(parse([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(whole);
    }
    expect(parse([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(whole);
  });

  it('refuses an event without end', () => {
    const parser = createSseParser(1_000);
    const flood = () => {
      for (let i = 0; i < 200; i++) parser.push(Buffer.from('data: 1234567\n'));
    };
    expect(flood).toThrow();
    const oneLine = createSseParser(1_000);
    try {
      for (let i = 0; i < 200; i++) oneLine.push(Buffer.from('12345678'));
      expect.unreachable();
    } catch (error) {
      expect(codeOf(error)).toBe('LLM_MALFORMED');
    }
  });

  it('takes any bytes without another error', () => {
    const line = fc.constantFrom(
      'data:',
      'data: ',
      'x',
      '\n',
      '\r',
      '\r\n',
      ':',
      'event: e',
      '\uFEFF',
    );
    const part = fc.oneof(
      fc.uint8Array(),
      line.map((text) => new Uint8Array(Buffer.from(text))),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        for (const event of parse(parts)) expect(event.data).not.toContain('\r');
      }),
    );
  });
});
