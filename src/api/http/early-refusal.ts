// Refuses requests by their headers: without a key where a route needs one, or with a body larger than the route
// accepts. They are answered before they wait for a place, before the body is received and before the store is used.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../../errors/gateway-error.ts';
import { LARGE_BYTES_MIN } from '../admission/admission.ts';
import type { Api } from './api-deps.ts';
import { sessionCookieOf } from './authentication.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route is behind `keyGuard`. */
    needsKey?: boolean;
  }
}

export function refuseByHeaders(api: Api): void {
  api.addHook('onRequest', async (request, reply) => {
    const { bodyLimit, config } = request.routeOptions;
    const bytes = Number(request.headers['content-length'] ?? 0);
    if (config.streamedBody !== true && bodyLimit !== undefined && bytes > bodyLimit) {
      leaveUnread(request, reply);
      throw new GatewayError('BODY_OVERSIZED');
    }
    if (config.needsKey !== true || namesWhoAsks(request)) return;
    leaveUnread(request, reply);
    throw new GatewayError('CREDENTIALS_MISSING');
  });
}

/** Marks all routes that are added to `api` later as in need of a key. */
export function markKeyNeeded(api: Api): void {
  api.addHook('onRoute', (route) => {
    route.config = { ...route.config, needsKey: true };
  });
}

/** Leaves the body unread. A client may go on sending a large body, so the connection is closed; a smaller one is
 *  received and dropped, so that the connection can be used again. */
function leaveUnread({ headers }: FastifyRequest, reply: FastifyReply): void {
  const isLarge = Number(headers['content-length'] ?? 0) >= LARGE_BYTES_MIN;
  if (isLarge || headers['transfer-encoding'] !== undefined) reply.header('Connection', 'close');
}

function namesWhoAsks(request: FastifyRequest): boolean {
  const { 'x-api-key': key, authorization = '' } = request.headers;
  return typeof key === 'string' || authorization !== '' || sessionCookieOf(request) !== undefined;
}
