// The URL of a tool's request. Templates fill in path and query, percent-encoded; they never change the host
// (SSRF), and never leave the author's path. Source: contract §8.7; WHATWG URL.

import { GatewayError } from '../../errors/gateway-error.ts';
import { placeholders, render } from '../variables/template.ts';

const URL_CHARACTERS_MAX = 4_000;
const ORIGIN = /^https?:\/\/[^/?#]+/i;

/** Whether it is an http or https URL without a password whose scheme, host and port are fixed. */
export function isRequestUrl(template: string): boolean {
  const origin = ORIGIN.exec(template)?.[0];
  return origin !== undefined && !/[{}@\\\s]/.test(origin) && URL.canParse(origin);
}

/** The URL with its templates filled in. Throws TOOL_URL. */
export function renderedUrl(template: string, context: Record<string, unknown>, now: number): URL {
  if (!isRequestUrl(template)) throw wrong('its host is not fixed');
  const text = render(template, context, { now, encode: encoded });
  if (text.length > URL_CHARACTERS_MAX) throw wrong('it is too long');
  if (!URL.canParse(text)) throw wrong('it is not a URL');
  const url = new URL(text);
  const origin = /^\w+:\/\/[^/?#]*/.exec(text)?.[0] ?? '';
  if (!template.startsWith(origin)) throw wrong('a template changes its host');
  // A value of `..` would leave the author's path.
  const path = /^[^?#]*/.exec(text.slice(origin.length))?.[0] ?? '';
  const isClimbing = placeholders(template).length > 0 && segments(url.pathname) !== segments(path);
  if (isClimbing) throw wrong('a value leaves its path');
  url.hash = '';
  return url;
}

/** Percent-encodes a part of a path or a query. An unpaired surrogate, which has no encoding, is replaced. */
export function encoded(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'));
}

function segments(path: string): number {
  return (path === '' ? '/' : path).split('/').length;
}

function wrong(reason: string): GatewayError {
  return new GatewayError('TOOL_URL', { reason });
}
