// The files in a bucket of S3. What an answer of S3 means is decided here; the requests are s3-requests.ts.
// Source: AWS, Amazon S3 API Reference.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import type { FileStatus } from './file-store.ts';
import { type S3Answer, type S3Request, S3Requests } from './s3-requests.ts';
import type { S3Settings } from './s3-settings.ts';

/** Largest body of one request. A larger file is sent in parts, of which a failed one is repeated. */
const WHOLE_BYTES_MAX = 10_485_760;
/** Size of a part: S3 wants 5 MiB at least. */
const PART_BYTES = 8_388_608;
/** S3 takes 10,000 parts. */
const PARTS_MAX = 10_000;
/** Largest file that is read into memory: those of clients have 10 MiB. */
const READ_BYTES_MAX = 67_108_864;

/** Faults of the settings, by the code that S3 gives. Others may pass. */
const faults: ReadonlyMap<string, string> = new Map([
  ['NoSuchBucket', 'there is no such bucket: see S3_BUCKET and S3_PATH_STYLE'],
  ['InvalidAccessKeyId', 'it does not know the access key: see S3_ACCESS_KEY'],
  ['SignatureDoesNotMatch', 'the secret key is not that of the access key: see S3_SECRET_KEY'],
  ['AuthorizationHeaderMalformed', 'the bucket is in another region: see S3_REGION'],
  ['PermanentRedirect', 'the bucket is in another region: see S3_ENDPOINT and S3_REGION'],
  [
    'AccessDenied',
    'the access key needs s3:ListBucket, s3:GetObject, s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload for the bucket',
  ],
]);

/** Headers by which an answer to a link is as one of the gateway. */
export interface LinkedAnswer {
  contentType: string;
  disposition: string;
}

export class S3Bucket {
  readonly #requests: S3Requests;
  readonly #settings: S3Settings;

  constructor(settings: S3Settings, means: { clock: Clock; random: Random; log: Log }) {
    this.#settings = settings;
    this.#requests = new S3Requests(settings, means);
  }

  /** Checks the settings at S3. Throws S3_REFUSED for a fault of the settings, FILES_UNAVAILABLE if it does not
   *  answer. */
  async check(): Promise<void> {
    const query = { 'list-type': '2', 'max-keys': '1' };
    const answer = await this.#requests.send({ operation: 'list', method: 'GET', key: '', query });
    if (answer.status < 300) return;
    const code = codeIn(answer);
    const reason = faults.get(code);
    if (reason === undefined) throw refusal(answer);
    const { endpoint, bucket } = this.#settings;
    throw new GatewayError('S3_REFUSED', { endpoint, bucket, reason, said: code });
  }

  /** Undefined: there is no such file. Throws FILES_UNAVAILABLE, as all do. */
  async stat(key: string): Promise<FileStatus | undefined> {
    const answer = await this.#requests.send({ operation: 'head', method: 'HEAD', key });
    if (answer.status === 404) return undefined;
    const { headers } = done(answer);
    return {
      size: Number(headers['content-length']),
      modifiedAt: new Date(String(headers['last-modified'])),
      etag: String(headers['etag']),
    };
  }

  /** A file, or the bytes of `range`, inclusive. Throws FILE_NOT_FOUND. */
  async read(key: string, range?: { start: number; end: number }): Promise<Readable> {
    const headers = range === undefined ? {} : { range: `bytes=${range.start}-${range.end}` };
    const wanted = { operation: 'get', method: 'GET', key, headers } as const;
    const { stream, ...answer } = await this.#requests.open(wanted);
    done({ ...answer, body: Buffer.alloc(0) });
    return stream;
  }

