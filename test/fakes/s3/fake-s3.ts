// An S3 service with one bucket in memory: objects, ranges, conditions, uploads in parts, and presigned links. It checks
// each signature (signature-v4.ts) and refuses what S3 refuses; the tests of test/store/files run the same cases
// against Ceph's. Not here: versions, access lists, lifecycle rules.

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { S3Settings } from '../../../src/store/files/s3-settings.ts';
import { type S3Account, signatureFault } from './signature-v4.ts';

const ACCOUNT: S3Account = {
  accessKey: 'AKPATCHBAY',
  secretKey: 'secretsecretsecret',
  region: 'us-east-1',
};
const BUCKET = 'files-of-calls';
/** S3's smallest part, but for the last. */
const PART_BYTES_MIN = 5 * 1024 * 1024;

interface StoredObject {
  bytes: Buffer;
  etag: string;
  modifiedAt: Date;
}

interface Upload {
  key: string;
  parts: Map<number, Buffer>;
}

export interface FakeS3 {
  settings: S3Settings;
  objects: Map<string, StoredObject>;
  /** Uploads in parts that have not ended. */
  uploads: Map<string, Upload>;
  /** Method and path of each request, as it came. */
  requests: string[];
  /** Answers each request instead of the service: an error by its status and code, or no answer at all. */
  fault: { status: number; code: string } | 'silent' | 'broken' | undefined;
  close(): Promise<void>;
}

