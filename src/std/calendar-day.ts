// Time zones and their calendar days: when a day begins and ends, and the day of a given moment. A day begins at
// the first moment that has its date; at midnight the clock may jump forward, or back.

const DAY_MS = 86_400_000;
/** Offsets are read one day before and after: a zone changes its offset at most once between. */
const AROUND_MS = DAY_MS;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Whether `text` is a day of the calendar, `2026-02-28`. */
export function isDay(text: string): boolean {
  if (!DAY.test(text)) return false;
  const utc = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(utc.getTime()) && utc.toISOString().startsWith(text);
}

/** The day of a moment (milliseconds since 1970). `zone` is an IANA name. */
export function dayAt(atMs: number, zone: string): string {
  return localText(atMs, zone).slice(0, 10);
}

/** The day `days` later in the calendar, or earlier if negative. */
export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Beginning of `day` in `zone`, milliseconds since 1970. */
export function startOfDay(day: string, zone: string): number {
  const utcMs = Date.parse(`${day}T00:00:00Z`);
  const moments = [utcMs - AROUND_MS, utcMs + AROUND_MS]
    .map((aroundMs) => utcMs - offsetMs(aroundMs, zone))
    .sort((one, other) => one - other);
  const first = moments.find((ms) => dayAt(ms, zone) === day && dayAt(ms - 1, zone) !== day);
  return first ?? moments[0] ?? utcMs;
}

/** Offset of a zone from UTC at a moment, milliseconds. */
export function offsetMs(atMs: number, zone: string): number {
  const wholeSecond = Math.floor(atMs / 1_000) * 1_000;
  return Date.parse(`${localText(wholeSecond, zone)}Z`) - wholeSecond;
}

/** Local time as `2026-01-02T03:04:05`. */
function localText(atMs: number, zone: string): string {
  // The Swedish locale writes dates as ISO 8601 does.
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    calendar: 'iso8601',
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  return format.format(atMs).replace(' ', 'T');
}

/** Whether `name` is an IANA time zone that this machine has: `Europe/Oslo`, `UTC`. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false; // Intl throws a RangeError for an unknown zone.
  }
}
