// Requests of providers as the API hands them over, made from what is on the wire.

import type { ProviderRequest } from '../../../src/telephony/provider/provider.ts';

type Headers = Record<string, string | undefined>;

/** A POST with a form. `form` is the body as sent. */
export function formPost(url: string, form: string, headers: Headers = {}): ProviderRequest {
  const fields = new URLSearchParams(form);
  const formAll = Object.fromEntries([...fields.keys()].map((name) => [name, fields.getAll(name)]));
  return {
    method: 'POST',
    url,
    headers,
    rawBody: Buffer.from(form),
    form: Object.fromEntries(
      Object.entries(formAll).map(([name, values]) => [name, values.at(-1) ?? '']),
    ),
    formAll,
    json: undefined,
  };
}

export function jsonPost(url: string, body: string, headers: Headers = {}): ProviderRequest {
  return {
    method: 'POST',
    url,
    headers,
    rawBody: Buffer.from(body),
    form: {},
    formAll: {},
    json: JSON.parse(body),
  };
}

/** A request without a body: a GET, or a socket's upgrade. */
export function bare(url: string, headers: Headers = {}): ProviderRequest {
  return {
    method: 'GET',
    url,
    headers,
    rawBody: Buffer.alloc(0),
    form: {},
    formAll: {},
    json: undefined,
  };
}