export async function startFakeS3(clock: { now(): number } = Date): Promise<FakeS3> {
  const server = createServer((request, response) => {
    void answer(s3, request, response, clock.now()).catch((error: unknown) => {
      if (error instanceof Refusal) refuse(error, request, response);
      else response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const s3: FakeS3 = {
    settings: {
      endpoint: `http://127.0.0.1:${port}`,
      bucket: BUCKET,
      ...ACCOUNT,
      publicEndpoint: undefined,
      isPathStyle: true,
    },
    objects: new Map(),
    uploads: new Map(),
    requests: [],
    fault: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return s3;
}

interface Asked {
  key: string;
  query: URLSearchParams;
  request: IncomingMessage;
  response: ServerResponse;
}

async function answer(
  s3: FakeS3,
  request: IncomingMessage,
  response: ServerResponse,
  nowMs: number,
): Promise<void> {
  const { method = '', url = '', headers } = request;
  s3.requests.push(`${method} ${url}`);
  if (s3.fault === 'silent') return;
  if (s3.fault === 'broken') return void request.socket.destroy();
  if (s3.fault !== undefined) throw new Refusal(s3.fault.status, s3.fault.code);
  const fault = signatureFault({ method, url, headers }, ACCOUNT, nowMs);
  if (fault !== undefined) {
    throw new Refusal(fault === 'AuthorizationHeaderMalformed' ? 400 : 403, fault);
  }
  const [path = '', query = ''] = url.split('?', 2);
  const [, bucket, ...key] = path.split('/').map(decodeURIComponent);
  if (bucket !== BUCKET) throw new Refusal(404, 'NoSuchBucket');
  await served(s3, { key: key.join('/'), query: new URLSearchParams(query), request, response });
}

async function served(s3: FakeS3, asked: Asked): Promise<void> {
  const { key, query, request, response } = asked;
  if (key === '') return list(s3, asked);
  if (query.has('uploadId') || query.has('uploads')) return ofParts(s3, asked);
  switch (request.method) {
    case 'PUT':
      return put(s3, asked);
    case 'GET':
    case 'HEAD':
      return get(s3, asked);
    case 'DELETE':
      s3.objects.delete(key);
      return void response.writeHead(204).end();
    default:
      throw new Refusal(405, 'MethodNotAllowed');
  }
}

function list({ objects }: FakeS3, { query, response }: Asked): void {
  const keys = [...objects.keys()].slice(0, Number(query.get('max-keys') ?? 1_000));
  const contents = keys.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('');
  response.writeHead(200).end(`<ListBucketResult>${contents}</ListBucketResult>`);
}

async function put({ objects }: FakeS3, { key, request, response }: Asked): Promise<void> {
  if (request.headers['content-length'] === undefined) {
    throw new Refusal(411, 'MissingContentLength');
  }
  const bytes = await buffer(request);
  // Decided when all is there, as S3 does: of two at the same moment one is refused.
  if (request.headers['if-none-match'] === '*' && objects.has(key)) {
    throw new Refusal(412, 'PreconditionFailed');
  }
  objects.set(key, objectOf(bytes));
  response.writeHead(200, { etag: md5(bytes) }).end();
}

function get({ objects }: FakeS3, { key, query, request, response }: Asked): void {
  const found = objects.get(key);
  if (found === undefined) throw new Refusal(404, 'NoSuchKey');
  const { bytes, etag, modifiedAt } = found;
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  const start = Number(first ?? 0);
  const end = Math.min(Number(last ?? bytes.length - 1), bytes.length - 1);
  if (first !== undefined && start >= bytes.length) throw new Refusal(416, 'InvalidRange');
  const part = bytes.subarray(start, end + 1);
  response.writeHead(first === undefined ? 200 : 206, {
    etag,
    'last-modified': modifiedAt.toUTCString(),
    'content-length': part.length,
    'content-type': query.get('response-content-type') ?? 'binary/octet-stream',
    ...(first === undefined ? {} : { 'content-range': `bytes ${start}-${end}/${bytes.length}` }),
    ...(query.has('response-content-disposition')
      ? { 'content-disposition': query.get('response-content-disposition') ?? '' }
      : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : part);
}

async function ofParts(s3: FakeS3, asked: Asked): Promise<void> {
  const { key, query, request, response } = asked;
  if (query.has('uploads')) {
    const id = `upload/${s3.uploads.size}+${key.length}`;
    s3.uploads.set(id, { key, parts: new Map() });
    const text = `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`;
    return void response.writeHead(200).end(text);
  }
  const id = query.get('uploadId') ?? '';
  const upload = s3.uploads.get(id);
  const bytes = await buffer(request);
  if (upload?.key !== key) throw new Refusal(404, 'NoSuchUpload');
  if (request.method === 'PUT') {
    upload.parts.set(Number(query.get('partNumber')), bytes);
    return void response.writeHead(200, { etag: md5(bytes) }).end();
  }
  s3.uploads.delete(id);
  if (request.method === 'DELETE') return void response.writeHead(204).end();
  complete(s3, asked, { upload, wanted: bytes.toString() });
}

function complete(
  { objects }: FakeS3,
  { key, response }: Asked,
  { upload, wanted }: { upload: Upload; wanted: string },
): void {
  const list = [...wanted.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>/g)];
  const parts = list.map(([, number]) => upload.parts.get(Number(number)));
  const isRight = list.every(([, , etag], index) => {
    const part = parts[index];
    return part !== undefined && md5(part) === etag;
  });
  if (!isRight || parts.length !== upload.parts.size) throw new Refusal(400, 'InvalidPart');
  if (parts.slice(0, -1).some((part) => (part?.length ?? 0) < PART_BYTES_MIN)) {
    throw new Refusal(400, 'EntityTooSmall');
  }
  objects.set(key, objectOf(Buffer.concat(parts.filter((part) => part !== undefined))));
  const text = `<CompleteMultipartUploadResult><Key>${key}</Key></CompleteMultipartUploadResult>`;
  response.writeHead(200).end(text);
}

function objectOf(bytes: Buffer): StoredObject {
  return { bytes, etag: md5(bytes), modifiedAt: new Date() };
}

function md5(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}

class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

function refuse(
  { status, code }: Refusal,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  response.writeHead(status, { 'content-type': 'application/xml', connection: 'close' });
  response.end(request.method === 'HEAD' ? undefined : `<Error><Code>${code}</Code></Error>`);
}
