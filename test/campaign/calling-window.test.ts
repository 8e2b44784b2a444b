import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isWithinCallingWindow,
  nextCallingWindow,
  spokenMoment,
} from '../../src/campaign/calling-window.ts';
import { rounds } from '../rounds.ts';

const at = (text: string): number => Date.parse(text);
const schedule = (timezone: string, ...slots: [number, string, string][]) => ({
  enabled: true,
  timezone,
  slots: slots.map(([dayOfWeek, start, end]) => ({ dayOfWeek, start, end })),
});

describe('the window of a campaign', () => {
  it('is always open without a schedule, or with one that is switched off', () => {
    expect(isWithinCallingWindow(null, 0)).toBe(true);
    expect(
      isWithinCallingWindow({ ...schedule('UTC', [0, '09:00', '10:00']), enabled: false }, 0),
    ).toBe(true);
  });

  it.each([
    ['2026-01-05T08:59:59Z', false],
    ['2026-01-05T09:00:00Z', true],
    ['2026-01-05T16:59:59Z', true],
    ['2026-01-05T17:00:00Z', false],
    ['2026-01-06T12:00:00Z', false],
  ])('from Monday 09:00 to before 17:00: %s is %s', (text, open) => {
    expect(isWithinCallingWindow(schedule('UTC', [0, '09:00', '17:00']), at(text))).toBe(open);
  });

  it("goes by the campaign's own zone, through the change to summer time", () => {
    const inOslo = schedule('Europe/Oslo', [6, '09:00', '10:00']);
    expect(isWithinCallingWindow(inOslo, at('2026-03-22T08:30:00Z'))).toBe(true);
    expect(isWithinCallingWindow(inOslo, at('2026-03-29T08:30:00Z'))).toBe(false);
    expect(isWithinCallingWindow(inOslo, at('2026-03-29T07:30:00Z'))).toBe(true);
  });

  it.each([
    ['2026-01-11T21:59:00Z', false],
    ['2026-01-11T22:00:00Z', true],
    ['2026-01-12T01:59:00Z', true],
    ['2026-01-12T02:00:00Z', false],
    ['2026-01-10T23:00:00Z', false],
  ])('over midnight, from Sunday 22:00 to Monday 02:00: %s is %s', (text, open) => {
    expect(isWithinCallingWindow(schedule('UTC', [6, '22:00', '02:00']), at(text))).toBe(open);
  });

  it('may last to the end of the day', () => {
    expect(
      isWithinCallingWindow(schedule('UTC', [0, '20:00', '24:00']), at('2026-01-05T23:59:59Z')),
    ).toBe(true);
    expect(
      isWithinCallingWindow(schedule('UTC', [0, '20:00', '24:00']), at('2026-01-06T00:00:00Z')),
    ).toBe(false);
  });

  it('is open for as long as its slot is, any slot', () => {
    const time = fc.integer({ min: 0, max: 1_439 });
    const text = (minutes: number): string =>
      `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
    void fc.assert(
      fc.property(fc.integer({ min: 0, max: 6 }), time, time, (day, start, end) => {
        fc.pre(start !== end);
        const slots = schedule('UTC', [day, text(start), text(end)]);
        const monday = at('2026-01-05T00:00:00Z');
        let open = 0;
        for (let minute = 0; minute < 7 * 1_440; minute += 1) {
          if (isWithinCallingWindow(slots, monday + minute * 60_000)) open += 1;
        }
        expect(open).toBe((end - start + 1_440) % 1_440);
      }),
      { numRuns: rounds(5, 10) },
    );
  });
});

describe('the next window of a campaign', () => {
  const newYork = schedule('America/New_York', [0, '09:00', '17:00'], [3, '22:00', '02:00']);

  it.each([
    ['2026-01-10T12:00:00Z', '2026-01-12T14:00:00.000Z', 'Monday 09:00 America/New_York'],
    ['2026-01-12T14:00:00Z', '2026-01-16T03:00:00.000Z', 'Thursday 22:00 America/New_York'],
    // Clocks go forward on Sunday, March 8.
    ['2026-03-07T12:00:00Z', '2026-03-09T13:00:00.000Z', 'Monday 09:00 America/New_York'],
  ])('begins after %s at %s', (now, next, words) => {
    const startMs = nextCallingWindow(newYork, at(now)) ?? 0;
    expect(new Date(startMs).toISOString()).toBe(next);
    expect(spokenMoment(startMs, newYork.timezone)).toBe(words);
  });

  it('is that of the same day next week if there is but one, which has begun', () => {
    const once = schedule('UTC', [0, '09:00', '17:00']);
    expect(nextCallingWindow(once, at('2026-01-05T18:00:00Z'))).toBe(at('2026-01-12T09:00:00Z'));
  });

  it('begins after midnight clocks have changed, on the day of the change too', () => {
    const sunday = schedule('Europe/Oslo', [6, '09:00', '10:00']);
    expect(nextCallingWindow(sunday, at('2026-03-28T12:00:00Z'))).toBe(at('2026-03-29T07:00:00Z'));
    expect(nextCallingWindow(sunday, at('2026-10-24T12:00:00Z'))).toBe(at('2026-10-25T08:00:00Z'));
  });

  it.each([
    // Forward, from 02:00 to 03:00: a slot that begins between them begins at 03:00, one that ends by then is left out.
    ['America/New_York', [6, '02:30', '03:30'], '2026-03-08T00:00:00Z', '2026-03-08T07:00:00Z'],
    ['America/New_York', [6, '02:00', '03:00'], '2026-03-08T00:00:00Z', '2026-03-15T06:00:00Z'],
    ['Africa/Cairo', [4, '00:00', '09:00'], '2026-04-23T12:00:00Z', '2026-04-23T22:00:00Z'],
    // Back, from 02:00 to 01:00: 01:30 comes twice, and what is over by 02:00 goes on at 01:00.
    ['America/New_York', [6, '01:30', '02:30'], '2026-11-01T06:10:00Z', '2026-11-01T06:30:00Z'],
    ['America/New_York', [6, '00:30', '01:30'], '2026-11-01T05:40:00Z', '2026-11-01T06:00:00Z'],
  ] as const)(
    'on the day of a change of clocks, %s %s, begins after %s at %s',
    (zone, slot, now, next) => {
      const startMs = nextCallingWindow(schedule(zone, [...slot]), at(now)) ?? 0;
      expect(new Date(startMs)).toEqual(new Date(next));
    },
  );

  it('is none without a schedule', () => {
    expect(nextCallingWindow(null, 0)).toBeUndefined();
  });

  it('is closed just before it begins, and open then, whatever the zone and the moment', () => {
    const zones = ['UTC', 'America/New_York', 'Europe/Oslo', 'Asia/Kolkata', 'Pacific/Chatham'];
    const moment = fc.integer({ min: at('2026-01-01T00:00:00Z'), max: at('2027-01-01T00:00:00Z') });
    fc.assert(
      fc.property(fc.constantFrom(...zones), fc.nat({ max: 6 }), moment, (zone, day, now) => {
        const one = schedule(zone, [day, '09:30', '10:00']);
        const next = nextCallingWindow(one, now) ?? 0;
        expect(next).toBeGreaterThan(now);
        expect(isWithinCallingWindow(one, next)).toBe(true);
        expect(isWithinCallingWindow(one, next - 1)).toBe(false);
      }),
      { numRuns: rounds(60, 120) },
    );
  });
});
