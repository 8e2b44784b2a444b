// The verdicts of npm plivo 4.79.0 are the oracle (fixtures/README.md).

import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isSigned, nonceOf } from '../../../src/telephony/plivo/webhook.ts';
import type { ProviderRequest } from '../../../src/telephony/provider/provider.ts';
import { bare, formPost, jsonPost } from '../provider/provider-request.ts';

interface Case {
  name: string;
  method: 'GET' | 'POST';
  token: string;
  url: string;
  params: Record<string, string | string[]>;
  nonce: string;
  signature: string;
  sdk_ok: boolean;
}
const { cases }: { cases: Case[] } = JSON.parse(
  readFileSync('fixtures/wire/plivo/webhook-signatures.json', 'utf8'),
);
const token = 'secret';
const nonce = '12345678901234567890';
const url = 'https://gw.example.com/api/v1/telephony/inbound/run';
const form = 'CallUUID=c1&From=14155550101';
const base = `${url}?CallUUIDc1From14155550101`;
const sign = (text: string, key = token) =>
  createHmac('sha256', key).update(`${text}.${nonce}`).digest('base64');
const headers = (signature: string) => ({
  ['x-plivo-signature-v3']: signature,
  ['x-plivo-signature-v3-nonce']: nonce,
});
const credentials = { auth_token: token };

function requestOf({ method, url: place, params, signature, nonce: given }: Case): ProviderRequest {
  const fields = new URLSearchParams();
  for (const [name, values] of Object.entries(params)) {
    for (const value of [values].flat()) fields.append(name, value);
  }
  const sent = {
    ['x-plivo-signature-v3']: signature,
    ['x-plivo-signature-v3-nonce']: given,
  };
  if (method === 'POST') {
    const request = formPost(place, fields.toString(), sent);
    return request;
  }
  return bare(fields.size === 0 ? place : `${place}?${fields}`, sent);
}

describe("Plivo's signature", () => {
  it.each(cases)('has the verdict of the official SDK: $name', (recorded) => {
    const given = { auth_token: recorded.token };
    expect(isSigned(requestOf(recorded), given)).toBe(recorded.sdk_ok);
    expect(isSigned(requestOf(recorded), { auth_token: 'another' })).toBe(false);
  });

  it('has a bare question mark between the address and a form (trap 15)', () => {
    expect(isSigned(formPost(url, form, headers(sign(base))), credentials)).toBe(true);
    const without = base.replace('?', '');
    expect(isSigned(formPost(url, form, headers(sign(without))), credentials)).toBe(false);
  });

  it('is verified over the public URL, whatever host the request names (trap 31)', () => {
    const elsewhere = { ...headers(sign(base)), host: 'internal:3000' };
    expect(isSigned(formPost(url, form, elsewhere), credentials)).toBe(true);
    const signedThere = sign(base.replace('gw.example.com', 'internal:3000'));
    const request = formPost(url, form, { ...headers(signedThere), host: 'internal:3000' });
    expect(isSigned(request, credentials)).toBe(false);
  });

  it('is V3: a good one of V2, which covers no form, proves nothing', () => {
    // By npm plivo 4.79.0, which accepts it for any query and form.
    const v2 = {
      ['x-plivo-signature-v2']: 'JfbuQiZEuVr1ijwmtAhHSQbErgPtBTDKnoLBvB+BBsw=',
      ['x-plivo-signature-v2-nonce']: nonce,
    };
    const given = { auth_token: 'MA_TOKEN_EXAMPLE' };
    const place = 'https://answer.example.com/plivo/answer?x=1';
    const covered = `https://answer.example.com/plivo/answer${nonce}`;
    const expected = createHmac('sha256', given.auth_token).update(covered).digest('base64');
    expect(v2['x-plivo-signature-v2']).toBe(expected);
    expect(isSigned(bare(place, v2), given)).toBe(false);
    expect(isSigned(formPost(place, form, v2), given)).toBe(false);
  });

  it('is that of the main account too, where a subaccount has the application', () => {
    const given = {
      ['x-plivo-signature-ma-v3']: sign(base),
      ['x-plivo-signature-v3-nonce']: nonce,
    };
    expect(isSigned(formPost(url, form, given), credentials)).toBe(true);
  });

  it.each([
    ['another form', formPost(url, form.replace('0101', '0102'), headers(sign(base)))],
    ['another URL', formPost(`${url}?x=1`, form, headers(sign(base)))],
    [
      'another nonce',
      formPost(url, form, { ...headers(sign(base)), ['x-plivo-signature-v3-nonce']: '2' }),
    ],
    ['no nonce', formPost(url, form, { ['x-plivo-signature-v3']: sign(base) })],
    ['no signature', formPost(url, form, { ['x-plivo-signature-v3-nonce']: nonce })],
    ['a cut signature', formPost(url, form, headers(sign(base).slice(0, 20)))],
    ['a body that no signature covers', jsonPost(url, '{"a":1}', headers(sign(url)))],
  ])('does not cover %s', (_what, request) => {
    expect(isSigned(request, credentials)).toBe(false);
  });

  it.each([{}, { auth_token: '' }, { auth_token: 7 }])('needs a token: %o', (without) => {
    const request = formPost(url, form, headers(sign(base, '')));
    expect(isSigned(request, without)).toBe(false);
  });

  it('gives its nonce to be claimed once', () => {
    expect(nonceOf(formPost(url, form, headers(sign(base))))).toBe(nonce);
    const long = { ['x-plivo-signature-v3-nonce']: 'x'.repeat(200) };
    expect(nonceOf(formPost(url, form, long))).toBeUndefined();
  });
});
