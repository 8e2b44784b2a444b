import { describe, expect, it } from 'vitest';
import { ByteParts } from '../../src/std/byte-parts.ts';

describe('bytes in pieces', () => {
  it('are one whole in their order, and are empty afterwards', () => {
    const parts = new ByteParts();
    for (const text of ['a', '', 'bc', 'd']) parts.push(Buffer.from(text));
    expect(parts.bytes).toBe(4);
    expect(parts.take().toString()).toBe('abcd');
    expect([parts.bytes, parts.take().length]).toEqual([0, 0]);
  });

  it('are held in 20,000 buffers at most: more are joined into one', () => {
    const parts = new ByteParts();
    const piece = Buffer.from('a');
    for (let nth = 0; nth < 20_001; nth++) parts.push(piece);
    // What was joined is a copy.
    piece.write('b');
    expect(parts.take().toString()).toBe(`${'a'.repeat(20_000)}b`);
  });
});
