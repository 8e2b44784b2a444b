// Files that clients send under a signed link, straight to the disk: never in memory as a whole, and
// under their key only when they are whole. Source: contract §6.5.

import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { LinkedUpload } from '../../store/files/signed-links.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { faults } from '../http/error-schema.ts';
import { freeObject } from '../http/values.ts';

/** 10 MB at 300 kbit/s. */
export const UPLOAD_MS_MAX = 300_000;
/** Each holds an open file and 64 KiB. */
const UPLOADS_MAX = 64;
/** So much too much is read and thrown away, so that the client reads our answer instead of finding
 *  the connection gone while it still sends. */
const DISCARDED_BYTES_MAX = 1_048_576;

/** In a context of its own, as nothing else takes its body unread. */
export function uploadRoutes(deps: ApiDeps) {
  let running = 0;
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
          summary: 'Takes a file by a signed link; a file sent before under that link is replaced.',
          params: z.object({ '*': z.string() }),
          querystring: freeObject,
          response: {
            200: z.literal('').meta({ description: 'The file is stored.' }),
            ...faults(400, 403, 415),
          },
        },
      },
      async (request, reply) => {
        const { params, query, headers, raw } = request;
        try {
          const upload = deps.links.verifyUpload({ key: params['*'], query });
          checkHeaders(upload, headers);
          if (running >= UPLOADS_MAX) throw new GatewayError('QUEUE_FULL', { queue: 'uploads' });
          running += 1;
          await receive(deps, upload, raw).finally(() => {
            running -= 1;
          });
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

async function receive(deps: ApiDeps, upload: LinkedUpload, body: IncomingMessage): Promise<void> {
  try {
    await deps.files.receive(upload.key, piecesOf(body), upload.bytesMax);
  } catch (error) {
    if (error instanceof GatewayError) {
      await discard(body);
      throw error;
    }
    if (body.destroyed) throw new GatewayError('FILE_CUT_OFF', {}, error);
    throw error;
  }
}

/** Stopping early leaves the connection alone, for the answer. */
function piecesOf(body: IncomingMessage): AsyncIterable<Uint8Array> {
  return body.iterator({ destroyOnReturn: false });
}

async function discard(body: IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const piece of piecesOf(body)) {
      bytes += piece.length;
      if (bytes > DISCARDED_BYTES_MAX) return;
    }
  } catch {
    // The client is gone: there is no reply to send.
  }
}
