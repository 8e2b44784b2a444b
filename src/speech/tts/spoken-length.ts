// Spoken length of a text, in letters of an alphabet: in some scripts a character is a whole syllable.

/** Letters per character, at 65 ms a letter, from syllable rates of languages: 220 ms for a Chinese character, 130 ms
 *  for a kana, 160 ms for a Korean syllable. */
const HAN_LETTERS = 3.4;
const KANA_LETTERS = 2;
const HANGUL_LETTERS = 2.5;

const HAN = /\p{Script=Han}/u;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}ー]/u;
const SYLLABIC = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Length in letters. The text's `length` if it has none of these scripts. */
export function spokenLength(text: string): number {
  if (!SYLLABIC.test(text)) return text.length;
  let letters = 0;
  for (const character of text) letters += lettersOf(character);
  return letters;
}

/** Code units of the longest prefix that is spoken within `lettersMax`. Whole code points. */
export function beginWithin(text: string, lettersMax: number): number {
  if (text.length <= lettersMax / HAN_LETTERS) return text.length;
  // Each code unit counts at least one letter, so the rest of a long text is not scanned.
  const head = text.slice(0, lettersMax + 1);
  if (!SYLLABIC.test(head)) {
    const isCut = head.length > lettersMax && /[\uD800-\uDBFF]/.test(head[lettersMax - 1] ?? '');
    return Math.min(head.length, isCut ? lettersMax - 1 : lettersMax);
  }
  let letters = 0;
  let end = 0;
  for (const character of head) {
    letters += lettersOf(character);
    if (letters > lettersMax) break;
    end += character.length;
  }
  return end;
}

function lettersOf(character: string): number {
  if (!SYLLABIC.test(character)) return character.length;
  if (HAN.test(character)) return HAN_LETTERS;
  return KANA.test(character) ? KANA_LETTERS : HANGUL_LETTERS;
}
