// Text normalization for flite: rewrites telephone numbers, long numbers, dates, foreign currencies, addresses and
// symbols. Flite handles small numbers, dollars, times and common abbreviations itself. American English.

import { spokenSymbols } from './spoken-symbols.ts';

const MONTHS =
  'January February March April May June July August September October November December'.split(
    ' ',
  );
const TOP_LEVEL = 'com|org|net|edu|gov|io|ai|co|us|uk|de|info|biz|app|dev|health';

const PLAIN_SIGNS: [RegExp, string][] = [
  [/[‘’ʼ]/g, "'"],
  [/[“”„«»"]/g, ''],
  [/\s*[–—]\s*/g, ', '],
  [/…/g, '. '],
  [/(?<!\S)<3(?![^\s.,;:!?])/g, 'love'],
  [/(?<=\d)\s+<\s+(?=\d)/g, ' less than '],
  [/(?<=\d)\s+>\s+(?=\d)/g, ' greater than '],
  [/(?<=\d)\s+\*\s+(?=\d)/g, ' times '],
  [/(?<=\d)\*(?=\s|$)/g, ' star'],
  [/\b([A-G])#(?![\w#])/g, '$1 sharp'],
  [/(?<!\S)[-−](?=\d+(?:\.\d+)?\s?(?:°|degrees?\b|%|percent\b))/gi, 'minus '],
  // The star key of a telephone.
  [/(?<!\S)\*(?=[\s\d.,;:!?]|$)/g, 'star '],
  [/[*_`~|<>[\]{}\\^]+/g, ' '],
  [/^\s*#+\s/gm, ''],
];

/** Keys that a caller presses in sequence: *21*5551234#, *#06#. */
const KEYPAD_CODE = /(?<![\w*#])[*#][\d*#]{0,40}[*#][\d*#]{0,40}(?![\w*#])/g;

/** Returns ASCII that flite pronounces well; '' if there is nothing to say. */
export function normalizeText(text: string): string {
  let said = spokenSymbols(text.replace(KEYPAD_CODE, sayKeys));
  for (const [sign, plain] of PLAIN_SIGNS) said = said.replace(sign, plain);
  said = said
    .replace(/\b[\w.+-]+@[\w-]+(\.[\w-]+)+/g, spellAddress)
    .replace(
      new RegExp(`\\b(https?://)?([\\w-]+\\.)+(${TOP_LEVEL})\\b(/[\\w/-]*)?`, 'gi'),
      spellAddress,
    )
    .replace(/\b(\d{4})-(\d{2})-(\d{2})\b/g, (whole, year, month, day) =>
      sayDate(whole, year, month, day),
    )
    .replace(/\b(\d{1,2})\/(\d{1,2})\/(\d{4})\b/g, (whole, month, day, year) =>
      sayDate(whole, year, month, day),
    )
    .replace(/(?<![\w$.,])(\+\s?)?\(?\d[\d ().-]{5,}\d(?![\d%]|[.,]\d)/g, sayTelephone)
    .replace(/(?<![\d$.,])\d{6,}(?![\d%]|[.,]\d)/g, spaceDigits)
    .replace(/#\s?(?=\d)/g, 'number ')
    .replace(/(?<!\S)#(?![^\s.,;:!?])/g, 'pound')
    .replace(/&/g, ' and ')
    .replace(/\+/g, ' plus ')
    .replace(/\s@\s/g, ' at ')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return /[A-Za-z0-9]/.test(said) ? said : '';
}

/** Spells "info@example.com" as "info at example dot com". */
function spellAddress(address: string): string {
  return address
    .replace(/^https?:\/\//i, '')
    .replace(/@/g, ' at ')
    .replace(/\./g, ' dot ')
    .replace(/\//g, ' slash ')
    .replace(/-/g, ' dash ');
}

function sayKeys(code: string): string {
  if (!/\d/.test(code)) return code;
  return [...code].map((key) => ({ '*': 'star', '#': 'pound' })[key] ?? key).join(' ');
}

function sayDate(whole: string, year: string, month: string, day: string): string {
  const name = MONTHS[Number(month) - 1];
  const dayNumber = Number(day);
  if (name === undefined || dayNumber < 1 || dayNumber > 31) return whole;
  return `${name} ${ordinal(dayNumber)}, ${year}`;
}

function ordinal(day: number): string {
  const teen = day > 10 && day < 14;
  const ending = teen ? undefined : ['th', 'st', 'nd', 'rd'][day % 10];
  return `${day}${ending ?? 'th'}`;
}

/** Reads a telephone number digit by digit, in the groups of the text, or 3-3-4. Fewer than seven digits are no
 *  telephone number. */
function sayTelephone(whole: string): string {
  const digits = whole.replace(/\D/g, '');
  if (digits.length < 7 || digits.length > 15) return whole;
  const plus = whole.trimStart().startsWith('+') ? 'plus ' : '';
  const written = whole.match(/\d+/g) ?? [];
  const groups = written.length > 1 ? written : inGroups(digits);
  return plus + groups.map(spaceDigits).join(', ');
}

function inGroups(digits: string): string[] {
  const groups: string[] = [];
  let rest = digits;
  while (rest.length > 4) {
    // A national number of ten digits follows the country code.
    const head = rest.length > 10 ? rest.length - 10 : 3;
    groups.push(rest.slice(0, head));
    rest = rest.slice(head);
  }
  return [...groups, rest];
}

function spaceDigits(digits: string): string {
  return [...digits].join(' ');
}
