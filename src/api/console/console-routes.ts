// The console: its page and files below /console/, under a policy that lets the page run only its own scripts and reach
// only this gateway.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { LiveWatchers } from '../../call/events/live-watchers.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { type ConsoleFile, type ConsoleFiles, readConsole } from './console-files.ts';
import { liveSocket } from './live-socket.ts';
import { sessionRoutes } from './session-routes.ts';

export interface ConsoleDeps {
  /** Folder with the built console, with a slash at its end. */
  folder: string;
  /** Origins of S3 to which downloads are redirected. */
  fileOrigins: readonly string[];
  /** What happens in calls, for the board. */
  live: LiveWatchers;
}

const PREFIX = '/console/';
/** A file's name has the hash of its content. */
const FOREVER = 'public, max-age=31536000, immutable';
const hidden = { schema: { hide: true }, config: { admission: 'first' as const } };

/** Adds the console. Returns false if it was not built. */
export async function consoleRoutes(
  api: Api,
  deps: ApiDeps,
  { folder, fileOrigins, live }: ConsoleDeps,
): Promise<boolean> {
  const files = readConsole(folder);
  if (files === undefined) {
    deps.log.warn({ folder }, 'no console: it was not built');
    return false;
  }
  const policy = policyOf(fileOrigins);
  sessionRoutes(api, deps);
  await liveSocket(api, { ...deps, live });
  api.get(PREFIX, hidden, async (request, reply) => {
    if (!request.url.split('?', 1)[0]?.endsWith('/')) return reply.redirect(PREFIX, 302);
    return page(request, reply, { files, policy });
  });
  api.get(`${PREFIX}*`, hidden, async (request, reply) => {
    const path = request.url.split('?', 1)[0]?.slice(PREFIX.length) ?? '';
    const file = files.byPath.get(path);
    if (file !== undefined) return send(request, reply.header('Cache-Control', FOREVER), file);
    // A file of another version: a page that is open must not get the page in its place.
    if (path.startsWith('assets/')) throw new GatewayError('PATH_NOT_FOUND');
    return page(request, reply, { files, policy });
  });
  return true;
}

function page(
  request: FastifyRequest,
  reply: FastifyReply,
  { files, policy }: { files: ConsoleFiles; policy: string },
) {
  reply
    .header('Content-Security-Policy', policy)
    .header('Referrer-Policy', 'no-referrer')
    .header('Permissions-Policy', 'microphone=(self), camera=(), geolocation=()')
    .header('Cross-Origin-Opener-Policy', 'same-origin')
    .header('Cache-Control', 'no-cache');
  return send(request, reply, files.page);
}

function send(request: FastifyRequest, reply: FastifyReply, file: ConsoleFile) {
  reply.header('ETag', file.etag).header('Vary', 'Accept-Encoding');
  if (request.headers['if-none-match'] === file.etag) return reply.status(304).send();
  const accepted = acceptedEncodings(request);
  const encoded = file.encoded.find(({ encoding }) => accepted.has(encoding));
  if (encoded !== undefined) reply.header('Content-Encoding', encoded.encoding);
  return reply.type(file.type).send(encoded?.bytes ?? file.bytes);
}

/** `gzip, br;q=0.8, zstd;q=0` has gzip and br. */
function acceptedEncodings({ headers }: FastifyRequest): ReadonlySet<string> {
  const offers = String(headers['accept-encoding'] ?? '').split(',');
  const wanted = offers.filter((offer) => !/;\s*q=0(\.0*)?\s*$/.test(offer));
  return new Set(wanted.map((offer) => (offer.split(';', 1)[0] ?? '').trim().toLowerCase()));
}

function policyOf(fileOrigins: readonly string[]): string {
  const own = ["'self'", ...fileOrigins].join(' ');
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    `media-src ${own} blob:`,
    `connect-src ${own}`,
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}
