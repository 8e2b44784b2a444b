// A request of a client in the form of fixtures/wire/<vendor>/*.json: those hold what the vendors' own SDKs send
// (test/oracles). A key is replaced by KEY.

import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';

export interface CapturedRequest {
  path: string;
  query: Record<string, string | string[]>;
  /** Those that the vendor gives a meaning. */
  headers: Record<string, string>;
  /** In their order, without audio. Of an HTTP request its body. */
  messages: Record<string, unknown>[];
}

export interface CaptureOptions {
  key: string;
  headers: readonly string[];
  messages: readonly unknown[];
}

export function capturedRequest(
  request: { url?: string | URL | undefined; headers: IncomingHttpHeaders },
  { key, headers: names, messages }: CaptureOptions,
): CapturedRequest {
  const url = new URL(request.url ?? '/', 'http://fake');
  const query: CapturedRequest['query'] = {};
  for (const name of new Set(url.searchParams.keys())) {
    const values = url.searchParams.getAll(name);
    query[name] = values.length === 1 ? (values[0] as string) : values;
  }
  const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name])]));
  const all = { path: url.pathname, query, headers, messages };
  return JSON.parse(JSON.stringify(all).replaceAll(key, 'KEY'));
}

/** `name` is the vendor and the request: `deepgram/listen-v1`. */
export function sdkRequest(name: string): CapturedRequest {
  return JSON.parse(readFileSync(`fixtures/wire/${name}.json`, 'utf8'));
}

/** What the SDKs of language models were asked in test/oracles, as our clients are asked. */
export const SDK_QUESTION = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Which day?' },
  ],
  tools: [
    {
      name: 'book',
      description: 'Books a visit.',
      parameters: { type: 'object', properties: { day: { type: 'string' } } },
    },
  ],
  tokensMax: 300,
  json: false,
} as const;
