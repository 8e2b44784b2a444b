// A time of day: "half past two", "quarter to nine in the morning", "two thirty pm", "14:30", "noon". The value is
// `14:30` where the half of the day is known, else as spoken (`2:30`): morning or afternoon is not guessed.

import { smallNumberAt } from './cardinal.ts';
import { type SlotMatch, standsAlone } from './tokens.ts';

interface Clock {
  hour: number;
  minute: number;
  to: number;
  /** Whether the words can only be a time. */
  certain: boolean;
}

export function findTimes(words: readonly string[]): SlotMatch[] {
  const found: SlotMatch[] = [];
  for (let at = 0; at < words.length; ) {
    const time = timeAt(words, at);
    if (time !== undefined) found.push(time);
    at = time?.to ?? at + 1;
  }
  return found;
}

function timeAt(words: readonly string[], from: number): SlotMatch | undefined {
  const named = namedTime(words[from]);
  if (named !== undefined) return { ...named, from, to: from + 1 };
  const clock = relativeAt(words, from) ?? figuresAt(words, from) ?? spokenAt(words, from);
  if (clock === undefined || clock.hour > 23 || clock.minute > 59) return undefined;
  const half = halfAt(words, clock.to);
  const to = half?.to ?? clock.to;
  if (!clock.certain && half === undefined && !standsAlone(words, from, to)) return undefined;
  const hour = hourOf(clock.hour, half?.pm);
  if (hour === undefined) return undefined;
  return { ...written(hour, clock.minute, half?.pm !== undefined || clock.hour > 12), from, to };
}

function namedTime(word: string | undefined): { value: string; spoken: string } | undefined {
  if (word === 'noon' || word === 'midday') return { value: '12:00', spoken: 'noon' };
  return word === 'midnight' ? { value: '00:00', spoken: 'midnight' } : undefined;
}

/** Time relative to an hour: "half past two", "quarter to nine", "ten minutes past four". */
function relativeAt(words: readonly string[], at: number): Clock | undefined {
  const start = words[at] === 'a' ? at + 1 : at;
  const offset = offsetAt(words, start);
  if (offset === undefined) return undefined;
  const link = words[offset.to];
  const back = link === 'to' || link === 'before' || link === 'till';
  if (!back && link !== 'past' && link !== 'after') return undefined;
  const hour = smallNumberAt(words, offset.to + 1);
  if (hour === undefined || hour.value < 1 || hour.value > 12) return undefined;
  const to = words[hour.to] === "o'clock" ? hour.to + 1 : hour.to;
  if (!back) return { hour: hour.value, minute: offset.value, to, certain: true };
  const before = hour.value === 1 ? 12 : hour.value - 1;
  return { hour: before, minute: 60 - offset.value, to, certain: true };
}

/** Minutes 1 to 59 before "past" or "to". */
function offsetAt(words: readonly string[], at: number): { value: number; to: number } | undefined {
  if (words[at] === 'half') return { value: 30, to: at + 1 };
  if (words[at] === 'quarter') return { value: 15, to: at + 1 };
  const minutes = smallNumberAt(words, at);
  if (minutes === undefined || minutes.value < 1 || minutes.value > 59) return undefined;
  const unit = words[minutes.to];
  return unit === 'minutes' || unit === 'minute'
    ? { value: minutes.value, to: minutes.to + 1 }
    : minutes;
}

/** Time in figures: "14:30", "2.30", "1430". */
function figuresAt(words: readonly string[], at: number): Clock | undefined {
  const match = /^(\d{1,2})[:.](\d{2})$|^(\d{2})(\d{2})$/.exec(words[at] ?? '');
  if (match === null) return undefined;
  const hour = Number(match[1] ?? match[3]);
  const minute = Number(match[2] ?? match[4]);
  return { hour, minute, to: at + 1, certain: match[1] !== undefined };
}

/** Time in words: "two", "two o'clock", "two thirty", "two oh five". */
function spokenAt(words: readonly string[], at: number): Clock | undefined {
  const hour = smallNumberAt(words, at);
  if (hour === undefined || hour.value > 23) return undefined;
  if (words[hour.to] === "o'clock") {
    return { hour: hour.value, minute: 0, to: hour.to + 1, certain: true };
  }
  const zero = words[hour.to] === 'oh' || words[hour.to] === 'zero';
  const minute = smallNumberAt(words, zero ? hour.to + 1 : hour.to);
  if (minute === undefined) return { hour: hour.value, minute: 0, to: hour.to, certain: false };
  const fits = zero ? minute.value < 10 : minute.value >= 10;
  return fits
    ? { hour: hour.value, minute: minute.value, to: minute.to, certain: false }
    : undefined;
}

/** Half of the day: "am", "in the afternoon", "this morning", "at night". */
function halfAt(words: readonly string[], at: number): { pm: boolean; to: number } | undefined {
  if (words[at] === 'am') return { pm: false, to: at + 1 };
  if (words[at] === 'pm') return { pm: true, to: at + 1 };
  const skip = ['in', 'the', 'this', 'at'];
  let to = at;
  while (to < at + 2 && skip.includes(words[to] ?? '')) to += 1;
  const part = words[to];
  if (part === 'morning') return { pm: false, to: to + 1 };
  if (part === 'afternoon' || part === 'evening') return { pm: true, to: to + 1 };
  return part === 'night' && to > at ? { pm: true, to: to + 1 } : undefined;
}

/** Hour 0 to 23, or as spoken if the half of the day is unknown; undefined for "14 am". */
function hourOf(hour: number, pm: boolean | undefined): number | undefined {
  if (pm === undefined) return hour;
  if (hour > 12) return pm ? hour : undefined;
  if (hour === 0) return pm ? undefined : 0;
  return (hour % 12) + (pm ? 12 : 0);
}

function written(
  hour: number,
  minute: number,
  halfKnown: boolean,
): { value: string; spoken: string } {
  const minutes = String(minute).padStart(2, '0');
  const twelve = hour % 12 === 0 ? 12 : hour % 12;
  const clock = minute === 0 ? String(twelve) : `${twelve}:${minutes}`;
  if (!halfKnown && hour !== 0) {
    return { value: `${hour}:${minutes}`, spoken: minute === 0 ? `${clock} o'clock` : clock };
  }
  const half = hour < 12 ? 'AM' : 'PM';
  return { value: `${String(hour).padStart(2, '0')}:${minutes}`, spoken: `${clock} ${half}` };
}
