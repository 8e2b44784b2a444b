// Replaces symbols, units, currencies and written dates by English words, for voices that drop or spell them. It runs
// before the voice's own text normalization.

const CURRENCIES: ReadonlyMap<string, readonly [one: string, many: string]> = new Map([
  ['€', ['euro', 'euros']],
  ['EUR', ['euro', 'euros']],
  ['£', ['pound', 'pounds']],
  ['GBP', ['pound', 'pounds']],
  ['$', ['dollar', 'dollars']],
  ['USD', ['dollar', 'dollars']],
  ['¥', ['yen', 'yen']],
  ['JPY', ['yen', 'yen']],
  ['₹', ['rupee', 'rupees']],
  ['INR', ['rupee', 'rupees']],
  ['₽', ['ruble', 'rubles']],
  ['₴', ['hryvnia', 'hryvnias']],
  ['₺', ['lira', 'lira']],
  ['₩', ['won', 'won']],
  ['₪', ['shekel', 'shekels']],
  ['CHF', ['Swiss franc', 'Swiss francs']],
  ['CAD', ['Canadian dollar', 'Canadian dollars']],
  ['AUD', ['Australian dollar', 'Australian dollars']],
]);
/** Currency signs that precede an amount. The dollar sign is left to the voice. */
const SIGN_BEFORE = '[€£¥₹₽₴₺₩₪]';
const SIGN_BEHIND = '[€£$¥₹₽₴₺₩₪]';
const CODE = '(?:EUR|GBP|USD|JPY|INR|CHF|CAD|AUD)';
const AMOUNT = '\\d+(?:[.,]\\d+)*';

const WORDS: readonly (readonly [mark: RegExp, said: string])[] = [
  // Dates and times.
  [
    /\b(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?\b/g,
    '$1 at $2',
  ],
  [/\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b/g, '$3-$2-$1'],
  // Ranges.
  [/(?<=\d)\s?–\s?(?=\d)/g, ' to '],
  // Units.
  [/(?<=\d)\s?°\s?C\b/g, ' degrees Celsius'],
  [/(?<=\d)\s?°\s?F\b/g, ' degrees Fahrenheit'],
  [/(?<=\d)\s?°/g, ' degrees'],
  [/\bkm\/h\b/g, 'kilometers per hour'],
  [/\bkm²/g, 'square kilometers'],
  [/\bm²/g, 'square meters'],
  [/\bm³/g, 'cubic meters'],
  [/²/g, ' squared'],
  [/(?<=\d)\s%/g, '%'],
  // Fractions.
  [/(\d)½/g, '$1 and a half'],
  [/½/g, 'one half'],
  [/¼/g, 'one quarter'],
  [/¾/g, 'three quarters'],
  // Signs between words and numbers.
  [/\s?×\s?/g, ' times '],
  [/\s?÷\s?/g, ' divided by '],
  [/\s?±\s?/g, ' plus or minus '],
  [/\s?≈\s?|~(?=\s?\d)/g, ' about '],
  [/\s?≤\s?/g, ' at most '],
  [/\s?≥\s?/g, ' at least '],
  [/\s?≠\s?/g, ' is not '],
  [/\s*(?:→|⇒|➜|➡)\s*/g, ' to '],
  [/(?<=\S)\s?=\s?(?=\S)/g, ' equals '],
  [/№\s?/g, 'number '],
  [/§\s?/g, 'section '],
  [/[©®™]/g, ' '],
  [/\s*[•·]\s*/g, ', '],
];

/** Replacements for Latin letters without a base letter. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ['ß', 'ss'],
  ['æ', 'ae'],
  ['Æ', 'Ae'],
  ['œ', 'oe'],
  ['Œ', 'Oe'],
  ['ø', 'o'],
  ['Ø', 'O'],
  ['đ', 'd'],
  ['Đ', 'D'],
  ['ð', 'd'],
  ['þ', 'th'],
  ['ł', 'l'],
  ['Ł', 'L'],
  ['ı', 'i'],
]);

export function spokenSymbols(text: string): string {
  let said = text
    .replace(
      new RegExp(`(${SIGN_BEFORE}|\\b${CODE})\\s?(${AMOUNT})`, 'g'),
      (_whole, unit, amount) => money(String(unit), String(amount)),
    )
    .replace(
      new RegExp(`(${AMOUNT})\\s?(${SIGN_BEHIND}|${CODE}\\b)`, 'g'),
      (_whole, amount, unit) => money(String(unit), String(amount)),
    );
  for (const [mark, words] of WORDS) said = said.replace(mark, words);
  return said.replace(/[ßæÆœŒøØđĐðþłŁı]/g, (letter) => LETTERS.get(letter) ?? letter);
}

/** Whether the text has letters of a script that English voices cannot read. */
export function hasForeignLetters(text: string): boolean {
  const plain = text
    .replace(/[ßæÆœŒøØđĐðþłŁıªº]/g, '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '');
  return /(?![A-Za-z])\p{L}/u.test(plain);
}

/** Reads "1.234,50" (Europe) and "1,234.50" (America): the last separator is the decimal one. */
function money(unit: string, written: string): string {
  const [one, many] = CURRENCIES.get(unit) ?? [unit, unit];
  const [, whole = written, cents] = /^(.*)[.,](\d{2})$/.exec(written) ?? [];
  const digits = whole.replace(/[.,]/g, '');
  // With commas, a long number would be spelled.
  const amount = digits.replace(/\B(?=(\d{3})+$)/g, ',');
  const name = amount === '1' ? one : many;
  return cents === undefined || cents === '00' ? `${amount} ${name}` : `${amount} ${name} ${cents}`;
}
