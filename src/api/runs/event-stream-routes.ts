// Routes to watch calls: server-sent events of one run, and of all runs of the organization. Extension; the items are
// the contract's (§8.10).

import { z } from 'zod';
import { OrganizationFeed, RunFeed } from '../../call/events/event-feeds.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf, streamGuard } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { runByPath, runInPath } from '../http/path-parameters.ts';
import { queryFlag } from '../http/values.ts';

const common = { tags: ['runs'], security: keyRequired };

/** Longest message id of an organization's feed. */
const LAST_ID_LENGTH_MAX = 8_000;

const query = z.object({
  follow: queryFlag.default(true).meta({
    description:
      'False: the stream ends after what has happened by now. True: it goes on with what happens.',
  }),
  api_key: z.string().optional().meta({
    description:
      'An API key, for browsers, whose EventSource sends no headers. Default: that of `X-API-Key`.',
  }),
  token: z
    .string()
    .optional()
    .meta({ description: 'The token of a user, for browsers. Default: that of `Authorization`.' }),
});
const headers = z.looseObject({
  'last-event-id': z.string().max(LAST_ID_LENGTH_MAX).optional().meta({
    description:
      'Id of the last event that the client has: it gets what came after. Default: it gets all.',
  }),
});
const stream = {
  description: [
    'Server-sent events. Each has an `id`, and JSON with `type`, `payload` and `timestamp`. Events without a',
    'name are items of a call (`rtf-…`) with `workflow_run_id` and `workflow_id`; `started` (`name`, `mode`,',
    '`call_type`) and `completed` (`disposition`) say which calls begin and end; `closed` (`reason`) says why',
    'the stream ends before that (`slow`, `closing`, `lifetime`, `unavailable`): come back with the last id.',
  ].join(' '),
  content: { 'text/event-stream': { schema: z.string() } },
};
const over = { description: 'The run is completed and nothing came after the given event.' };
const response = {
  200: stream,
  204: z.null().meta(over),
  ...faults('RUN_NOT_FOUND', 'STREAMS_FULL'),
};

export function eventRoutes(api: Api, deps: ApiDeps): void {
  const { streams, store } = deps;
  api.addHook('preClose', async () => streams.close());

  api.get(
    '/workflow/:workflow_id/runs/:run_id/events',
    {
      exposeHeadRoute: false,
      onRequest: streamGuard(deps),
      schema: {
        ...common,
        operationId: 'watchRun',
        summary: 'Watch a run',
        description: 'Server-sent events of one run, from its begin to its end.',
        params: runInPath,
        querystring: query,
        headers,
        response,
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const run = await runByPath(deps, request, request.params);
      const lastId = request.headers['last-event-id'];
      const feed = new RunFeed(store, run, lastId);
      await streams.answer(
        feed,
        { request, reply },
        { organizationId, isFollowing: request.query.follow, isResumed: lastId !== undefined },
      );
      return reply;
    },
  );

  api.get(
    '/organizations/events',
    {
      exposeHeadRoute: false,
      onRequest: streamGuard(deps),
      schema: {
        ...common,
        operationId: 'watchCalls',
        summary: 'Watch calls',
        description: 'Server-sent events of all calls of the organization that go on or begin.',
        querystring: query,
        headers,
        response,
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const lastId = request.headers['last-event-id'];
      const feed = new OrganizationFeed(store, organizationId, lastId);
      await streams.answer(
        feed,
        { request, reply },
        { organizationId, isFollowing: request.query.follow, isResumed: lastId !== undefined },
      );
      return reply;
    },
  );
}
