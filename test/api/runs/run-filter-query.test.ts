import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFilters } from '../../../src/api/runs/run-filter-query.ts';
import { codeOf } from '../../../src/errors/gateway-error.ts';

describe('filters of runs', () => {
  it('are a filter, or a fault with a code, whatever text comes', () => {
    const attribute = fc.constantFrom(
      'dateRange',
      'duration',
      'status',
      'dispositionCode',
      'tokenUsage',
      'runId',
      'callTags',
      'callerNumber',
      'callDirection',
      'callChannel',
      'x',
    );
    const list = fc.constantFrom('agent' as const, 'campaign' as const, 'organization' as const);
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
      fc.property(text, list, (filters, of) => {
        try {
          expect(parseFilters(filters, of).filter).toBeTypeOf('object');
        } catch (error) {
          expect(['FILTER_INVALID', 'FILTER_FORBIDDEN']).toContain(codeOf(error));
        }
      }),
    );
  });

  it('are no object, whatever its length is', () => {
    const text = JSON.stringify({ length: { toString: null } });
    expect(() => parseFilters(text, 'agent')).toThrow(
      expect.objectContaining({ code: 'FILTER_INVALID' }),
    );
  });

  it('take days and moments, with or without an offset', () => {
    const dates = (from: string) =>
      parseFilters(
        JSON.stringify([{ attribute: 'dateRange', type: 'dateRange', value: { from } }]),
        'agent',
      ).filter.createdFrom?.toISOString();
    expect(dates('2026-01-02')).toBe('2026-01-02T00:00:00.000Z');
    expect(dates('2026-01-02T03:04:05+02:00')).toBe('2026-01-02T01:04:05.000Z');
    expect(dates('2026-01-02T03:04:05')).toBe('2026-01-02T03:04:05.000Z');
    expect(dates('2026-01-02T03:04:05.123456Z')).toBe('2026-01-02T03:04:05.123Z');
  });

  it.each([
    ['runId', { value: 7 }, { id: '7' }],
    ['workflowId', { value: '42' }, { workflowId: '42' }],
    ['campaignId', { value: 3 }, { campaignId: '3' }],
    ['callTags', { codes: ['a', 'b'] }, { tags: ['a', 'b'] }],
    ['callTags', { codes: [] }, {}],
    ['callerNumber', { value: '415' }, { callerNumber: '415' }],
    ['calledNumber', { value: '' }, {}],
    ['callDirection', { status: 'inbound' }, { direction: 'inbound' }],
    ['callChannel', { status: 'web' }, { modes: ['web', 'webrtc', 'smallwebrtc'] }],
    ['tokenUsage', { min: 1, max: 2 }, { tokensMin: 1, tokensMax: 2 }],
  ])('read %s', (attribute, value, filter) => {
    const text = JSON.stringify([{ attribute, type: 't', value }]);
    expect(parseFilters(text, 'organization').filter).toEqual(filter);
  });

  it('of one agent or campaign may not name what only an organization has', () => {
    for (const attribute of [
      'runId',
      'workflowId',
      'campaignId',
      'callTags',
      'callerNumber',
      'calledNumber',
      'callDirection',
      'callChannel',
    ]) {
      const text = JSON.stringify([{ attribute, type: 't', value: {} }]);
      for (const list of ['agent', 'campaign'] as const) {
        expect(() => parseFilters(text, list)).toThrow(`Invalid attribute '${attribute}'`);
      }
      expect(() => parseFilters(text, 'organization')).toThrow('Invalid filter format');
    }
  });
});
