// Checks signatures of S3 requests, as S3 does: Signature Version 4 in the header Authorization or in the query.
// Written from AWS's documents alone; its test has their examples.
// Source: AWS, Authenticating Requests: Using the Authorization Header, and Using Query Parameters.

import { createHash, createHmac } from 'node:crypto';

export interface S3Account {
  accessKey: string;
  secretKey: string;
  region: string;
}

export interface ArrivedRequest {
  method: string;
  /** Path and query as they came. */
  url: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** S3 refuses a signature whose time is further away. */
const SKEW_MS_MAX = 900_000;

/** S3's error code; undefined for a request that is signed by the account. */
export function signatureFault(
  request: ArrivedRequest,
  account: S3Account,
  nowMs: number,
): string | undefined {
  const [path = '', search = ''] = request.url.split('?', 2);
  const query = search === '' ? [] : search.split('&').map(pairOf);
  const given = Object.fromEntries(query);
  if (given['X-Amz-Signature'] !== undefined) {
    return linkFault(request, { path, query, given }, account, nowMs);
  }
  const header = text(request.headers['authorization']);
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      header,
    );
  if (found === null) return header === '' ? 'AccessDenied' : 'AuthorizationHeaderMalformed';
  const [, credential = '', signedHeaders = '', signature = ''] = found;
  const date = text(request.headers['x-amz-date']) || basicTime(request.headers['date']);
  if (Math.abs(timeOf(date) - nowMs) > SKEW_MS_MAX) return 'RequestTimeTooSkewed';
  const payload = text(request.headers['x-amz-content-sha256']);
  return compare(
    { ...request, path, query, credential, signedHeaders, date, payload, signature },
    account,
  );
}

function linkFault(
  request: ArrivedRequest,
  of: { path: string; query: [string, string][]; given: Record<string, string> },
  account: S3Account,
  nowMs: number,
): string | undefined {
  const { given, path } = of;
  const date = given['X-Amz-Date'] ?? '';
  const fault = compare(
    {
      ...request,
      path,
      query: of.query.filter(([name]) => name !== 'X-Amz-Signature'),
      credential: given['X-Amz-Credential'] ?? '',
      signedHeaders: given['X-Amz-SignedHeaders'] ?? '',
      date,
      payload: 'UNSIGNED-PAYLOAD',
      signature: given['X-Amz-Signature'] ?? '',
    },
    account,
  );
  if (fault !== undefined) return fault;
  const endsAt = timeOf(date) + Number(given['X-Amz-Expires']) * 1_000;
  return endsAt <= nowMs ? 'AccessDenied' : undefined;
}

interface Signed extends ArrivedRequest {
  path: string;
  query: [string, string][];
  credential: string;
  signedHeaders: string;
  date: string;
  payload: string;
  signature: string;
}

function compare(signed: Signed, account: S3Account): string | undefined {
  const [accessKey, day = '', region = '', service, end] = signed.credential.split('/');
  if (accessKey !== account.accessKey) return 'InvalidAccessKeyId';
  if (region !== account.region || service !== 's3' || end !== 'aws4_request') {
    return 'AuthorizationHeaderMalformed';
  }
  const names = signed.signedHeaders.split(';');
  if (!names.includes('host') || day !== signed.date.slice(0, 8)) return 'AccessDenied';
  const canonical = [
    signed.method,
    signed.path.split('/').map(decodeURIComponent).map(encoded).join('/'),
    signed.query
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .sort()
      .join('&'),
    ...names.map((name) => `${name}:${text(signed.headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    signed.signedHeaders,
    signed.payload,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const digest = createHash('sha256').update(canonical).digest('hex');
  const toSign = ['AWS4-HMAC-SHA256', signed.date, scope, digest].join('\n');
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => hmac(secret, part),
    `AWS4${account.secretKey}`,
  );
  return hmac(key, toSign).toString('hex') === signed.signature
    ? undefined
    : 'SignatureDoesNotMatch';
}

function hmac(key: string | Buffer, value: string): Buffer {
  return createHmac('sha256', key).update(value).digest();
}

/** AWS's UriEncode: all but the unreserved characters. */
function encoded(value: string): string {
  return [...Buffer.from(value)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      if (/[A-Za-z0-9._~-]/.test(character)) return character;
      return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}

/** A `+` is a plus sign: S3 knows no forms. */
function pairOf(text_: string): [string, string] {
  const [name = '', value = ''] = text_.split('=', 2);
  return [decodeURIComponent(name), decodeURIComponent(value)];
}

function text(header: string | string[] | undefined): string {
  return Array.isArray(header) ? header.join(',') : (header ?? '');
}

function basicTime(header: string | string[] | undefined): string {
  return new Date(text(header)).toISOString().replace(/[:-]|\.\d{3}/g, '');
}

function timeOf(basic: string): number {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(basic) ?? [];
  const [year, month, ...rest] = parts.map(Number);
  return Date.UTC(year ?? Number.NaN, (month ?? 0) - 1, ...rest);
}
