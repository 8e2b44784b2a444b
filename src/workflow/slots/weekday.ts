// A day of the week. The value is its English name in lower case.

import type { SlotMatch } from './tokens.ts';

const NAMES: Record<string, string> = {
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

export function findWeekdays(words: readonly string[]): SlotMatch[] {
  return words.flatMap((word, index) => {
    const singular = word.replace(/'?s$/, '');
    const name = nameOf(word) ?? nameOf(singular);
    if (name === undefined) return [];
    const spoken = name.charAt(0).toUpperCase() + name.slice(1);
    return [{ value: name, spoken, from: index, to: index + 1 }];
  });
}

function nameOf(word: string): string | undefined {
  return Object.hasOwn(NAMES, word) ? NAMES[word] : undefined;
}
