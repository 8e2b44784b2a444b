// Whole numbers in English words, as people say them. No grammar (jsgf) and no parsing back (workflow does).

export const ONES = 'one two three four five six seven eight nine'.split(' ');
export const TEENS =
  'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' ');
export const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');

/** 0..999,999 in words without hyphens: "one hundred twenty three". */
export function numberWords(value: number): string {
  if (value === 0) return 'zero';
  const thousands = Math.floor(value / 1_000);
  const hundreds = Math.floor((value % 1_000) / 100);
  const parts = [
    thousands > 0 ? `${numberWords(thousands)} thousand` : '',
    hundreds > 0 ? `${ONES[hundreds - 1]} hundred` : '',
    belowHundred(value % 100),
  ];
  return parts.filter((part) => part !== '').join(' ');
}

function belowHundred(value: number): string {
  if (value === 0) return '';
  if (value < 10) return ONES[value - 1] ?? '';
  if (value < 20) return TEENS[value - 10] ?? '';
  const tens = TENS[Math.floor(value / 10) - 2] ?? '';
  return value % 10 === 0 ? tens : `${tens} ${ONES[(value % 10) - 1]}`;
}
