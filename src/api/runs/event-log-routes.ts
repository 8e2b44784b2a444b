// GET /workflow/{workflow_id}/runs/{run_id}/events.json: the events of a run as its log has them, page by page. The
// stream of the run (event-stream-routes.ts) has the contract's items, which are made of them. Extension.

import { z } from 'zod';
import type { CallEvent } from '../../model/call-event.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { runByPath, runInPath } from '../http/path-parameters.ts';
import { freeObject, queryInteger, timeOut } from '../http/values.ts';

/** Largest number of an event. */
const SEQ_MAX = 2_147_483_647;

const loggedEvent = z.object({
  seq: z.int().describe('Number in the run, from 1 without gaps.'),
  at: timeOut.describe('When it happened.'),
  at_ms: z
    .number()
    .describe('Media time in milliseconds, which is that of the recording; 0 before the media.'),
  type: z.string().meta({ description: 'What happened.', examples: ['user.turn'] }),
  data: freeObject.describe('Facts of the event; `docs/event-log.md` lists the types.'),
});

const eventPage = z
  .object({
    events: z.array(loggedEvent),
    next: z
      .int()
      .nullable()
      .describe('`after` of the following page. Null: the log ends here, for now.'),
  })
  .describe('Events in their order.');

export function eventLogRoutes(api: Api, deps: ApiDeps): void {
  api.get(
    '/workflow/:workflow_id/runs/:run_id/events.json',
    {
      schema: {
        tags: ['runs'],
        security: keyRequired,
        operationId: 'listRunEvents',
        summary: 'List events of a run',
        description: "The run's log by pages, also while the call goes on.",
        params: runInPath,
        querystring: z.object({
          after: queryInteger(0, SEQ_MAX)
            .default(0)
            .describe('`seq` of the last event that the client has; 0: none.'),
          limit: queryInteger(1, 500).default(200).describe('Events on a page.'),
        }),
        response: { 200: eventPage, ...faults('RUN_NOT_FOUND') },
      },
    },
    async (request) => {
      const { id: runId } = await runByPath(deps, request, request.params);
      const { after, limit } = request.query;
      const events = await deps.store.runs.eventsAfter([{ runId, seq: after }], limit);
      const last = events.length === limit ? events.at(-1) : undefined;
      return { events: events.map(onWire), next: last?.seq ?? null };
    },
  );
}

function onWire({ seq, at, mediaMs, body }: CallEvent): z.infer<typeof loggedEvent> {
  const { type, ...data } = body;
  return { seq, at: new Date(at).toISOString(), at_ms: mediaMs, type, data };
}
