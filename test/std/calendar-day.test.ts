import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayAfter, dayAt, isDay, startOfDay } from '../../src/std/calendar-day.ts';

const begin = (day: string, zone: string) => new Date(startOfDay(day, zone)).toISOString();

describe('days in time zones', () => {
  it('begin at local midnight, in summer and in winter', () => {
    expect(begin('2026-01-15', 'UTC')).toBe('2026-01-15T00:00:00.000Z');
    expect(begin('2026-01-15', 'Europe/Oslo')).toBe('2026-01-14T23:00:00.000Z');
    expect(begin('2026-07-15', 'Europe/Oslo')).toBe('2026-07-14T22:00:00.000Z');
    expect(begin('2026-07-15', 'Asia/Kathmandu')).toBe('2026-07-14T18:15:00.000Z');
    expect(begin('2026-07-15', 'Pacific/Kiritimati')).toBe('2026-07-14T10:00:00.000Z');
    expect(begin('2026-01-15', 'America/Los_Angeles')).toBe('2026-01-15T08:00:00.000Z');
  });

  it('that the clock is changed on have 23 or 25 hours', () => {
    const hours = (day: string) =>
      (startOfDay(dayAfter(day, 1), 'Europe/Oslo') - startOfDay(day, 'Europe/Oslo')) / 3_600_000;
    expect(hours('2026-03-29')).toBe(23);
    expect(hours('2026-10-25')).toBe(25);
    expect(hours('2026-10-26')).toBe(24);
  });

  it('without a midnight begin when the clock has jumped over it', () => {
    // Cairo goes from 23:59:59 to 01:00.
    expect(begin('2026-04-24', 'Africa/Cairo')).toBe('2026-04-23T22:00:00.000Z');
    expect(dayAt(Date.parse('2026-04-23T21:59:59Z'), 'Africa/Cairo')).toBe('2026-04-23');
  });

  it('hold the moment at which they begin, and not the one before', () => {
    const zone = fc.constantFrom(
      'UTC',
      'Europe/Oslo',
      'America/Sao_Paulo',
      'Africa/Cairo',
      'Asia/Tehran',
    );
    const moment = fc.integer({ min: Date.UTC(1995, 0), max: Date.UTC(2035, 0) });
    void fc.assert(
      fc.property(moment, zone, (ms, name) => {
        const day = dayAt(ms, name);
        const from = startOfDay(day, name);
        expect(dayAt(from, name)).toBe(day);
        expect(dayAt(from - 1, name)).not.toBe(day);
        expect(from).toBeLessThanOrEqual(ms);
      }),
    );
  });

  it('are days of the calendar', () => {
    expect(['2026-02-28', '2024-02-29'].every(isDay)).toBe(true);
    expect(['2026-02-29', '2026-13-01', '26-1-1', '2026-01-01T00', ''].some(isDay)).toBe(false);
    expect(dayAfter('2026-02-28', 1)).toBe('2026-03-01');
    expect(dayAfter('2026-01-01', -1)).toBe('2025-12-31');
  });
});
