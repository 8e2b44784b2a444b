// Files that clients send under a signed link, straight to the disk: never in memory as a whole, and
// under their key only when they are whole. Source: contract §6.5.

import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { LinkedUpload } from '../../store/files/signed-links.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { faults } from '../http/error-schema.ts';
import { PieceCount } from '../http/piece-count.ts';
import { FILE_KEY } from './upload-links.ts';
import { UploadPace } from './upload-pace.ts';

/** 10 MB at 300 kbit/s. */
export const UPLOAD_MS_MAX = 300_000;
/** Each holds an open file and 64 KiB. 10 MB of each take 160 s at the pace of all, 230 s in small packets: below
 *  UPLOAD_MS_MAX. */
const UPLOADS_MAX = 128;
/** A browser sends six at a time, the library takes twenty in one go. */
const UPLOADS_OF_ORGANIZATION_MAX = 24;
/** 10 MB in pieces of 160 bytes: packets of any network are larger. Of a chunked body each chunk is one. */
const PIECES_MAX = 65_536;
/** So much too much is read and thrown away, so that the client reads our answer instead of finding
 *  the connection gone while it still sends. */
const DISCARDED_BYTES_MAX = 1_048_576;

/** As `createContactsUpload` and its like write it into a link. Whether it is signed, the links say. */
const uploadQuery = z.looseObject({
  expires: z.string().optional().meta({ description: 'Seconds since 1970.' }),
  type: z.string().optional().meta({ description: 'The `Content-Type` that is announced.' }),
  size: z.string().optional().meta({ description: 'Bytes, at most.' }),
  signature: z.string().optional(),
});

/** In a context of its own, as nothing else takes its body unread. */
export function uploadRoutes(deps: ApiDeps) {
  const running = new RunningUploads();
  const pace = new UploadPace(deps.clock);
  return async (api: Api): Promise<void> => {
    api.removeAllContentTypeParsers();
    api.addContentTypeParser('*', async () => undefined);
    api.put(
      '/files/*',
      {
        config: { streamedBody: true },
        schema: {
          tags: ['runs'],
          operationId: 'putFile',
          summary: 'Put a file',
          description:
            'Takes a file by a signed link, as its bytes, with the `Content-Type` that was announced. A file sent before under that link is replaced.',
          params: z.object({ '*': z.string().meta(FILE_KEY) }),
          querystring: uploadQuery,
          response: {
            200: z.literal('').meta({ description: 'The file is stored.' }),
            ...faults(
              'FILE_LINK_INVALID',
              'FILE_OVERSIZED',
              'FILE_IN_PIECES',
              'FILE_CUT_OFF',
              'FILE_TYPE_UNEXPECTED',
            ),
          },
        },
      },
      async (request, reply) => {
        const { params, query, headers, raw } = request;
        try {
          const upload = deps.links.verifyUpload({ key: params['*'], query });
          checkHeaders(upload, headers);
          const done = running.begin(upload.key);
          try {
            // The key was made for this link: what lies there was sent under it.
            const isUsed = (await deps.files.stat(upload.key)) !== undefined;
            if (isUsed) throw new GatewayError('FILE_LINK_INVALID');
            await receive(deps, upload, { body: raw, pace });
          } finally {
            done();
          }
        } catch (error) {
          // A client that is refused before the end of its body may go on sending: closing the connection stops it.
          reply.header('Connection', 'close');
          throw error;
        }
        return reply.send('');
      },
    );
  };
}

/** Under way, by key. */
class RunningUploads {
  readonly #keys = new Set<string>();

  /** Returns what ends it. Throws QUEUE_FULL, and FILE_LINK_INVALID for a link that is in use. */
  begin(key: string): () => void {
    if (this.#keys.has(key)) throw new GatewayError('FILE_LINK_INVALID');
    const organization = organizationOf(key);
    const own = [...this.#keys].filter((each) => organizationOf(each) === organization).length;
    if (own >= UPLOADS_OF_ORGANIZATION_MAX || this.#keys.size >= UPLOADS_MAX) {
      throw new GatewayError('QUEUE_FULL', { queue: 'uploads' });
    }
    this.#keys.add(key);
    return () => this.#keys.delete(key);
  }
}

/** Keys of links have a folder and the organization before the file. */
function organizationOf(key: string): string {
  return key.split('/', 2)[1] ?? '';
}

function checkHeaders(upload: LinkedUpload, headers: IncomingMessage['headers']): void {
  const { bytesMax, contentType } = upload;
  const given = headers['content-type']?.trim().toLowerCase();
  if (given !== contentType.toLowerCase()) {
    throw new GatewayError('FILE_TYPE_UNEXPECTED', { expected: contentType });
  }
  if (Number(headers['content-length'] ?? 0) > bytesMax + DISCARDED_BYTES_MAX) {
    throw new GatewayError('FILE_OVERSIZED', { bytes: bytesMax });
  }
}

async function receive(
  deps: ApiDeps,
  { key, bytesMax }: LinkedUpload,
  { body, pace }: { body: IncomingMessage; pace: UploadPace },
): Promise<void> {
  const count = new PieceCount(body);
  const source = paced(body, count, (bytes) => pace.received(organizationOf(key), bytes));
  try {
    await deps.files.receive(key, source, bytesMax);
  } catch (error) {
    if (error instanceof GatewayError) {
      await discard(body, count);
      throw error;
    }
    if (body.destroyed) throw new GatewayError('FILE_CUT_OFF', {}, error);
    throw error;
  }
}

/** Throws FILE_IN_PIECES. */
async function* paced(
  body: IncomingMessage,
  count: PieceCount,
  received: (bytes: number) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of piecesOf(body)) {
    if (count.pieces > PIECES_MAX) throw new GatewayError('FILE_IN_PIECES', { max: PIECES_MAX });
    yield piece;
    // What came before it was counted is in no count.
    const more = Math.max(count.bytes - bytes, piece.length);
    bytes = count.bytes;
    await received(more);
  }
}

/** Stopping early leaves the connection alone, for the answer. */
function piecesOf(body: IncomingMessage): AsyncIterable<Uint8Array> {
  return body.iterator({ destroyOnReturn: false });
}

async function discard(body: IncomingMessage, count: PieceCount): Promise<void> {
  const bytesMax = count.bytes + DISCARDED_BYTES_MAX;
  try {
    for await (const _piece of piecesOf(body)) {
      if (count.bytes > bytesMax) return;
    }
  } catch {
    // The client is gone: there is no reply to send.
  }
}
