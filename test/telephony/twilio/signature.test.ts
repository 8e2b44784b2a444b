// The official SDK is the oracle: for any request, ours and theirs agree.

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import twilio from 'twilio';
import { describe, expect, it } from 'vitest';
import { isSigned } from '../../../src/telephony/twilio/webhook.ts';
import { rounds } from '../../rounds.ts';
import { bare, formPost, jsonPost } from '../provider/provider-request.ts';

interface Case {
  name: string;
  token: string;
  url: string;
  params?: Record<string, string | string[]>;
  body?: string;
  signature: string;
  sdk_ok: boolean;
}
const { cases }: { cases: Case[] } = JSON.parse(
  readFileSync('fixtures/wire/twilio/webhook-signatures.json', 'utf8'),
);

const token = '0123456789abcdef0123456789abcdef';
const url = 'https://gw.example.com/api/v1/telephony/inbound/run?a=1&b=%20x';
const sign = (at: string, params: Record<string, unknown> = {}, key = token) =>
  twilio.getExpectedTwilioSignature(key, at, params);
const headers = (signature: string) => ({ ['x-twilio-signature']: signature });
const formOf = (params: Record<string, string | string[]>) => {
  const form = new URLSearchParams();
  for (const [name, values] of Object.entries(params)) {
    for (const value of [values].flat()) form.append(name, value);
  }
  return form.toString();
};

describe("Twilio's signature", () => {
  it.each(cases)('recorded case: $name', (recorded) => {
    const { signature, body, params = {} } = recorded;
    const request =
      body === undefined
        ? formPost(recorded.url, formOf(params), headers(signature))
        : jsonPost(recorded.url, body, headers(signature));
    expect(isSigned(request, { auth_token: recorded.token })).toBe(recorded.sdk_ok);
  });

  it('agrees with the SDK on any form, and on any change to it', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 12 });
    const name = fc.string({ minLength: 1, maxLength: 8 }).filter((n) => n !== '__proto__');
    const form = fc.dictionary(
      name,
      fc.oneof(text, fc.array(text, { minLength: 2, maxLength: 3 })),
    );
    const place = fc.constantFrom(
      'https://gw.example.com/hook',
      'https://gw.example.com:443/hook?x=1',
      'https://gw.example.com:8443/hook',
      'http://127.0.0.1:3010/hook?run=1&b=a%20b',
      'http://gw.example.com/hook',
    );
    fc.assert(
      fc.property(form, form, place, place, (sent, received, signedUrl, seenUrl) => {
        const signature = sign(signedUrl, sent);
        for (const params of [sent, received]) {
          const request = formPost(seenUrl, formOf(params), headers(signature));
          // A body without a field is no form; the SDK does not ask what kind of body there was.
          const theirs = twilio.validateRequest(token, signature, seenUrl, request.formAll);
          expect(isSigned(request, { auth_token: token })).toBe(theirs);
        }
      }),
      { numRuns: rounds(500) },
    );
  });

  it('agrees with the SDK on any JSON body', () => {
    fc.assert(
      fc.property(fc.json(), fc.json(), (sent, received) => {
        const signed = `${url}&bodySHA256=${twilio.getExpectedBodyHash(sent)}`;
        const signature = sign(signed);
        for (const body of [sent, received]) {
          const theirs = twilio.validateRequestWithBody(token, signature, signed, body);
          const request = jsonPost(signed, body, headers(signature));
          expect(isSigned(request, { auth_token: token })).toBe(theirs);
        }
      }),
      { numRuns: rounds(300) },
    );
  });

  it('covers a socket upgrade by its wss URL, with or without the port', () => {
    const place = 'wss://gw.example.com/api/v1/telephony/ws/1/2/3/tok';
    const withPort = 'wss://gw.example.com:443/api/v1/telephony/ws/1/2/3/tok';
    expect(isSigned(bare(place, headers(sign(place))), { auth_token: token })).toBe(true);
    expect(isSigned(bare(place, headers(sign(withPort))), { auth_token: token })).toBe(true);
    expect(isSigned(bare(withPort, headers(sign(place))), { auth_token: token })).toBe(true);
    const elsewhere = place.replace('/3/', '/4/');
    expect(isSigned(bare(elsewhere, headers(sign(place))), { auth_token: token })).toBe(false);
  });

  it('does not accept a JSON body that the URL says nothing about', () => {
    const request = jsonPost(url, '{"a":1}', headers(sign(url)));
    expect(isSigned(request, { auth_token: token })).toBe(false);
  });

  it('checks the raw bytes of a JSON body, not what they parse to', () => {
    const signed = `${url}&bodySHA256=${twilio.getExpectedBodyHash('{"a": 1}')}`;
    const request = jsonPost(signed, '{"a":1}', headers(sign(signed)));
    expect(isSigned(request, { auth_token: token })).toBe(false);
  });

  it('is checked over the URL that we are known by, whatever Host the request names', () => {
    const form = formPost(url, 'CallSid=CA1', {
      ...headers(sign('https://internal.proxy/api/v1/telephony/inbound/run?a=1&b=%20x', {})),
      host: 'internal.proxy',
    });
    expect(isSigned(form, { auth_token: token })).toBe(false);
  });

  it.each([
    ['no header', {}, { auth_token: token }],
    ['no token', headers(sign(url)), {}],
    ['an empty token', headers(sign(url, {}, '')), { auth_token: '' }],
    ['a token that is no text', headers(sign(url)), { auth_token: 7 }],
    ['another token', headers(sign(url, {}, 'other')), { auth_token: token }],
    ['a longer signature', headers(`${sign(url)}=`), { auth_token: token }],
  ])('does not accept %s', (_what, sent, credentials) => {
    expect(isSigned(bare(url, sent), credentials)).toBe(false);
  });
});
