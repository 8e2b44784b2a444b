// The calling window of a campaign: the slots of its schedule, in its own time zone. Source: contract §9.1; slots
// over midnight are ours.

import type { ScheduleSettings } from '../model/campaign.ts';
import { dayAfter, dayAt, startOfDay } from '../std/calendar-day.ts';

const DAY_MINUTES = 24 * 60;
const MINUTE_MS = 60_000;
const HALF_DAY_MS = (DAY_MINUTES / 2) * MINUTE_MS;
const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
/** Cached formatters, one per zone; there are about 600 zones. */
const ZONES_MAX = 700;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether calls may be placed at `atMs` (milliseconds since 1970). A slot's end is exclusive; an end before the
 *  start means the next day. Always true without a schedule. */
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

/** When the next slot begins after `atMs`, milliseconds since 1970; undefined without a schedule or slots. A time
 *  that a change of clocks leaves out begins with the hour after it. */
export function nextCallingWindow(
  schedule: ScheduleSettings | null,
  atMs: number,
): number | undefined {
  if (schedule === null || !schedule.enabled) return undefined;
  const { timezone: zone, slots } = schedule;
  const today = dayAt(atMs, zone);
  // Today's slots may be over: those of the same day next week count too.
  const days = Array.from({ length: DAYS.length + 1 }, (_, ahead) => dayAfter(today, ahead));
  const starts = days.flatMap((day) =>
    slots
      .filter(({ dayOfWeek }) => dayOfWeek === weekdayOf(day))
      .map(({ start }) => momentOf(day, minutesOf(start), zone)),
  );
  const later = starts.filter((startMs) => startMs > atMs);
  return later.length === 0 ? undefined : Math.min(...later);
}

/** Day 0 is Monday. */
function weekdayOf(day: string): number {
  return (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % DAYS.length;
}

function momentOf(day: string, minute: number, zone: string): number {
  const plainMs = startOfDay(day, zone) + minute * MINUTE_MS;
  // Clocks that were changed since midnight.
  const { minute: shown } = localTime(zone, plainMs);
  const offMs = (minute - shown) * MINUTE_MS;
  return Math.abs(offMs) < HALF_DAY_MS ? plainMs + offMs : plainMs;
}

/** `Monday 09:00 America/New_York` */
export function spokenMoment(atMs: number, zone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    weekday: 'long',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return `${format.format(atMs).replace(',', '')} ${zone}`;
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

/** Throws RangeError for an unknown zone; the API refuses those. */
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
