// Links to stored files that work without a key and for a while only: everything that a link grants
// is under its signature. Serving the file is the API's business.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import type { Clock } from '../std/clock.ts';
import { deriveKey, type SecretKey } from './secret-keys.ts';

/** A link is for now; who needs the file next month asks again. */
export const LINK_LIFE_S_MAX = 7 * 24 * 3_600;

export interface LinkedFile {
  key: string;
  /** Shown in the browser instead of saved. */
  inline: boolean;
  /** The name under which it is saved; null for the last part of the key. */
  fileName: string | null;
}

export interface FileLinksOptions {
  keys: readonly SecretKey[];
  clock: Clock;
  /** Where the API serves files, without a slash at its end. */
  basePath: string;
}

export class FileLinks {
  readonly #keys: readonly Buffer[];
  readonly #clock: Clock;
  readonly #basePath: string;

  constructor({ keys, clock, basePath }: FileLinksOptions) {
    this.#keys = keys.map((key) => deriveKey(key, 'file links'));
    this.#clock = clock;
    this.#basePath = basePath;
  }

  /** A path with its query, good for GET and HEAD. `expiresInS` is cut to a week. */
  sign(file: LinkedFile & { expiresInS: number }): string {
    const lifeS = Math.min(Math.max(1, Math.floor(file.expiresInS)), LINK_LIFE_S_MAX);
    const expires = Math.floor(this.#clock.now() / 1_000) + lifeS;
    const query = new URLSearchParams({ expires: String(expires) });
    if (file.inline) query.set('inline', '1');
    if (file.fileName !== null) query.set('name', file.fileName);
    const [newest] = this.#keys;
    if (newest === undefined) throw new GatewayError('SECRET_KEY_MISSING', { keyId: 'any' });
    query.set('signature', signature(newest, file, expires).toString('base64url'));
    const path = file.key.split('/').map(encodeURIComponent).join('/');
    return `${this.#basePath}/${path}?${query}`;
  }

  /** What a request may have. `key` is the path after the base, percent signs decoded; `query` as
   *  it came. Throws FILE_LINK_INVALID. */
  verify(request: {
    method: string;
    key: string;
    query: Readonly<Record<string, unknown>>;
  }): LinkedFile {
    const { expires, inline, name, signature: given } = request.query;
    const isText = typeof expires === 'string' && typeof given === 'string';
    if (!isText || !/^\d{1,12}$/.test(expires)) throw new GatewayError('FILE_LINK_INVALID');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new GatewayError('FILE_LINK_INVALID');
    }
    const file: LinkedFile = {
      key: request.key,
      inline: inline === '1',
      fileName: typeof name === 'string' ? name : null,
    };
    const bytes = Buffer.from(given, 'base64url');
    const isOurs = this.#keys.some((key) => isEqual(bytes, signature(key, file, Number(expires))));
    if (!isOurs || Number(expires) * 1_000 <= this.#clock.now()) {
      throw new GatewayError('FILE_LINK_INVALID');
    }
    return file;
  }
}

function signature(key: Buffer, file: LinkedFile, expires: number): Buffer {
  // As JSON, so that no two different links have the same text.
  const text = JSON.stringify(['GET', file.key, expires, file.inline, file.fileName]);
  return createHmac('sha256', key).update(text).digest();
}

function isEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
