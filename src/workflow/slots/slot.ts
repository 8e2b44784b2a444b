// Finds a slot's value in the caller's words or keys. Ambiguous words give no value.

import type { SlotType } from '../../model/expected-input.ts';
import type { SlotHint } from '../nodes/fields.ts';
import { findNumbers } from './cardinal.ts';
import { findDates, findWeekdays } from './date.ts';
import { findMoney } from './money.ts';
import { findDigits, findSpellings } from './spelling.ts';
import { findTimes } from './time.ts';
import { type SlotMatch, slotWords } from './tokens.ts';
import { parseYesNo } from './yes-no.ts';

/** Number of digits from which an entry is confirmed before it counts. */
const DIGITS_CONFIRMED_MIN = 4;
const DIGITS_MAX_DEFAULT = 32;
const NUMBER_KEYS_MAX = 9;

const NEGATIONS = new Set(['not', "don't", 'except', 'no']);

/** Types whose values are plain numbers, and words next to which a number is part of something else. */
const COUNTED: readonly SlotType[] = ['digit', 'digits', 'number'];
const MEASURES = new Set(
  "half quarter past o'clock am pm dollar dollars cent cents euro euros pound pounds percent or $ € £".split(
    ' ',
  ),
);

type OpenType = Exclude<SlotType, 'yes_no'>;

const finders: Record<OpenType, (words: readonly string[], now: number) => SlotMatch[]> = {
  digit: findDigits,
  digits: findDigits,
  number: findNumbers,
  date: findDates,
  time: findTimes,
  weekday: findWeekdays,
  money: findMoney,
  spelling: findSpellings,
};

export interface SlotValue {
  value: string | number | boolean;
  /** Form of the value in the confirmation. */
  spoken: string;
}

export interface ParsedSlot extends SlotValue {
  /** The words of the value, `to` exclusive. */
  from: number;
  to: number;
}

/** The single value of the slot's type in the text; undefined if there is none, or more than one, or if it is
 *  negated ("not Monday"). `now` in milliseconds since 1970. */
export function parseSlot(slot: SlotHint, text: string, now: number): ParsedSlot | undefined {
  if (slot.type === undefined) return undefined;
  const words = slotWords(text);
  if (slot.type === 'yes_no') {
    const yes = parseYesNo(text);
    const spoken = yes ? 'yes' : 'no';
    return yes === undefined ? undefined : { value: yes, spoken, from: 0, to: words.length };
  }
  const found = finders[slot.type](words, now);
  const [first] = found;
  if (first === undefined || found.some(({ value }) => value !== first.value)) return undefined;
  if (found.length > 1 && slot.type !== 'weekday') return undefined;
  const around = words.filter((_word, at) => at < first.from || at >= first.to);
  const counted = COUNTED.includes(slot.type);
  if (around.some((word) => NEGATIONS.has(word) || (counted && MEASURES.has(word)))) {
    return undefined;
  }
  return fits(slot, first.value) ? first : undefined;
}

/** A value entered by keys; undefined if keys cannot give one of this type. */
export function parseKeys(slot: SlotHint, keys: string): SlotValue | undefined {
  const digits = keys.replace(/#$/, '');
  if (!/^\d+$/.test(digits)) return undefined;
  switch (slot.type) {
    case 'yes_no':
      return keyYesNo(digits);
    case 'digit':
    case 'digits':
      return fits(slot, digits) ? { value: digits, spoken: [...digits].join(' ') } : undefined;
    case 'number':
      return digits.length > NUMBER_KEYS_MAX || !fits(slot, Number(digits))
        ? undefined
        : { value: Number(digits), spoken: digits };
    default:
      return undefined;
  }
}

/** Whether a value of this type must be confirmed before it counts. */
export function needsConfirmation(slot: SlotHint, value: SlotValue['value']): boolean {
  if (slot.type === 'date' || slot.type === 'money' || slot.type === 'spelling') return true;
  return slot.type === 'digits' && String(value).length >= DIGITS_CONFIRMED_MIN;
}

/** Yes or no by key: 1 is yes, 2 is no. */
export function keyYesNo(keys: string): SlotValue | undefined {
  if (keys === '1') return { value: true, spoken: 'yes' };
  return keys === '2' ? { value: false, spoken: 'no' } : undefined;
}

/** Whether the value meets the author's limits: the number of digits, and one of the choices if there are any. */
function fits(slot: SlotHint, value: SlotValue['value']): boolean {
  const text = String(value);
  if (slot.choices !== undefined && !slot.choices.some((choice) => choice.toLowerCase() === text)) {
    return false;
  }
  if (slot.type === 'digit') return /^\d$/.test(text);
  if (slot.type !== 'digits') return true;
  return (
    text.length >= (slot.digits_min ?? 1) && text.length <= (slot.digits_max ?? DIGITS_MAX_DEFAULT)
  );
}
