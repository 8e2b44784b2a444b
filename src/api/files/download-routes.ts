// Download routes, without a key: a run's public token leads to a signed link, and a signed link to the bytes, whole or
// a range. Source: contract §6.4; RFC 9110, 13 and 14.

import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { ARTIFACTS } from '../../model/run.ts';
import { openTrack, trackBytes } from '../../store/files/recording-tracks.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { faults } from '../http/error-schema.ts';
import { queryFlag } from '../http/values.ts';
import { artifactKey, LINK_LIFE_S, linkTo } from './run-artifacts.ts';
import { type StoredFile, storedFileOf } from './stored-file.ts';
import { FILE_KEY } from './upload-links.ts';

const tags = ['runs'];
const nothing = z.literal('');
const bytes = z.string().meta({ format: 'binary' });

/** Query of a link to a file. The links check the signature. */
const linkQuery = z.looseObject({
  expires: z.string().optional().meta({
    description: 'When the link ends, in seconds since 1970. Part of the link.',
  }),
  inline: z.string().optional().meta({
    description: '`1`: shown in the browser, else saved. Part of the link.',
  }),
  name: z.string().optional().meta({
    description: 'The name under which it is saved. Part of the link.',
  }),
  signature: z.string().optional().meta({
    description: 'Proves that the gateway made the link. Part of the link.',
  }),
});

export function downloadRoutes(api: Api, deps: ApiDeps): void {
  tokenRoute(api, deps);
  fileRoute(api, deps);
}

function tokenRoute(api: Api, deps: ApiDeps): void {
  api.get(
    '/public/download/workflow/:token/:artifact_type',
    {
      schema: {
        tags,
        operationId: 'downloadArtifact',
        summary: 'Download an artifact',
        description: "Redirects to a run's recording or transcript, by the run's public token.",
        params: z.object({
          token: z.string().describe("The run's `public_access_token`."),
          artifact_type: z.string().meta({
            description: '`recording`, `transcript`, `user_recording` or `bot_recording`.',
            examples: ['recording'],
          }),
        }),
        querystring: z.object({
          inline: queryFlag
            .default(false)
            .describe('True: shown in the browser. False: saved as a file.'),
          mix: z.enum(['mono']).optional().meta({
            description:
              '`mono`: a recording with one channel. Default: two, the caller left and the agent right.',
          }),
        }),
        response: {
          302: nothing.meta({ description: 'The link, good for an hour.' }),
          ...faults('ARTIFACT_TYPE_UNKNOWN', 'ARTIFACT_TOKEN_INVALID', 'ARTIFACT_MISSING'),
        },
      },
    },
    async (request, reply) => {
      const { token, artifact_type: name } = request.params;
      const artifact = ARTIFACTS.find((each) => each === name);
      if (artifact === undefined) throw new GatewayError('ARTIFACT_TYPE_UNKNOWN');
      const run = await deps.store.runs.findByToken(token);
      if (run === undefined) throw new GatewayError('ARTIFACT_TOKEN_INVALID');
      const key = artifactKey(run, artifact, request.query.mix);
      if (key === null) throw new GatewayError('ARTIFACT_MISSING', { artifact });
      reply.header('Cache-Control', 'no-store');
      return reply.redirect(linkTo(deps, key, { inline: request.query.inline }), 302);
    },
  );
}

