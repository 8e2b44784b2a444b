// Checks digits that a caller has entered: their number, and what the author of the tool says they are. Pure.
// Sources: ISO/IEC 7812-1, annex B (Luhn formula, 8 to 19 digits of a card); ISO/IEC 7813 (month of expiry).

import type { DigitsVerdict } from '../../model/engine-input.ts';

/** What the digits are. luhn: any number with a check digit by Luhn. payment_card: the same with 12 to 19 digits.
 *  expiry_month: MMYY, this month or a later one. */
export const DIGIT_CHECKS = ['none', 'luhn', 'payment_card', 'expiry_month'] as const;
export type DigitCheck = (typeof DIGIT_CHECKS)[number];

/** Any digit in a pattern. */
export const ANY_DIGIT = 'x';

export interface DigitRules {
  min: number;
  max: number;
  check: DigitCheck;
  /** Forms of which one must fit: digits, and `x` for any digit. Empty: every form fits. */
  patterns: readonly string[];
}

const CARD_MIN = 12;
const CARD_MAX = 19;
/** Longest validity of a card; two digits of a year are read within it. */
const EXPIRY_YEARS_MAX = 20;

/** Judges an entry of keys without its terminator. `now`: wall clock, milliseconds since 1970. */
export function judgeDigits(
  { min, max, check, patterns }: DigitRules,
  keys: string,
  now: number,
): DigitsVerdict {
  if (/^[#*]?$/.test(keys)) return 'none';
  if (!/^\d+$/.test(keys)) return 'invalid';
  if (keys.length < min) return 'too_few';
  if (keys.length > max) return 'too_many';
  const fits = patterns.length === 0 || patterns.some((pattern) => fitsPattern(pattern, keys));
  return fits && isChecked(check, keys, now) ? 'ok' : 'invalid';
}

function fitsPattern(pattern: string, digits: string): boolean {
  if (pattern.length !== digits.length) return false;
  return [...pattern].every((each, at) => each === ANY_DIGIT || each === digits[at]);
}

function isChecked(check: DigitCheck, digits: string, now: number): boolean {
  switch (check) {
    case 'none':
      return true;
    case 'luhn':
      return isLuhn(digits);
    case 'payment_card':
      return digits.length >= CARD_MIN && digits.length <= CARD_MAX && isLuhn(digits);
    case 'expiry_month':
      return isExpiryMonth(digits, now);
  }
}

/** Whether the last digit is the check digit of those before it. */
export function isLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const digit = Number(digits[digits.length - 1 - at]);
    const doubled = at % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return digits.length > 1 && sum % 10 === 0;
}

function isExpiryMonth(digits: string, now: number): boolean {
  if (digits.length !== 4) return false;
  const month = Number(digits.slice(0, 2));
  const today = new Date(now);
  const year = today.getUTCFullYear();
  const expiryYear = year - (year % 100) + Number(digits.slice(2));
  const monthsLeft = (expiryYear - year) * 12 + month - 1 - today.getUTCMonth();
  return month >= 1 && month <= 12 && monthsLeft >= 0 && monthsLeft <= EXPIRY_YEARS_MAX * 12;
}
