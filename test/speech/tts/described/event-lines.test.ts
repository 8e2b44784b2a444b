// Lines of server-sent events, cut anywhere.

import { describe, expect, it } from 'vitest';
import { EventLines } from '../../../../src/speech/tts/described/described-request.ts';

const text = 'event: x\ndata: {"a":"ä"}\r\n\n: ping\ndata:{"b":2}\n{"error":1}';

describe('lines of events', () => {
  it.each([1, 2, 3, 7, 1_000])('are the same in pieces of %i bytes', (size) => {
    const lines = new EventLines(1_000);
    const bytes = Buffer.from(text);
    const found: string[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      found.push(...lines.push(bytes.subarray(at, at + size)));
    }
    expect([...found, ...lines.end()]).toEqual(['{"a":"ä"}', '{"b":2}', '{"error":1}']);
  });

  it('are limited, and cost no more in single bytes', () => {
    const lines = new EventLines(1_000_000);
    const byte = Buffer.from('x');
    const before = process.cpuUsage();
    for (let nth = 0; nth < 1_000_000; nth++) lines.push(byte);
    // Searched from its begin with each byte, the first 100,000 alone took 0.44 s, ten times as many a hundred times that.
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(5);
    expect(() => lines.push(byte)).toThrow(RangeError);
  });
});
