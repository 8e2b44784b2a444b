// What people say for each kind of value, as rules of a JSGF grammar. Every word is in the English dictionary.
// Source: JSpeech Grammar Format (W3C note, 2000).

import type { SlotType } from '../../../model/expected-input.ts';
import { ONES, TEENS, TENS } from './number-words.ts';

const or = (words: readonly string[]) => words.join(' | ');

const MONTHS =
  'january february march april may june july august september october november december'.split(
    ' ',
  );
const WEEKDAYS = 'monday tuesday wednesday thursday friday saturday sunday'.split(' ');
const LETTERS = 'a b c d e f g h i j k l m n o p q r s t u v w x y z'.split(' ');
const ORDINALS =
  'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth'.split(
    ' ',
  );

/** Rules by name, without the brackets; each may use those below its `slot_…`. */
export const RULES: Record<string, string> = {
  slot_yes_no:
    "yes | yes please | yeah | yep | yup | sure | correct | that is correct | that's correct | right | that's right | okay | of course | no | no thanks | no thank you | nope | not really | wrong | that's wrong | incorrect",
  slot_digit: '<one_digit>',
  slot_digits: '<digit_group>+',
  slot_number: '<whole_number>',
  slot_date:
    '[on] [the] <day_ordinal> of <month> [<year>] | [on] <month> [the] <day_ordinal> [<year>] | [on] <month> <day_cardinal> [<year>] | [on] the <day_ordinal> | <relative_day> | [on] <weekday>',
  slot_time:
    "[at] <hour> [<minute>] [<half_of_day>] | [at] <hour> o'clock [<half_of_day>] | [at] (half | quarter) past <hour> | [at] quarter to <hour> | [at] noon | [at] midnight",
  slot_weekday: '<weekday> | <relative_day>',
  slot_money: '<dollars> [[and] <cents>] | <cents>',
  slot_spelling: '<letter_group>+',
  one_digit: `zero | oh | ${or(ONES)}`,
  digit_group: '<one_digit> | double <one_digit> | triple <one_digit>',
  below_ten: or(ONES),
  below_hundred: `<below_ten> | ${or(TEENS)} | (${or(TENS)}) [<below_ten>]`,
  below_thousand: '<below_hundred> | (a | <below_ten>) hundred [[and] <below_hundred>]',
  whole_number:
    'zero | <below_thousand> | (a | <below_thousand>) thousand [[and] <below_thousand>]',
  month: or(MONTHS),
  day_ordinal: `${or(ORDINALS)} | twenty (${or(ORDINALS.slice(0, 9))}) | thirty first`,
  day_cardinal: `<below_ten> | ${or(TEENS)} | twenty [<below_ten>] | thirty [one]`,
  year: 'twenty <below_hundred> | two thousand [[and] <below_hundred>] | nineteen <below_hundred>',
  weekday: `[next | this] (${or(WEEKDAYS)})`,
  relative_day: 'today | tomorrow | the day after tomorrow | next week',
  hour: `<below_ten> | ten | eleven | twelve`,
  minute: `oh <below_ten> | ${or(TEENS)} | (${or(TENS.slice(0, 4))}) [<below_ten>]`,
  // A plural is hardly heard on the telephone: one form each, by the number.
  dollars: '(one | a) dollar | <whole_number> dollars',
  cents: 'one cent | <below_hundred> cents',
  half_of_day: 'a.m. | p.m. | in the morning | in the afternoon | in the evening | at night',
  letter: or(LETTERS),
  letter_group: '<letter> | double <letter>',
};

export function slotRule(slot: SlotType): string {
  return `slot_${slot}`;
}

/** The rules that `names` need, themselves included. */
export function rulesFor(names: readonly string[]): string[] {
  const needed = new Set<string>();
  const visit = (name: string) => {
    if (needed.has(name)) return;
    needed.add(name);
    for (const [, used] of (RULES[name] ?? '').matchAll(/<(\w+)>/g)) visit(used ?? '');
  };
  for (const name of names) visit(name);
  return [...needed];
}
