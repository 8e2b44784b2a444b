// Vectors computed from Vobiz's documentation alone: no SDK verifies its signatures.

import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isSigned, nonceOf } from '../../../src/telephony/vobiz/webhook.ts';
import { formPost } from '../provider/provider-request.ts';

interface Case {
  name: 'V2' | 'V3';
  token: string;
  url: string;
  nonce: string;
  signature: string;
}
const { cases }: { cases: Case[] } = JSON.parse(
  readFileSync('fixtures/wire/vobiz/webhook-signatures.json', 'utf8'),
);
const headersOf = (version: string, signature: string, nonce: string) => ({
  [`x-vobiz-signature-${version}`]: signature,
  [`x-vobiz-signature-${version}-nonce`]: nonce,
});
const credentials = { auth_token: 'secret' };
const url = 'https://gw.example.com/api/v1/telephony/vobiz/hangup-callback/1';
const sign = (text: string, key = 'secret') =>
  createHmac('sha256', key).update(text).digest('base64');
const v3 = headersOf('v3', sign(`${url}.n1`), 'n1');

describe("Vobiz's signature", () => {
  it.each(cases)(
    'is made as documented: $name',
    ({ name, token, url: place, nonce, signature }) => {
      const request = formPost(place, 'a=1', headersOf(name.toLowerCase(), signature, nonce));
      expect(isSigned(request, { auth_token: token })).toBe(true);
      expect(isSigned(request, { auth_token: 'another' })).toBe(false);
    },
  );

  it('covers neither query nor body, so its success proves the URL alone (trap 16)', () => {
    for (const body of ['CallStatus=completed', 'CallStatus=busy', '']) {
      expect(isSigned(formPost(`${url}?x=1`, body, v3), credentials)).toBe(true);
    }
    const other = url.replace('/1', '/2');
    expect(isSigned(formPost(other, 'CallStatus=completed', v3), credentials)).toBe(false);
  });

  it('has one nonce for each request, that of the version which is verified', () => {
    const both = { ...v3, ...headersOf('v2', sign(`${url}n2`), 'n2') };
    expect(nonceOf(formPost(url, '', both))).toBe('n1');
    const bad = { ...headersOf('v3', 'x', 'n1'), ...headersOf('v2', sign(`${url}n2`), 'n2') };
    expect(isSigned(formPost(url, '', bad), credentials)).toBe(false);
  });

  it('is that of the main account too', () => {
    const main = headersOf('ma-v3', sign(`${url}.n1`), 'x');
    const request = formPost(url, '', { ...main, ['x-vobiz-signature-v3-nonce']: 'n1' });
    expect(isSigned(request, credentials)).toBe(true);
  });

  it.each([
    [
      'version 1',
      { ['x-vobiz-signature']: createHmac('sha1', 'secret').update(url).digest('base64') },
    ],
    ['no nonce', { ['x-vobiz-signature-v3']: sign(`${url}.n1`) }],
    ['another nonce', { ...v3, ['x-vobiz-signature-v3-nonce']: 'n2' }],
    ['nothing', {}],
    ['the host of the request (trap 31)', headersOf('v3', sign(`https://internal/x.n1`), 'n1')],
  ])('is none with %s', (_what, headers) => {
    expect(isSigned(formPost(url, '', { ...headers, host: 'internal' }), credentials)).toBe(false);
  });

  it.each([{}, { auth_token: '' }, { auth_token: 7 }])('needs a token: %o', (without) => {
    const request = formPost(url, '', headersOf('v3', sign(`${url}.n1`, ''), 'n1'));
    expect(isSigned(request, without)).toBe(false);
  });
});
