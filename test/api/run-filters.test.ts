import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFilters } from '../../src/api/run-filters.ts';
import { codeOf } from '../../src/errors.ts';

describe('filters of runs', () => {
  it('are a filter, or a fault with a code, whatever text comes', () => {
    const attribute = fc.constantFrom(
      'dateRange',
      'duration',
      'status',
      'dispositionCode',
      'tokenUsage',
      'x',
    );
    const item = fc.record(
      { attribute, type: fc.constantFrom('radio', 'text'), value: fc.jsonValue() },
      { requiredKeys: [] },
    );
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.array(item, { maxLength: 4 }).map((all) => JSON.stringify(all)),
    );
    void fc.assert(
      fc.property(text, (filters) => {
        try {
          expect(parseFilters(filters).filter).toBeTypeOf('object');
        } catch (error) {
          expect(['FILTER_INVALID', 'FILTER_FORBIDDEN']).toContain(codeOf(error));
        }
      }),
    );
  });

  it('take days and moments, with or without an offset', () => {
    const dates = (from: string) =>
      parseFilters(
        JSON.stringify([{ attribute: 'dateRange', type: 'dateRange', value: { from } }]),
      ).filter.createdFrom?.toISOString();
    expect(dates('2026-01-02')).toBe('2026-01-02T00:00:00.000Z');
    expect(dates('2026-01-02T03:04:05+02:00')).toBe('2026-01-02T01:04:05.000Z');
    expect(dates('2026-01-02T03:04:05.123456Z')).toBe('2026-01-02T03:04:05.123Z');
  });
});