function fileRoute(api: Api, deps: ApiDeps): void {
  api.get(
    '/files/*',
    {
      schema: {
        tags,
        operationId: 'getFile',
        summary: 'Get a file',
        description: 'Sends a file by a signed link, whole or a range of its bytes (RFC 9110, 14).',
        params: z.object({ '*': z.string().meta(FILE_KEY) }),
        querystring: linkQuery,
        response: {
          200: {
            description: 'The file.',
            content: { 'application/octet-stream': { schema: bytes } },
          },
          206: {
            description: 'A range of it.',
            content: { 'application/octet-stream': { schema: bytes } },
          },
          304: nothing.meta({ description: 'What the client has is still good.' }),
          302: nothing.meta({ description: 'Where the file is, good for an hour.' }),
          416: nothing.meta({ description: 'The file has no such range.' }),
          ...faults(
            'FILE_LINK_INVALID',
            'FILE_NOT_FOUND',
            'FILE_NOT_YET_STORED',
            'FILES_UNAVAILABLE',
            'FILE_KEY_INVALID',
          ),
        },
      },
    },
    async (request, reply) => {
      const link = deps.links.verify({
        method: request.method,
        key: request.params['*'],
        query: queryOf(request),
      });
      const file = storedFileOf(link.key);
      const stored = await deps.files.stat(file.storedKey);
      if (stored === undefined) throw await missing(deps, file);
      const size = file.track === null ? stored.size : trackBytes(stored.size);
      const saved = disposition(link.inline, link.fileName ?? 'file');
      const elsewhere = await directLink(deps, request, file, saved);
      if (elsewhere !== undefined) {
        return reply.header('Cache-Control', 'no-store').redirect(elsewhere, 302);
      }
      reply
        .type(file.contentType)
        .header('Content-Disposition', saved)
        .header('X-Content-Type-Options', 'nosniff')
        .header('Cache-Control', 'private, max-age=0, must-revalidate')
        .header('Accept-Ranges', 'bytes')
        .header('Last-Modified', stored.modifiedAt.toUTCString())
        .header('ETag', stored.etag);
      if (isKnown(request.headers['if-none-match'], stored.etag)) return reply.status(304).send('');
      return sendBytes(deps, { request, reply, file, size, etag: stored.etag });
    },
  );
}

/** The error for a file that is not here: that of a run may still be on the disk of another gateway. */
async function missing({ store }: ApiDeps, { owner }: StoredFile): Promise<GatewayError> {
  const node = 'runId' in owner ? await store.runs.filesElsewhere(owner.runId) : undefined;
  return new GatewayError(node === undefined ? 'FILE_NOT_FOUND' : 'FILE_NOT_YET_STORED');
}

/** Where clients read the file at S3 itself, if they reach it and it is there as they want it. A link is for one
 *  method. */
async function directLink(
  { directLinks }: ApiDeps,
  { method }: FastifyRequest,
  { track, storedKey, contentType }: StoredFile,
  saved: string,
): Promise<string | undefined> {
  if (track !== null || method !== 'GET') return undefined;
  return directLinks?.read(storedKey, { contentType, disposition: saved }, LINK_LIFE_S);
}

interface Sending {
  request: FastifyRequest;
  reply: FastifyReply;
  file: StoredFile;
  size: number;
  etag: string;
}

async function sendBytes(deps: ApiDeps, sending: Sending): Promise<FastifyReply> {
  const { request, reply, file, size, etag } = sending;
  const condition = request.headers['if-range'];
  const wanted = condition === undefined || condition === etag ? request.headers.range : undefined;
  const range = byteRange(wanted, size);
  if (range === 'unsatisfiable') {
    return reply.status(416).header('Content-Range', `bytes */${size}`).send('');
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  if (range !== undefined) {
    reply.status(206).header('Content-Range', `bytes ${start}-${end}/${size}`);
  }
  reply.header('Content-Length', end - start + 1);
  if (request.method === 'HEAD' || size === 0) return reply.send(Readable.from([]));
  const { storedKey, track } = file;
  const stream =
    track === null
      ? await deps.files.read(storedKey, { start, end })
      : await openTrack(deps.files, { key: storedKey, track, start, end });
  return reply.send(stream);
}

/** The query as received: the signature covers everything in it that is used. */
function queryOf(request: FastifyRequest): Record<string, unknown> {
  return typeof request.query === 'object' && request.query !== null ? { ...request.query } : {};
}

function isKnown(condition: string | undefined, etag: string): boolean {
  if (condition === undefined) return false;
  return condition
    .split(',')
    .some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === etag);
}

function disposition(inline: boolean, fileName: string): string {
  const plain = fileName.replace(/[^\w.-]/g, '_');
  return `${inline ? 'inline' : 'attachment'}; filename="${plain}"`;
}

/** The requested range, both ends inclusive. Undefined: send the whole file. */
export function byteRange(
  header: string | undefined,
  size: number,
): { start: number; end: number } | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] =
    /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const count = Math.min(Number(last), size);
    return count === 0 ? 'unsatisfiable' : { start: size - count, end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'unsatisfiable' : { start, end };
}
