// Times, durations and numbers in the words of the user's language.

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const timeOnly = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const number = new Intl.NumberFormat();
const DAY_MS = 24 * 3_600_000;

/** `28 Nov 2026, 14:03:11`; today's times without the date. */
export function formatTime(time: string | number | Date): string {
  const date = new Date(time);
  const isToday = date.toDateString() === new Date().toDateString();
  return (isToday ? timeOnly : dateTime).format(date);
}

/** `850 ms`, `12.4 s`, `3:05`, `1:02:09`, `2 d 3 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms >= DAY_MS)
    return `${Math.floor(ms / DAY_MS)} d ${Math.floor((ms % DAY_MS) / 3_600_000)} h`;
  const seconds = Math.floor(ms / 1_000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

export function formatNumber(value: number): string {
  return number.format(value);
}

/** `1 run`, `2 runs`. */
export function counted(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** A value of any type on one line: objects as JSON. */
export function formatValue(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** `system_connect_error` as `system connect error`. */
export function words(code: string): string {
  return code.replaceAll(/[_-]+/g, ' ');
}
