// What the wires have in common when they announce a call: requests, ids, and what a document in a reply names.

import { request } from 'undici';
import type { MediaTarget } from './wire.ts';

const ANSWER_MS_MAX = 30_000;
/** Characters of a reply in an error's text. */
const SHOWN_CHARACTERS = 200;

export interface Reply {
  status: number;
  text: string;
}

export async function post(
  url: string,
  body: string,
  headers: Record<string, string>,
): Promise<Reply> {
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  const reply = await request(url, { method: 'POST', headers, body, signal });
  return { status: reply.statusCode, text: await reply.body.text() };
}

export const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
export const JSON_BODY = { 'content-type': 'application/json' };

/** The stream that the first match of `pattern` names. Throws the reply if there is none. */
export function targetIn({ status, text }: Reply, pattern: RegExp): MediaTarget {
  const url = pattern.exec(text)?.[1];
  if (url === undefined) throw refusal({ status, text });
  return { url: unescapeXml(url), headers: {}, parameters: {} };
}

export function refusal({ status, text }: Reply): Error {
  return new Error(`${status} ${text.slice(0, SHOWN_CHARACTERS)}`);
}

export function unescapeXml(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');
}

/** 32 hex digits. */
export function hexOf(nth: number): string {
  return nth.toString(16).padStart(32, '0');
}

export function uuidOf(nth: number): string {
  return hexOf(nth).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Without the `+`. */
export function digitsOf(number: string): string {
  return number.replace(/^\+/, '');
}

/** A credential that the wire cannot do without. */
export function secretOf(credentials: Readonly<Record<string, string>>, name: string): string {
  const value = credentials[name];
  if (value === undefined) throw new Error(`the account has no ${name}`);
  return value;
}
