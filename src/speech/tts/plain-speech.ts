// Removes the marks of writing from a sentence: Markdown, tags, emoji. For every voice. Each voice reads numbers, dates
// and addresses its own way (text-normalization for Flite). A model's tool calls and reasoning were removed before
// (speech/llm/client/unspoken-text).

import { FREE_MARKS } from '../../std/text/punctuation.ts';

/** Emoji with their modifiers: skin tones, joined emoji, keycaps, flag tags. (c), (R) and TM are words. */
const EMOJI =
  /(?:\p{Regional_Indicator}{2}|[0-9#*]\uFE0F?\u20E3|(?![©®™])\p{Extended_Pictographic}[\uFE0F\u{1F3FB}-\u{1F3FF}\u{E0020}-\u{E007F}]*(?:\u200D\p{Extended_Pictographic}[\uFE0F\u{1F3FB}-\u{1F3FF}]*)*)/gu;

/** Matches text that may have marks. Most sentences have none. */
const MARKED =
  /[*_`~<>|[\]\\\n#【\uE200]|^\s*[-+•‣▪●○◦–]|\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20E3|&#?\w+;|[:;]-?[()DPa-z]|={3}/u;

/** Replacements, applied in this order. */
const MARKS: readonly (readonly [mark: RegExp, said: string])[] = [
  [EMOJI, ' '],
  // Emoji in text form: :smile: and :-). A time has digits.
  [/(?<!\S):[a-z][a-z0-9_+-]{1,30}:(?=[\s.,!?]|$)/g, ' '],
  [/(?<!\S)[:;]-?[()DP](?=[\s.,!?]|$)/g, ' '],
  // A line feed escaped as in JSON.
  [/(?<=^|[\s.!?,;)"'])(?:\\n)+/g, '\n'],
  // Citations of search results, as models write them. Chinese and Japanese words in such brackets are kept: 【重要】.
  [
    /【(?![^【】†\n]*[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[^【】\n]{0,100}】/gu,
    '',
  ],
  [/\uE200[^\uE201\n]{0,200}\uE201/g, ''],
  // Citation numbers. Between spaces, a number in brackets is a key or a room and stays.
  [/(?<=[\p{L}\p{N}.,!?:;"'”’)])(?:\[\^?\d{1,3}\])+/gu, ''],
  [/(?<=[\p{L}\p{N}.,!?:;"'”’)])[ \t](?:\[\^?\d{1,3}\])+(?=[.,!?:;)]|\s*$)/gmu, ''],
  [/(?<=^|\s)\[(\d{1,3})\](?=\s)/gm, '$1'],
  // Lines without words, of a table, a rule or a code block.
  [/^[ \t]*\|?[ \t]*:?-{3,}[-:| \t]*$/gm, ''],
  [/^[ \t]*(?:([-*_][ \t]*){3,}|={3,}[ \t]*)$/gm, ''],
  [/^[ \t]*`{3,}[^\n]*$/gm, ''],
  [/`{3,}/g, ' '],
  [/`([^`\n]*)`/g, '$1'],
  // Links and images are replaced by their texts.
  [/^[ \t]*\[[^\][\n]{1,100}\]:[ \t]*\S+[^\n]*$/gm, ''],
  [/\[([^\][\n]*)\]\[[^\][\n]*\]/g, '$1'],
  [/!?\[([^\][\n]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:[ \t]+"[^"\n]*")?\)/g, '$1'],
  // Addresses in angle brackets are replaced by their texts.
  [/<((?:https?:\/\/|mailto:)?[^\s<>]+[.@][^\s<>]+)>/g, '$1'],
  // Tags: a name alone or with attributes that have values. `a <b and c> d` is a comparison.
  [
    /<\/?[A-Za-z][\w:-]{0,60}(?:\s+[\w:-]{1,60}\s*=\s*(?:"[^"<>\n]*"|'[^'<>\n]*'|[^\s"'<>]+))*\s*\/?>/g,
    ' ',
  ],
  // Line prefixes: headings, quotes, list items.
  [/^[ \t]*#{1,6}[ \t]+/gm, ''],
  [/^[ \t]*(?:>[ \t]?)+(?![ \t]*[\d=$€£])/gm, ''],
  // A temperature below zero and a telephone number are not list items.
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
  // Underscores beside Chinese or Japanese letters, which have no spaces around emphasis.
  [/(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])_{1,3}/gu, ''],
  [/_{1,3}(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])/gu, ''],
  [/\\([*_`#~[\]()<>|-])/g, '$1'],
  // Markup characters.
  [/&nbsp;/g, ' '],
  [/&(?:apos|#39|rsquo);/g, "'"],
  [/&quot;/g, '"'],
  [/&lt;/g, '<'],
  [/&gt;/g, '>'],
  [/&amp;/g, '&'],
  // The end of a line becomes a pause.
  [/(?<=[\p{L}\p{M}\p{N}])[ \t]*\n\s*(?=\S)/gu, ', '],
];

const SPACE_BEFORE_MARK = new RegExp(` (?=[,.!?;:،؛؟۔](?:\\s|$)|[${FREE_MARKS}])`, 'g');

/** Words of the text, trimmed, with single spaces. '' if there is nothing to say. */
export function plainSpeech(text: string): string {
  let said = text.replace(/[ \t]{2,}/g, ' ');
  if (MARKED.test(said)) for (const [mark, plain] of MARKS) said = said.replace(mark, plain);
  said = said.replace(/\s+/g, ' ').replace(SPACE_BEFORE_MARK, '').trim();
  return /[\p{L}\p{N}]|^[*#]/u.test(said) ? said : '';
}
