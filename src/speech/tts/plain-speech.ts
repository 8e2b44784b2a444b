// The words of a sentence without the marks of writing: Markdown, tags, emoji. For every voice; how a voice says
// numbers, dates and addresses is its own (text-normalization for Flite). What a model writes beside its words is gone
// before (speech/llm/client/unspoken-text).

import { FREE_MARKS } from '../../std/text/punctuation.ts';

/** With what belongs to an emoji: skin tones, joined emoji, keycaps, tags of flags. (c), (R) and TM are words. */
const EMOJI =
  /(?:\p{Regional_Indicator}{2}|[0-9#*]\uFE0F?\u20E3|(?![©®™])\p{Extended_Pictographic}[\uFE0F\u{1F3FB}-\u{1F3FF}\u{E0020}-\u{E007F}]*(?:\u200D\p{Extended_Pictographic}[\uFE0F\u{1F3FB}-\u{1F3FF}]*)*)/gu;

/** Text without any of these has no marks: most sentences. */
const MARKED =
  /[*_`~<>|[\]\\\n#【\uE200]|^\s*[-+•‣▪●○◦–]|\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20E3|&#?\w+;|[:;]-?[()DPa-z]|={3}/u;

/** In this order. */
const MARKS: readonly (readonly [mark: RegExp, said: string])[] = [
  [EMOJI, ' '],
  // The same in writing: :smile: and :-). A time has digits.
  [/(?<!\S):[a-z][a-z0-9_+-]{1,30}:(?=[\s.,!?]|$)/g, ' '],
  [/(?<!\S)[:;]-?[()DP](?=[\s.,!?]|$)/g, ' '],
  // The end of a line as JSON has it.
  [/(?<=^|[\s.!?,;)"'])(?:\\n)+/g, '\n'],
  // Sources of a search, as models that have one write them. Chinese and Japanese words are no source: 【重要】.
  [
    /【(?![^【】†\n]*[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[^【】\n]{0,100}】/gu,
    '',
  ],
  [/\uE200[^\uE201\n]{0,200}\uE201/g, ''],
  // Between words, with a space on both sides, a number in brackets is a key or a room, not a source.
  [/(?<=[\p{L}\p{N}.,!?:;"'”’)])(?:\[\^?\d{1,3}\])+/gu, ''],
  [/(?<=[\p{L}\p{N}.,!?:;"'”’)])[ \t](?:\[\^?\d{1,3}\])+(?=[.,!?:;)]|\s*$)/gmu, ''],
  [/(?<=^|\s)\[(\d{1,3})\](?=\s)/gm, '$1'],
  // Lines without words: of a table, a rule, a code block.
  [/^[ \t]*\|?[ \t]*:?-{3,}[-:| \t]*$/gm, ''],
  [/^[ \t]*(?:([-*_][ \t]*){3,}|={3,}[ \t]*)$/gm, ''],
  [/^[ \t]*`{3,}[^\n]*$/gm, ''],
  [/`{3,}/g, ' '],
  [/`([^`\n]*)`/g, '$1'],
  // Links and images are their texts.
  [/^[ \t]*\[[^\][\n]{1,100}\]:[ \t]*\S+[^\n]*$/gm, ''],
  [/\[([^\][\n]*)\]\[[^\][\n]*\]/g, '$1'],
  [/!?\[([^\][\n]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:[ \t]+"[^"\n]*")?\)/g, '$1'],
  // Addresses in angle brackets are their texts.
  [/<((?:https?:\/\/|mailto:)?[^\s<>]+[.@][^\s<>]+)>/g, '$1'],
  // A name alone or with attributes that have values: `a <b and c> d` compares.
  [
    /<\/?[A-Za-z][\w:-]{0,60}(?:\s+[\w:-]{1,60}\s*=\s*(?:"[^"<>\n]*"|'[^'<>\n]*'|[^\s"'<>]+))*\s*\/?>/g,
    ' ',
  ],
  // Beginnings of lines: headings, quotes, items of a list.
  [/^[ \t]*#{1,6}[ \t]+/gm, ''],
  [/^[ \t]*(?:>[ \t]?)+(?![ \t]*[\d=$€£])/gm, ''],
  // A temperature below zero, and a telephone number, are no items of a list.
  [/^([ \t]*)[-–−][ \t]+(?=\d+(?:[.,]\d+)?\s?(?:°|degrees?\b|%|percent\b))/gim, '$1-'],
  [/^[ \t]*(?:[-•‣▪●○◦–]|\+(?![ \t]*\d)|\*(?=[ \t]+\S{2}))[ \t]+(?:\[[ xX]\][ \t]+)?/gm, ''],
  [/^[ \t]*\||\|[ \t]*$/gm, ''],
  [/[ \t]+\|[ \t]+/g, ', '],
  [/~~([^~\n]*)~~/g, '$1'],
  // Emphasis, also where its other end is in another sentence. A lone * is a key.
  // Between letters or digits, * is a key of the telephone or a product: *21*5551234#, 2*3*4.
  [/(?<![\\A-Za-z0-9])(\*{1,3})(?=[^\s*])([^*\n]*[^\s*\\])\1(?![A-Za-z0-9#])/g, '$2'],
  [/\*{2,}(?!\d+[*#])/g, ''],
  [/(?<![^\s("'])\*(?=\p{L})/gu, ''],
  [/(?<=[\p{L}.!?,])\*(?![^\s.,!?)"'])/gu, ''],
  [/(?<![\p{L}\p{N}_])_{1,3}(?=[\p{L}\p{N}])/gu, ''],
  [/(?<=[\p{L}\p{N}.!?,])_{1,3}(?![\p{L}\p{N}_])/gu, ''],
  // Beside letters of Chinese or Japanese, which have no spaces around emphasis.
  [/(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])_{1,3}/gu, ''],
  [/_{1,3}(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])/gu, ''],
  [/\\([*_`#~[\]()<>|-])/g, '$1'],
  // Characters of markup.
  [/&nbsp;/g, ' '],
  [/&(?:apos|#39|rsquo);/g, "'"],
  [/&quot;/g, '"'],
  [/&lt;/g, '<'],
  [/&gt;/g, '>'],
  [/&amp;/g, '&'],
  // The end of a line is a pause.
  [/(?<=[\p{L}\p{M}\p{N}])[ \t]*\n\s*(?=\S)/gu, ', '],
];

const SPACE_BEFORE_MARK = new RegExp(` (?=[,.!?;:،؛؟۔](?:\\s|$)|[${FREE_MARKS}])`, 'g');

/** The words, trimmed, with single spaces. '' if there is nothing to say. */
export function plainSpeech(text: string): string {
  let said = text.replace(/[ \t]{2,}/g, ' ');
  if (MARKED.test(said)) for (const [mark, plain] of MARKS) said = said.replace(mark, plain);
  said = said.replace(/\s+/g, ' ').replace(SPACE_BEFORE_MARK, '').trim();
  return /[\p{L}\p{N}]|^[*#]/u.test(said) ? said : '';
}
