// How long a text is spoken, counted in letters of an alphabet: in some scripts a character is a whole syllable.

/** Of the usual 65 ms for a letter, by languages' rates of syllables: 220 ms for a Chinese character, 130 ms for a kana,
 *  160 ms for a syllable of Korean. */
const HAN_LETTERS = 3.4;
const KANA_LETTERS = 2;
const HANGUL_LETTERS = 2.5;

const HAN = /\p{Script=Han}/u;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}ー]/u;
const SYLLABIC = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Letters; the text's `length` where it has none of these scripts. */
export function spokenLength(text: string): number {
  if (!SYLLABIC.test(text)) return text.length;
  let letters = 0;
  for (const character of text) letters += lettersOf(character);
  return letters;
}

/** Code units of the longest begin of the text that is spoken within `lettersMax`. Whole code points. */
export function beginWithin(text: string, lettersMax: number): number {
  if (text.length <= lettersMax / HAN_LETTERS) return text.length;
  // No code unit is less than a letter: the rest of a long text is not read.
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
