// Upload routes: files that clients send under a signed link are written directly to disk, never held in memory as a
// whole, and get their key only when complete. Source: contract §6.5.

import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../std/clock.ts';
import type { LinkedUpload } from '../../store/files/signed-links.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { faults } from '../http/error-schema.ts';
import { PieceCount } from '../http/piece-count.ts';
import { FILE_KEY, isSameType } from './upload-links.ts';

/** Longest upload: 10 MB at 300 kbit/s. */
export const UPLOAD_MS_MAX = 300_000;
/** Concurrent uploads. Each holds an open file and 64 KiB. 10 MB of each take 160 s at the total rate, 230 s in
 *  small packets: less than UPLOAD_MS_MAX. */
const UPLOADS_MAX = 128;
/** Concurrent uploads of one organization: a browser sends six at a time, the library uploads twenty together. */
const UPLOADS_OF_ORGANIZATION_MAX = 24;
/** Pieces of an upload: 10 MB in pieces of 160 bytes, and packets of any network are larger. Each chunk of a chunked
 *  body is one. */
const PIECES_MAX = 65_536;
/** Bytes beyond the limit that are read and discarded, so that the client reads our answer instead of losing the
 *  connection while it still sends. */
const DISCARDED_BYTES_MAX = 1_048_576;

/** Query of an upload link, as written by `createContactsUpload` and similar operations. The links check the
 *  signature. */
const uploadQuery = z.looseObject({
  expires: z.string().optional().meta({
    description: 'When the link ends, in seconds since 1970. Part of the link.',
  }),
  type: z.string().optional().meta({
    description: 'The `Content-Type` that was announced. Part of the link.',
  }),
  size: z.string().optional().meta({
    description: 'The bytes of the file that were announced. Part of the link.',
  }),
  signature: z.string().optional().meta({
    description: 'Proves that the gateway made the link. Part of the link.',
  }),
});

/** Registers the routes in a context of their own, because no other route takes its body unread. */
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
            'Takes a file by a signed link, as its bytes, with the `Content-Type` and size that were announced. A file sent before under that link is replaced.',
          params: z.object({ '*': z.string().meta(FILE_KEY) }),
          querystring: uploadQuery,
          response: {
            200: z.literal('').meta({ description: 'The file is stored.' }),
            ...faults(
              'FILE_LINK_INVALID',
              'FILE_OVERSIZED',
              'FILE_UNDERSIZED',
              'FILE_IN_PIECES',
              'FILE_CUT_OFF',
              'FILE_TYPE_UNEXPECTED',
              'FILES_UNAVAILABLE',
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
            // The key was made for this link: a file under it was uploaded with the link.
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

/** Uploads in progress, by key. */
class RunningUploads {
  readonly #keys = new Set<string>();

  /** Begins an upload. Returns a function that ends it. Throws QUEUE_FULL, and FILE_LINK_INVALID for a link that is
   *  in use. */
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

/** The organization of a key from a link: the part between folder and file. */
function organizationOf(key: string): string {
  return key.split('/', 2)[1] ?? '';
}

function checkHeaders(upload: LinkedUpload, headers: IncomingMessage['headers']): void {
  const { bytes, contentType } = upload;
  if (!isSameType(headers['content-type'] ?? '', contentType)) {
    throw new GatewayError('FILE_TYPE_UNEXPECTED', { expected: contentType });
  }
  if (Number(headers['content-length'] ?? 0) > bytes + DISCARDED_BYTES_MAX) {
    throw new GatewayError('FILE_OVERSIZED', { bytes });
  }
}

async function receive(
  deps: ApiDeps,
  { key, bytes }: LinkedUpload,
  { body, pace }: { body: IncomingMessage; pace: UploadPace },
): Promise<void> {
  const count = new PieceCount(body);
  const pieces = paced(body, count, (more) => pace.received(organizationOf(key), more));
  try {
    await deps.files.receive(key, whole(pieces, bytes), bytes);
  } catch (error) {
    // Another gateway took a file by this link at the same moment.
    if (codeOf(error) === 'FILE_EXISTS') throw new GatewayError('FILE_LINK_INVALID', {}, error);
    if (error instanceof GatewayError) {
      await discard(body, count);
      throw error;
    }
    if (body.destroyed) throw new GatewayError('FILE_CUT_OFF', {}, error);
    throw error;
  }
}

/** The pieces of a file of `announced` bytes. Throws FILE_UNDERSIZED at the end of a shorter one: nothing is stored, so
 *  the link stays valid. */
async function* whole(
  pieces: AsyncIterable<Uint8Array>,
  announced: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    yield piece;
  }
  if (bytes < announced) throw new GatewayError('FILE_UNDERSIZED', { bytes: announced });
}

/** The body's pieces at the permitted rate. Throws FILE_IN_PIECES. */
async function* paced(
  body: IncomingMessage,
  count: PieceCount,
  received: (bytes: number) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of piecesOf(body)) {
    if (count.pieces > PIECES_MAX) throw new GatewayError('FILE_IN_PIECES', { max: PIECES_MAX });
    yield piece;
    // Bytes from before the count began are in no count.
    const more = Math.max(count.bytes - bytes, piece.length);
    bytes = count.bytes;
    await received(more);
  }
}

/** The body's pieces. If reading stops early, the connection stays open for the answer. */
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

/** Bytes a second for one organization. A contact file of 200,000 rows takes a second and a half. */
const OF_ORGANIZATION = 4_194_304;
const IN_ALL = 2 * OF_ORGANIZATION;
/** Burst after a pause, as time at the rate of one organization: 1 MiB, most recordings. */
const BURST_MS = 250;
/** Shortest wait; shorter ones are added up, because a timer takes time too. */
const WAIT_MS_MIN = 20;
/** Longest wait: the whole time of an upload, whose connection has then ended. */
const WAIT_MS_MAX = 300_000;
/** Organizations that are tracked because they upload or have exceeded their rate. Beyond, the oldest is removed. */
const KNOWN_MAX = 1_000;

/** Rate limit of uploads: each megabyte takes the event loop about 5 ms, which delays other
 *  requests. A piece that came too early delays the next one, so that TCP slows the client
 *  down; the total rate is divided equally between the organizations that upload. */
export class UploadPace {
  readonly #clock: Clock;
  /** Time at which all that an organization sent is within its rate, in monotonic milliseconds. */
  readonly #until = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when the next piece may be received. `bytes` as `PieceCount` counts them. */
  async received(organization: string, bytes: number): Promise<void> {
    const now = this.#clock.monotonicMs();
    this.#forgetIdle(now);
    const sinceMs = this.#until.get(organization) ?? now - BURST_MS;
    // Other uploading organizations get an equal share.
    const sending = this.#until.size + (this.#until.has(organization) ? 0 : 1);
    const bytesPerMs = Math.min(OF_ORGANIZATION, IN_ALL / sending) / 1_000;
    const untilMs = Math.min(sinceMs + bytes / bytesPerMs, now + WAIT_MS_MAX);
    this.#until.set(organization, untilMs);
    if (untilMs - now < WAIT_MS_MIN) return;
    await new Promise<void>((resolve) => this.#clock.after(untilMs - now, resolve));
  }

  #forgetIdle(now: number): void {
    for (const [organization, untilMs] of this.#until) {
      const isIdle = untilMs <= now - BURST_MS;
      if (isIdle || this.#until.size > KNOWN_MAX) this.#until.delete(organization);
    }
  }
}
