// Days. A day of the year: "the twenty third of March", "March 23rd, 2027", "tomorrow", "2027-03-23". The value is
// `2027-03-23`. Without a year: the next such day from today (UTC) on. Dates are confirmed by the caller before they count.
// A day of the week: the value is its English name in lower case.

import { ordinalAt, smallNumberAt } from './cardinal.ts';
import type { SlotMatch } from './tokens.ts';

const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];
const WEEKDAYS: Record<string, string> = {
  monday: 'monday',
  mon: 'monday',
  tuesday: 'tuesday',
  tues: 'tuesday',
  tue: 'tuesday',
  wednesday: 'wednesday',
  wed: 'wednesday',
  thursday: 'thursday',
  thurs: 'thursday',
  thu: 'thursday',
  friday: 'friday',
  fri: 'friday',
  saturday: 'saturday',
  sat: 'saturday',
  sunday: 'sunday',
  sun: 'sunday',
};
const DAY_MS = 86_400_000;
/** Years within which a day like 29 February occurs. */
const YEARS_AHEAD_MAX = 8;

interface DayAhead {
  days: number;
  to: number;
}

interface DayOfMonth {
  month: number;
  day: number;
  year: number | undefined;
  to: number;
}

export function findDates(words: readonly string[], now: number): SlotMatch[] {
  const found: SlotMatch[] = [];
  for (let at = 0; at < words.length; ) {
    const said = saidAt(words, at);
    const date = said === undefined ? undefined : resolved(said, now);
    if (said !== undefined && date !== undefined) found.push(foundOn(date, now, at, said.to));
    // A day that does not exist is skipped as a whole: "thirty first of April" does not contain "first".
    at = said?.to ?? at + 1;
  }
  return found;
}

function saidAt(words: readonly string[], at: number): DayAhead | DayOfMonth | undefined {
  return relativeAt(words, at) ?? monthFirst(words, at) ?? dayFirst(words, at);
}

function relativeAt(words: readonly string[], at: number): DayAhead | undefined {
  if (words[at] === 'today') return { days: 0, to: at + 1 };
  if (words[at] === 'tomorrow') return { days: 1, to: at + 1 };
  const after = words[at] === 'day' && words[at + 1] === 'after' && words[at + 2] === 'tomorrow';
  return after ? { days: 2, to: at + 3 } : undefined;
}

/** Day after the month: "march twenty third", "march the 23rd 2027". */
function monthFirst(words: readonly string[], at: number): DayOfMonth | undefined {
  const month = monthOf(words[at]);
  if (month === undefined) return undefined;
  const next = words[at + 1] === 'the' ? at + 2 : at + 1;
  const day = ordinalAt(words, next) ?? smallNumberAt(words, next);
  return day === undefined ? undefined : withYear(words, month, day);
}

/** Day before the month: "twenty third of march", "23 march". */
function dayFirst(words: readonly string[], at: number): DayOfMonth | undefined {
  const day = ordinalAt(words, at) ?? smallNumberAt(words, at);
  if (day === undefined) return undefined;
  const next = words[day.to] === 'of' ? day.to + 1 : day.to;
  const month = monthOf(words[next]);
  return month === undefined
    ? undefined
    : withYear(words, month, { value: day.value, to: next + 1 });
}

function withYear(
  words: readonly string[],
  month: number,
  day: { value: number; to: number },
): DayOfMonth {
  const year = yearAt(words, day.to);
  return { month, day: day.value, year: year?.value, to: year?.to ?? day.to };
}

/** Year: "2027", "twenty twenty seven", "two thousand and twenty seven". */
function yearAt(words: readonly string[], at: number): { value: number; to: number } | undefined {
  if (/^20\d\d$/.test(words[at] ?? '')) return { value: Number(words[at]), to: at + 1 };
  const century =
    words[at] === 'twenty'
      ? at + 1
      : words[at] === 'two' && words[at + 1] === 'thousand'
        ? at + (words[at + 2] === 'and' ? 3 : 2)
        : undefined;
  if (century === undefined) return undefined;
  const rest = smallNumberAt(words, century);
  return rest === undefined ? undefined : { value: 2_000 + rest.value, to: rest.to };
}

function monthOf(word: string | undefined): number | undefined {
  if (word === undefined || word.length < 3) return undefined;
  const month = MONTHS.findIndex(
    (name) => name === word || name.slice(0, 3) === word || (word === 'sept' && name[0] === 's'),
  );
  return month < 0 ? undefined : month;
}

function resolved(said: DayAhead | DayOfMonth, now: number): Date | undefined {
  if ('days' in said) return new Date(now + said.days * DAY_MS);
  const { month, day, year } = said;
  if (year !== undefined) return dayIn(year, month, day);
  const today = new Date(now);
  const first = today.getUTCFullYear();
  const midnight = Date.UTC(first, today.getUTCMonth(), today.getUTCDate());
  for (let ahead = 0; ahead <= YEARS_AHEAD_MAX; ahead += 1) {
    const date = dayIn(first + ahead, month, day);
    if (date !== undefined && date.getTime() >= midnight) return date;
  }
  return undefined;
}

/** The date; undefined for a day that the month does not have. */
function dayIn(year: number, month: number, day: number): Date | undefined {
  const date = new Date(Date.UTC(year, month, day));
  return date.getUTCMonth() === month && date.getUTCDate() === day ? date : undefined;
}

function foundOn(date: Date, now: number, from: number, to: number): SlotMatch {
  const name = MONTHS[date.getUTCMonth()] ?? '';
  const day = `${name.charAt(0).toUpperCase()}${name.slice(1)} ${date.getUTCDate()}`;
  const thisYear = date.getUTCFullYear() === new Date(now).getUTCFullYear();
  const spoken = thisYear ? day : `${day}, ${date.getUTCFullYear()}`;
  return { value: date.toISOString().slice(0, 10), spoken, from, to };
}

export function findWeekdays(words: readonly string[]): SlotMatch[] {
  return words.flatMap((word, index) => {
    const singular = word.replace(/'?s$/, '');
    const name = weekdayOf(word) ?? weekdayOf(singular);
    if (name === undefined) return [];
    const spoken = name.charAt(0).toUpperCase() + name.slice(1);
    return [{ value: name, spoken, from: index, to: index + 1 }];
  });
}

function weekdayOf(word: string): string | undefined {
  return Object.hasOwn(WEEKDAYS, word) ? WEEKDAYS[word] : undefined;
}
