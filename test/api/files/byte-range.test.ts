import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byteRange } from '../../../src/api/files/download-routes.ts';

describe('a Range header', () => {
  it.each([
    ['bytes=0-9', { start: 0, end: 9 }],
    ['bytes=90-', { start: 90, end: 99 }],
    ['bytes=-10', { start: 90, end: 99 }],
    ['bytes=-1000', { start: 0, end: 99 }],
    ['bytes=99-1000', { start: 99, end: 99 }],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=5-2', undefined],
    ['bytes=0-1,3-4', undefined],
    ['bytes=-', undefined],
    ['chunks=0-1', undefined],
    [undefined, undefined],
  ])('%s of 100 bytes', (header, expected) => {
    expect(byteRange(header, 100)).toEqual(expected);
  });

  it('never reaches beyond the file, for any input', () => {
    const header = fc.oneof(
      fc.string(),
      fc.tuple(fc.nat(), fc.nat()).map(([a, b]) => `bytes=${a}-${b}`),
    );
    void fc.assert(
      fc.property(header, fc.nat(1_000), (text, size) => {
        const range = byteRange(text, size);
        if (typeof range !== 'object') return;
        expect(range.start).toBeGreaterThanOrEqual(0);
        expect(range.end).toBeGreaterThanOrEqual(range.start);
        expect(range.end).toBeLessThan(size);
      }),
    );
  });
});
