// Calling window of a campaign: the slots of its schedule, in its own time zone. Source: contract §9.1; slots over
// midnight are an extension.

import type { ScheduleSettings } from '../model/campaign.ts';
import { dayAfter, dayAt, offsetMs } from '../std/calendar-day.ts';
import { DAY_MINUTES, minutesOfDay } from '../std/time-of-day.ts';

const MINUTE_MS = 60_000;
const DAY_MS = DAY_MINUTES * MINUTE_MS;
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

/** When calls may be placed again after `atMs`, milliseconds since 1970: at the beginning of a slot, or of what
 *  remains of it after a clock change. Undefined without a schedule, or if there is no such moment within two weeks. */
export function nextCallingWindow(
  schedule: ScheduleSettings | null,
  atMs: number,
): number | undefined {
  if (schedule === null || !schedule.enabled) return undefined;
  const { timezone: zone, slots } = schedule;
  const today = dayAt(atMs, zone);
  // Today's slots may be over, and a clock change may remove those of the same day next week.
  const days = Array.from({ length: 2 * DAYS.length + 1 }, (_, ahead) => dayAfter(today, ahead));
  const { offsets, changes } = clocksIn({ fromMs: atMs, toMs: atMs + days.length * DAY_MS }, zone);
  const starts = days.flatMap((day) =>
    slots
      .filter(({ dayOfWeek }) => dayOfWeek === weekdayOf(day))
      .map(({ start }) => Date.parse(`${day}T00:00:00Z`) + minutesOf(start) * MINUTE_MS),
  );
  return starts
    .flatMap((shownMs) => offsets.map((offset) => shownMs - offset))
    .concat(changes)
    .filter((ms) => ms > atMs)
    .sort((one, other) => one - other)
    .find((ms) => isWithinCallingWindow(schedule, ms));
}

/** A period of weeks, in milliseconds since 1970. */
interface Weeks {
  fromMs: number;
  toMs: number;
}

/** Offsets of local time from UTC, and when they change: no zone changes twice in three weeks. */
function clocksIn(weeks: Weeks, zone: string): { offsets: number[]; changes: number[] } {
  const before = offsetMs(weeks.fromMs, zone);
  const after = offsetMs(weeks.toMs, zone);
  if (before === after) return { offsets: [before], changes: [] };
  return { offsets: [before, after], changes: [changeOfClocks(weeks, zone)] };
}

/** The first minute with another offset than that at `fromMs`. */
function changeOfClocks({ fromMs, toMs }: Weeks, zone: string): number {
  const before = offsetMs(fromMs, zone);
  let [lastBefore, firstAfter] = [Math.floor(fromMs / MINUTE_MS) * MINUTE_MS, toMs];
  while (firstAfter - lastBefore > MINUTE_MS) {
    const minutes = Math.floor((firstAfter - lastBefore) / 2 / MINUTE_MS);
    const middle = lastBefore + minutes * MINUTE_MS;
    if (offsetMs(middle, zone) === before) lastBefore = middle;
    else firstAfter = middle;
  }
  return firstAfter;
}

/** Day of the week; 0 is Monday. */
function weekdayOf(day: string): number {
  return (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % DAYS.length;
}

/** A moment as text: `Monday 09:00 America/New_York`. */
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

/** Minutes since midnight. The API refuses what is no time of day. */
function minutesOf(text: string): number {
  return minutesOfDay(text) ?? 0;
}

/** Day of the week (0 is Monday) and minute of the day in a time zone. */
function localTime(timezone: string, atMs: number): { day: number; minute: number } {
  const parts = new Map(
    formatOf(timezone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  );
  const minute = Number(parts.get('hour')) * 60 + Number(parts.get('minute'));
  return { day: DAYS.indexOf(parts.get('weekday') ?? ''), minute: minute % DAY_MINUTES };
}

/** Formatter of a time zone. Throws RangeError for an unknown zone; the API refuses those. */
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
