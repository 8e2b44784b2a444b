// What credentials consist of and the headers that they come to. Source: contract §10.2, RFC 9110, RFC 7617.

import { describe, expect, it } from 'vitest';
import {
  type CredentialType,
  credentialData,
  headersOfCredential,
} from '../../src/model/credential.ts';

describe('the header of a credential', () => {
  it.each<[CredentialType, Record<string, string>, Record<string, string>]>([
    ['none', {}, {}],
    ['api_key', { header_name: 'X-Key', api_key: 'k' }, { 'X-Key': 'k' }],
    ['bearer_token', { token: 't' }, { ['Authorization']: 'Bearer t' }],
    // The example of RFC 7617, 2.
    [
      'basic_auth',
      { username: 'Aladdin', password: 'open sesame' },
      { ['Authorization']: 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==' },
    ],
    ['custom_header', { header_name: 'X-Own', header_value: 'v' }, { 'X-Own': 'v' }],
  ])('of %s', (type, data, headers) => {
    expect(credentialData[type].parse(data)).toEqual(data);
    expect(headersOfCredential(type, data)).toEqual(headers);
  });
});

describe('a credential cannot be made of', () => {
  it.each<[string, CredentialType, Record<string, unknown>]>([
    ['no header name', 'api_key', { api_key: 'k' }],
    ['no key', 'api_key', { header_name: 'X-Key' }],
    ['an empty token', 'bearer_token', { token: '' }],
    ['no token', 'bearer_token', {}],
    ['a number for a token', 'bearer_token', { token: 7 }],
    ['two lines', 'bearer_token', { token: 'a\r\nX-Other: b' }],
    ['no password', 'basic_auth', { username: 'u' }],
    ['a colon in the user name', 'basic_auth', { username: 'u:v', password: 'p' }],
    ['a header name with a space', 'custom_header', { header_name: 'X Own', header_value: 'v' }],
    ['the Host header', 'custom_header', { header_name: 'Host', header_value: 'v' }],
    ['the length of the body', 'api_key', { header_name: 'content-length', api_key: '1' }],
    ['no value', 'custom_header', { header_name: 'X-Own' }],
  ])('%s', (_what, type, data) => {
    expect(credentialData[type].safeParse(data).success).toBe(false);
  });
});
