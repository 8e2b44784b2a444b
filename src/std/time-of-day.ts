// Times of day as text, in hours and minutes: `9:00`, `09:00`, `24:00`.

const TIME = /^(\d{1,2}):(\d{2})$/;
const HOUR_MINUTES = 60;
export const DAY_MINUTES = 24 * HOUR_MINUTES;

/** Minutes since midnight, 0 to 1440 (the end of the day); undefined for a text that is no time of day. */
export function minutesOfDay(text: string): number | undefined {
  const [, hours, minutes] = TIME.exec(text.trim()) ?? [];
  const total = Number(hours) * HOUR_MINUTES + Number(minutes);
  return Number(minutes) < HOUR_MINUTES && total <= DAY_MINUTES ? total : undefined;
}

/** `HH:MM` of minutes since midnight. */
export function timeOfDay(minutes: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${two(Math.floor(minutes / HOUR_MINUTES))}:${two(minutes % HOUR_MINUTES)}`;
}