  /** Throws FILE_NOT_FOUND. */
  async readAll(key: string): Promise<Buffer> {
    const wanted = { operation: 'get', method: 'GET', key, answerBytes: WHOLE_BYTES_MAX } as const;
    return done(await this.#requests.send(wanted, READ_BYTES_MAX)).body;
  }

  async write(key: string, bytes: Uint8Array): Promise<void> {
    const body = { bytes: bytes.length, open: () => bytes };
    done(await this.#requests.send({ operation: 'put', method: 'PUT', key, body }));
  }

  /** Stores a file of the disk. `isNew`: throws FILE_EXISTS if the key has a file, also one that another gateway stores
   *  at the same moment; for files of one request (10 MiB) alone. */
  async writeFile(
    key: string,
    path: string,
    { isNew = false, signal }: { isNew?: boolean; signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    const { size } = await stat(path);
    if (size > WHOLE_BYTES_MAX) return this.#writeParts(key, { path, size, signal });
    const headers: Record<string, string> = isNew ? { 'if-none-match': '*' } : {};
    const body = { bytes: size, open: () => createReadStream(path) };
    const wanted = { operation: 'put', method: 'PUT', key, headers, body, signal } as const;
    const answer = await this.#requests.send(wanted);
    if (isNew && TAKEN.has(answer.status)) throw new GatewayError('FILE_EXISTS');
    done(answer);
  }

  async remove(key: string): Promise<void> {
    const answer = await this.#requests.send({ operation: 'delete', method: 'DELETE', key });
    if (answer.status !== 404) done(answer);
  }

  /** A link at the public endpoint that reads the file; undefined without one. */
  async readLink(
    key: string,
    { contentType, disposition }: LinkedAnswer,
    expiresInS: number,
  ): Promise<string | undefined> {
    const query = {
      'response-content-type': contentType,
      'response-content-disposition': disposition,
      'response-cache-control': 'private, max-age=0, must-revalidate',
    };
    return this.#link({ method: 'GET', key, query }, expiresInS);
  }

  /** A link at the public endpoint that takes the file, of that type; undefined without one. */
  async writeLink(
    key: string,
    contentType: string,
    expiresInS: number,
  ): Promise<string | undefined> {
    return this.#link({ method: 'PUT', key, headers: { 'content-type': contentType } }, expiresInS);
  }

  close(): Promise<void> {
    return this.#requests.close();
  }

  async #link(
    request: Parameters<S3Requests['signer']['link']>[1],
    expiresInS: number,
  ): Promise<string | undefined> {
    const { publicEndpoint } = this.#settings;
    if (publicEndpoint === undefined) return undefined;
    return this.#requests.signer.link(publicEndpoint, request, expiresInS);
  }

  async #writeParts(
    key: string,
    { path, size, signal }: { path: string; size: number; signal: AbortSignal | undefined },
  ): Promise<void> {
    const post = { operation: 'part', method: 'POST', key, signal } as const;
    const begun = done(await this.#requests.send({ ...post, query: { uploads: '' } }));
    const uploadId = /<UploadId>([^<]{1,2000})</.exec(begun.body.toString())?.[1];
    if (uploadId === undefined) throw refusal(begun);
    try {
      const etags: string[] = [];
      const bytes = Math.max(PART_BYTES, Math.ceil(size / PARTS_MAX));
      for (let start = 0; start < size; start += bytes) {
        const end = Math.min(start + bytes, size) - 1;
        const body = { bytes: end - start + 1, open: () => createReadStream(path, { start, end }) };
        const query = { partNumber: String(etags.length + 1), uploadId };
        const part = await this.#requests.send({ ...post, method: 'PUT', query, body });
        etags.push(String(done(part).headers['etag']));
      }
      const list = listOf(etags);
      const body = { bytes: Buffer.byteLength(list), open: () => list };
      const ended = done(await this.#requests.send({ ...post, query: { uploadId }, body }));
      // S3 may answer 200 before it knows, and say in the body that it failed.
      if (!ended.body.includes('<CompleteMultipartUploadResult')) throw refusal(ended);
    } catch (error) {
      await this.#abandon(key, uploadId);
      throw error;
    }
  }

  /** Has S3 delete the parts. Never rejects: what is left costs space until the bucket's own rule deletes it. */
  async #abandon(key: string, uploadId: string): Promise<void> {
    const wanted: S3Request = { operation: 'delete', method: 'DELETE', key, query: { uploadId } };
    await this.#requests.send(wanted).catch(() => undefined);
  }
}

/** There is a file: 412. Another one is being stored: 409. */
const TAKEN: ReadonlySet<number> = new Set([409, 412]);

function listOf(etags: readonly string[]): string {
  const parts = etags.map(
    (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
}

/** The answer, if it is a success. Throws FILE_NOT_FOUND, FILES_UNAVAILABLE. */
function done(answer: S3Answer): S3Answer {
  if (answer.status < 300) return answer;
  if (answer.status === 404 && codeIn(answer) !== 'NoSuchBucket') {
    throw new GatewayError('FILE_NOT_FOUND');
  }
  throw refusal(answer);
}

function refusal(answer: S3Answer): GatewayError {
  return new GatewayError('FILES_UNAVAILABLE', {
    reason: `${answer.status} ${codeIn(answer)}`.trim(),
  });
}

/** The code of S3's error; empty if it gives none. */
function codeIn({ body }: S3Answer): string {
  return /<Code>(\w{1,60})</.exec(body.toString())?.[1] ?? '';
}
