// The fake's check of signatures against the examples that AWS publishes.

import { describe, expect, it } from 'vitest';
import { type ArrivedRequest, signatureFault } from './signature-v4.ts';

// Source: AWS, Amazon S3 API Reference, Signature Calculations: Examples.
const account = {
  accessKey: 'AKIAIOSFODNN7EXAMPLE',
  secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
};
const NOON_MS = Date.UTC(2013, 4, 24);
const SCOPE = 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request';
const host = 'examplebucket.s3.amazonaws.com';

const get: ArrivedRequest = {
  method: 'GET',
  url: '/test.txt',
  headers: {
    host,
    range: 'bytes=0-9',
    'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'x-amz-date': '20130524T000000Z',
    authorization: `AWS4-HMAC-SHA256 Credential=${SCOPE},SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41`,
  },
};
const put: ArrivedRequest = {
  method: 'PUT',
  url: '/test%24file.text',
  headers: {
    host,
    date: 'Fri, 24 May 2013 00:00:00 GMT',
    'x-amz-date': '20130524T000000Z',
    'x-amz-storage-class': 'REDUCED_REDUNDANCY',
    'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
    authorization: `AWS4-HMAC-SHA256 Credential=${SCOPE},SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd`,
  },
};
const list: ArrivedRequest = {
  method: 'GET',
  url: '/?max-keys=2&prefix=J',
  headers: {
    host,
    'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'x-amz-date': '20130524T000000Z',
    authorization: `AWS4-HMAC-SHA256 Credential=${SCOPE},SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7`,
  },
};
const link: ArrivedRequest = {
  method: 'GET',
  url: `/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${encodeURIComponent(SCOPE)}&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404`,
  headers: { host },
};

describe('the check of a signature', () => {
  it.each([
    ['of a GET with a range', get],
    ['of a PUT with a key that needs encoding', put],
    ['of a list', list],
    ['in a link', link],
  ])('accepts the published example %s', (_which, request) => {
    expect(signatureFault(request, account, NOON_MS)).toBeUndefined();
  });

  it.each([
    ['another secret', get, { ...account, secretKey: 'wrong' }, NOON_MS, 'SignatureDoesNotMatch'],
    [
      'a link by another secret',
      link,
      { ...account, secretKey: 'wrong' },
      NOON_MS,
      'SignatureDoesNotMatch',
    ],
    ['another key', get, { ...account, accessKey: 'AKOTHER' }, NOON_MS, 'InvalidAccessKeyId'],
    [
      'another region',
      get,
      { ...account, region: 'eu-west-1' },
      NOON_MS,
      'AuthorizationHeaderMalformed',
    ],
    ['another path', { ...get, url: '/test.txt2' }, account, NOON_MS, 'SignatureDoesNotMatch'],
    ['another method', { ...link, method: 'PUT' }, account, NOON_MS, 'SignatureDoesNotMatch'],
    [
      'another query',
      { ...list, url: '/?max-keys=3&prefix=J' },
      account,
      NOON_MS,
      'SignatureDoesNotMatch',
    ],
    ['another time', get, account, NOON_MS + 901_000, 'RequestTimeTooSkewed'],
    ['a link that is over', link, account, NOON_MS + 86_400_000, 'AccessDenied'],
    ['no signature', { ...get, headers: { host } }, account, NOON_MS, 'AccessDenied'],
  ] as const)('refuses %s', (_what, request, of, nowMs, code) => {
    expect(signatureFault(request, of, nowMs)).toBe(code);
  });
});
