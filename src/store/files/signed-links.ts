// Signed links to stored files: with one, a file can be read or uploaded without a key for a limited time. The
// signature covers everything that a link grants. The API serves and accepts the files.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../std/clock.ts';
import { deriveKey, type SecretKey } from '../secrets/secret-keys.ts';

/** Longest life of a link, in seconds. A client that needs the file later requests another. */
export const LINK_LIFE_S_MAX = 7 * 24 * 3_600;

export interface LinkedFile {
  key: string;
  /** Whether the file is shown in the browser instead of saved. */
  inline: boolean;
  /** File name for saving; null for the last part of the key. */
  fileName: string | null;
}

/** A file that a client may upload, once. */
export interface LinkedUpload {
  key: string;
  /** The Content-Type that the upload must have. */
  contentType: string;
  /** Size of the file, as announced. */
  bytes: number;
}

export interface FileLinksOptions {
  keys: readonly SecretKey[];
  clock: Clock;
  /** The API's path for files, without a trailing slash. */
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

  /** Signs a link for GET and HEAD: a path with its query. `expiresInS` is limited to a week. */
  sign(file: LinkedFile & { expiresInS: number }): string {
    const expires = this.#endOf(file.expiresInS);
    const inline = file.inline ? '&inline=1' : '';
    const name = file.fileName === null ? '' : `&name=${encoded(file.fileName)}`;
    return this.#link(file.key, `expires=${expires}${inline}${name}`, readText(file, expires));
  }

  /** Signs a link for PUT: a path with its query. `expiresInS` is limited to a week. */
  signUpload(upload: LinkedUpload & { expiresInS: number }): string {
    const expires = this.#endOf(upload.expiresInS);
    const query = `expires=${expires}&type=${encoded(upload.contentType)}&size=${upload.bytes}`;
    return this.#link(upload.key, query, uploadText(upload, expires));
  }

  /** The grant of a request. `key`: the path after the base, percent-decoded; `query` as received. Throws
   *  FILE_LINK_INVALID. */
  verify(request: {
    method: string;
    key: string;
    query: Readonly<Record<string, unknown>>;
  }): LinkedFile {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new GatewayError('FILE_LINK_INVALID');
    }
    const { inline, name } = request.query;
    const file: LinkedFile = {
      key: request.key,
      inline: inline === '1',
      fileName: typeof name === 'string' ? name : null,
    };
    this.#check(request.query, (expires) => readText(file, expires));
    return file;
  }

  /** The grant of an upload's request. Throws FILE_LINK_INVALID. */
  verifyUpload(request: { key: string; query: Readonly<Record<string, unknown>> }): LinkedUpload {
    const { type, size } = request.query;
    if (typeof type !== 'string' || typeof size !== 'string' || !/^\d{1,15}$/.test(size)) {
      throw new GatewayError('FILE_LINK_INVALID');
    }
    const upload = { key: request.key, contentType: type, bytes: Number(size) };
    this.#check(request.query, (expires) => uploadText(upload, expires));
    return upload;
  }

  #endOf(lifeS: number): number {
    const life = Math.min(Math.max(1, Math.floor(lifeS)), LINK_LIFE_S_MAX);
    return Math.floor(this.#clock.now() / 1_000) + life;
  }

  #link(key: string, query: string, text: string): string {
    const [newest] = this.#keys;
    if (newest === undefined) throw new GatewayError('SECRET_KEY_MISSING', { keyId: 'any' });
    const path = PLAIN_PATH.test(key) ? key : key.split('/').map(encodeURIComponent).join('/');
    const signed = signature(newest, text).toString('base64url');
    return `${this.#basePath}/${path}?${query}&signature=${signed}`;
  }

  #check(
    { expires, signature: given }: Readonly<Record<string, unknown>>,
    textOf: (expires: number) => string,
  ): void {
    const isText = typeof expires === 'string' && typeof given === 'string';
    if (!isText || !/^\d{1,12}$/.test(expires)) throw new GatewayError('FILE_LINK_INVALID');
    const bytes = Buffer.from(given, 'base64url');
    const text = textOf(Number(expires));
    const isOurs = this.#keys.some((key) => isEqual(bytes, signature(key, text)));
    if (!isOurs || Number(expires) * 1_000 <= this.#clock.now()) {
      throw new GatewayError('FILE_LINK_INVALID');
    }
  }
}

/** Paths that need no encoding. A list of runs has two hundred links, whose encoding took as long as their
 *  signatures. */
const PLAIN_PATH = /^[\w./-]*$/;

function encoded(text: string): string {
  return PLAIN_PATH.test(text) && !text.includes('/') ? text : encodeURIComponent(text);
}

// The signed text is JSON, so that no two different links have the same text.
function readText(file: LinkedFile, expires: number): string {
  return JSON.stringify(['GET', file.key, expires, file.inline, file.fileName]);
}

function uploadText({ key, contentType, bytes }: LinkedUpload, expires: number): string {
  return JSON.stringify(['PUT', key, expires, contentType, bytes]);
}

function signature(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function isEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
