// Calls as they happen, as server-sent events: one run from its beginning to its end, or all calls of the
// organization from now on. Ours; the items are the contract's (§8.10).

import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Live } from '../../call/live.ts';
import { GatewayError } from '../../errors.ts';
import type { Timer } from '../../std/clock.ts';
import { principalOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { keyRequired } from '../openapi.ts';
import { faults } from '../wire/faults.ts';
import { idIn, queryInteger } from '../wire/values.ts';

const common = { tags: ['runs'], security: keyRequired };
/** Streams that one organization may have open in this process. */
const STREAMS_MAX = 50;
const SECONDS_MAX = 3_600;
/** A client that takes nothing for so long is gone. */
const STALLED_MS = 60_000;
/** A browser that lost the connection comes back after this time. */
const RETRY_LINE = 'retry: 2000\n\n';

const stream = z
  .string()
  .meta({ description: 'Events with an `id` and a JSON object in `data`; comments now and then.' });
const response = {
  200: {
    description: 'A stream that stays open.',
    content: { 'text/event-stream': { schema: stream } },
  },
};
const streamQuery = z.object({
  max_seconds: queryInteger(0, SECONDS_MAX)
    .optional()
    .meta({ description: 'Ends the stream after so long; without it, it stays open.' }),
  api_key: z.string().max(512).optional().meta({ description: 'For browsers: as `X-API-Key`.' }),
  token: z.string().max(4_096).optional().meta({ description: 'For browsers: a user token.' }),
});

export function liveRoutes(api: Api, deps: ApiDeps): void {
  const closing = new AbortController();
  const open = new Map<string, number>();
  api.addHook('preClose', async () => closing.abort());

  api.get(
    '/workflow/:workflow_id/runs/:run_id/events',
    {
      schema: {
        ...common,
        operationId: 'followRun',
        summary: 'What happens in one call: what has happened, then what comes, to its end.',
        params: z.object({ workflow_id: idIn, run_id: idIn }),
        querystring: streamQuery,
        response: { ...response, ...faults(401, 404, 429) },
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const run = await deps.store.runs.get(organizationId, request.params.run_id);
      if (run?.workflowId !== request.params.workflow_id) throw new GatewayError('RUN_NOT_FOUND');
      const after = afterOf(request.headers['last-event-id'], run.id);
      return send(reply, { organizationId, seconds: request.query.max_seconds }, (signal) =>
        deps.live.run(run, after, signal),
      );
    },
  );

  api.get(
    '/organizations/events',
    {
      schema: {
        ...common,
        operationId: 'followOrganization',
        summary: 'What happens in all calls of this gateway process, from now on.',
        querystring: streamQuery,
        response: { ...response, ...faults(401, 429) },
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return send(reply, { organizationId, seconds: request.query.max_seconds }, (signal) =>
        deps.live.organization(organizationId, signal),
      );
    },
  );

  /** Throws TOO_MANY_STREAMS. */
  function send(
    reply: FastifyReply,
    of: { organizationId: string; seconds: number | undefined },
    items: (signal: AbortSignal) => AsyncGenerator<Live>,
  ): FastifyReply {
    const { organizationId, seconds } = of;
    const count = open.get(organizationId) ?? 0;
    if (count >= STREAMS_MAX) throw new GatewayError('TOO_MANY_STREAMS', { limit: STREAMS_MAX });
    open.set(organizationId, count + 1);
    const gone = new AbortController();
    const signal = AbortSignal.any([gone.signal, closing.signal]);
    const timer =
      seconds === undefined ? undefined : deps.clock.after(seconds * 1_000, () => gone.abort());
    reply.raw.once('close', () => {
      gone.abort();
      timer?.cancel();
      const left = (open.get(organizationId) ?? 1) - 1;
      if (left > 0) open.set(organizationId, left);
      else open.delete(organizationId);
    });
    const stalled = (): Timer => deps.clock.after(STALLED_MS, () => reply.raw.destroy());
    return reply
      .type('text/event-stream; charset=utf-8')
      .header('Cache-Control', 'no-store')
      .header('X-Accel-Buffering', 'no')
      .header('Connection', 'close') // A closing gateway waits for no socket.

      .send(
        Readable.from(linesOf(items(signal), stalled), {
          objectMode: false,
          highWaterMark: 16_384,
        }),
      );
  }
}

/** `watch` starts the time that the client has to take what it is given. */
async function* linesOf(items: AsyncGenerator<Live>, watch: () => Timer): AsyncGenerator<string> {
  yield RETRY_LINE;
  for await (const live of items) {
    const timer = watch();
    try {
      yield live === undefined ? ':\n\n' : `id: ${live.id}\ndata: ${JSON.stringify(live.item)}\n\n`;
    } finally {
      timer.cancel();
    }
  }
}

/** The number in an id of this run's stream; 0 for anything else. */
function afterOf(lastEventId: unknown, runId: string): number {
  const [, run, seq] = /^(\d{1,19}):(\d{1,9})$/.exec(String(lastEventId ?? '')) ?? [];
  return run === runId ? Number(seq) : 0;
}
