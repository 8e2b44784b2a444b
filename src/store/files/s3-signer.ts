// Addresses of S3 objects, and requests and links signed with Signature Version 4. Sends nothing. Sources: AWS,
// Authenticating Requests (Signature Version 4); RFC 3986, 2.1 for the encoding of keys.

import { AwsV4Signer } from 'aws4fetch';
import type { Clock } from '../../std/clock.ts';
import type { S3Settings } from './s3-settings.ts';

export type S3Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';

/** A request before its signature. */
export interface UnsignedRequest {
  method: S3Method;
  /** Key of the object; empty for the bucket itself. */
  key: string;
  /** Default: none. */
  query?: Readonly<Record<string, string>>;
  /** Default: none. */
  headers?: Readonly<Record<string, string>>;
}

export interface SignedRequest {
  url: string;
  headers: Record<string, string>;
}

export class S3Signer {
  readonly #settings: S3Settings;
  readonly #clock: Pick<Clock, 'now'>;
  /** Signing keys of a day, which aws4fetch derives once. */
  readonly #derived = new Map<string, ArrayBuffer>();
  #derivedDay = '';

  constructor(settings: S3Settings, clock: Pick<Clock, 'now'>) {
    this.#settings = settings;
    this.#clock = clock;
  }

  /** Signs a request by its headers. The body is not part of the signature. */
  async sign(request: UnsignedRequest): Promise<SignedRequest> {
    const { endpoint } = this.#settings;
    const signed = await this.#signer(endpoint, request, {}).sign();
    return { url: addressOf(signed.url), headers: Object.fromEntries(signed.headers) };
  }

  /** Signs a link at the public endpoint that works for `expiresInS` seconds, a week at most. The one who uses it must
   *  send `headers` as they are signed. */
  async link(
    publicEndpoint: string,
    { query, ...request }: UnsignedRequest,
    expiresInS: number,
  ): Promise<string> {
    const limited = { ...query, 'X-Amz-Expires': String(expiresInS) };
    const signer = this.#signer(publicEndpoint, { ...request, query: limited }, IN_THE_QUERY);
    return addressOf((await signer.sign()).url);
  }

  #signer(
    endpoint: string,
    { method, key, query = {}, headers = {} }: UnsignedRequest,
    how: { signQuery?: boolean; allHeaders?: boolean },
  ): AwsV4Signer {
    const { accessKey: accessKeyId, secretKey: secretAccessKey, region } = this.#settings;
    const datetime = new Date(this.#clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, '');
    return new AwsV4Signer({
      method,
      url: this.#address(endpoint, key) + queryText(Object.entries(query)),
      headers,
      accessKeyId,
      secretAccessKey,
      region,
      service: 's3',
      datetime,
      cache: this.#keysOf(datetime.slice(0, 8)),
      ...how,
    });
  }

  #keysOf(day: string): Map<string, ArrayBuffer> {
    if (day !== this.#derivedDay) this.#derived.clear();
    this.#derivedDay = day;
    return this.#derived;
  }

  #address(endpoint: string, key: string): string {
    const { bucket, isPathStyle } = this.#settings;
    const path = key.split('/').map(encoded).join('/');
    if (isPathStyle) return `${endpoint}/${bucket}${path === '' ? '' : `/${path}`}`;
    return `${endpoint.replace('://', `://${bucket}.`)}/${path}`;
  }
}

const IN_THE_QUERY = { signQuery: true, allHeaders: true };

/** The URL with its query encoded as it was signed: `URLSearchParams` writes a space as `+`, which a signature does
 *  not know. */
function addressOf(url: URL): string {
  return `${url.origin}${url.pathname}${queryText([...url.searchParams])}`;
}

function queryText(query: readonly (readonly [string, string])[]): string {
  if (query.length === 0) return '';
  return `?${query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&')}`;
}

/** Percent-encodes all but the unreserved characters. aws4fetch signs a path correctly only if it is encoded so before:
 *  with `+` or a space as such every request is refused. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
