// The log as a person reads it at a terminal: a plain line for each JSON line, with time, level, text and the fields.

import { isObject } from './json.ts';

/** Characters of one field; a longer one is cut. */
const FIELD_CHARACTERS_MAX = 200;
/** Of an ISO time: hours, minutes, seconds. */
const TIME_OF_DAY = [11, 19] as const;

/** The plain form of a line of the log. A line that is no JSON object stays as it is. */
export function terminalLine(json: string): string {
  const fields = parsed(json);
  if (fields === undefined) return json;
  const { time, level, msg, err, ...rest } = fields;
  const words = [String(time).slice(...TIME_OF_DAY), level, msg];
  const shown = Object.entries(rest).map(([name, value]) => `${name}=${plain(value)}`);
  return `${[...words, ...errorWords(err), ...shown].filter(isWord).join(' ')}\n`;
}

function isWord(word: unknown): boolean {
  return word !== undefined && word !== '';
}

function errorWords(err: unknown): string[] {
  if (!isObject(err)) return [];
  return [`(${[err['code'], err['message']].filter(isWord).map(oneLine).join(': ')})`];
}

function plain(value: unknown): string {
  const text = oneLine(typeof value === 'string' ? value : JSON.stringify(value));
  return text.length > FIELD_CHARACTERS_MAX ? `${text.slice(0, FIELD_CHARACTERS_MAX)}...` : text;
}

/** Without control characters, which a terminal would carry out. */
function oneLine(text: unknown): string {
  return String(text).replace(/[\s\p{Cc}]+/gu, ' ');
}

function parsed(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
