// When a campaign may ring: the slots of its schedule, in its own time zone. Source: contract §9.1; slots
// over midnight are ours.

import type { ScheduleSettings } from '../model/campaign.ts';

const DAY_MINUTES = 24 * 60;
const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
/** Formatters kept, one a zone; there are about 600 zones. */
const ZONES_MAX = 700;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether calls may be placed at `atMs` (milliseconds since 1970). A slot's end is no part of it; an end
 *  before the start lies on the next day. Always true without a schedule. */
export function isWithinCallingWindow(schedule: ScheduleSettings | null, atMs: number): boolean {
  if (schedule === null || !schedule.enabled) return true;
  const { day, minute } = localTime(schedule.timezone, atMs);
  return schedule.slots.some(({ dayOfWeek, start, end }) => {
    const from = minutesOf(start);
    const to = minutesOf(end);
    if (from < to) return day === dayOfWeek && minute >= from && minute < to;
    const isEvening = day === dayOfWeek && minute >= from;
    const isMorningAfter = day === (dayOfWeek + 1) % DAYS.length && minute < to;
    return isEvening || isMorningAfter;
  });
}

/** `24:00` is the end of the day. */
function minutesOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return hours * 60 + minutes;
}

/** Day 0 is Monday. */
function localTime(timezone: string, atMs: number): { day: number; minute: number } {
  const parts = new Map(
    formatOf(timezone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  );
  const minute = Number(parts.get('hour')) * 60 + Number(parts.get('minute'));
  return { day: DAYS.indexOf(parts.get('weekday') ?? ''), minute: minute % DAY_MINUTES };
}

/** Throws RangeError for a zone that does not exist; the API lets none in. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  if (formats.size >= ZONES_MAX) formats.clear();
  formats.set(timeZone, format);
  return format;
}
