import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isObject } from '../../src/std/json.ts';
import { jsonExcess, jsonSize } from '../../src/std/json-size.ts';
import { rounds } from '../rounds.ts';

function countOf(value: unknown): { values: number; depth: number } {
  if (!isObject(value) && !Array.isArray(value)) return { values: 1, depth: 0 };
  const members = Object.values(value).map(countOf);
  return {
    values: members.reduce((sum, { values }) => sum + values, 1),
    depth: 1 + Math.max(0, ...members.map(({ depth }) => depth)),
  };
}

const sizeOf = (text: string, max = 1_000) => jsonSize(Buffer.from(text), max);

describe('the size of JSON text', () => {
  it('is that of the value, whatever strings, spaces and escapes it holds', () => {
    const values = fc.jsonValue({ depthSize: 'medium', noUnicodeString: false });
    fc.assert(
      fc.property(values, fc.constantFrom(undefined, 2), (value, space) => {
        expect(sizeOf(JSON.stringify(value, undefined, space), 1e9)).toEqual(countOf(value));
      }),
      { numRuns: rounds(2_000) },
    );
  });

  it('counts no brackets, commas and quotes inside strings', () => {
    expect(sizeOf(String.raw`["a,[{\"", "\\", {"k,{": "}\\\""}]`)).toEqual({ values: 5, depth: 2 });
  });

  it('finds the end of long strings, however many escapes they hold', () => {
    const pieces = fc.array(fc.constantFrom('a'.repeat(29), 'é', '"', '\\', '[,'), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(pieces, pieces, (one, other) => {
        const value = [one.join(''), { [other.join('')]: 1 }];
        expect(sizeOf(JSON.stringify(value))).toEqual({ values: 4, depth: 2 });
      }),
    );
  });

  it('is not read further than it takes to be too much', () => {
    expect(sizeOf(`[${'1,'.repeat(1_000_000)}1]`, 50).values).toBe(51);
  });

  it('is some number for bytes that are not JSON', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const { values, depth } = jsonSize(bytes, 100);
        expect(values).toBeGreaterThanOrEqual(1);
        expect(depth).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('what is too much of a JSON value', () => {
  const limits = { bytesMax: 30, valuesMax: 5, depthMax: 2 };

  it.each([
    [{ a: [1, 2, 3] }, undefined],
    [[1, 2, 3, 4, 5], 'more than 5 values'],
    [[[[]]], 'more than 2 levels of nesting'],
    ['ä'.repeat(14), undefined],
    ['ä'.repeat(15), 'more than 30 bytes'],
    [undefined, undefined],
  ])('of %j is %j', (value, excess) => {
    expect(jsonExcess(value, limits)).toBe(excess);
  });
});
