// Route of all runs of the organization: newest first, page after page by a cursor, with filters. Extension: the
// reference platform lists runs of one agent or campaign, or by numbered pages of usage.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { direction } from '../../model/provider.ts';
import { attentionReason } from '../../model/run-summary.ts';
import type { FoundRun, RunPosition, RunSearch } from '../../store/runs/run-filters.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import {
  contextText,
  hostOf,
  idIn,
  idOut,
  isoTime,
  isoTimeOrNull,
  momentIn,
  queryFlag,
  queryInteger,
  timeOut,
} from '../http/values.ts';

const common = { tags: ['runs'], security: keyRequired };

/** Longest time that a filter of lengths names: no call lasts longer. */
const SECONDS_MAX = 86_400;
const WORD_MAX = 255;

const searchQuery = z.object({
  after: z.string().max(100).optional().meta({
    description:
      '`next` of the page before. Default: the first page. The filters must be the same for all pages.',
  }),
  limit: queryInteger(1, 100).default(50).describe('Runs on a page.'),
  from: momentIn.optional(),
  to: momentIn.optional(),
  workflow_id: idIn.optional().describe('Runs of this agent.'),
  campaign_id: idIn.optional().describe('Runs of this campaign.'),
  direction: direction.optional().describe('`inbound` or `outbound`.'),
  state: z
    .enum(['initialized', 'running', 'completed'])
    .optional()
    .describe('`initialized`: not answered yet. `running`: goes on. `completed`: over.'),
  disposition: z.string().min(1).max(WORD_MAX).optional().describe('How the call ended, equal.'),
  provider: z
    .string()
    .min(1)
    .max(WORD_MAX)
    .optional()
    .meta({
      description: "The provider's name; `textchat`: text chats. Equal.",
      examples: ['twilio'],
    }),
  number: z
    .string()
    .min(2)
    .max(WORD_MAX)
    .optional()
    .meta({
      description:
        "The caller's or the called number, whole or its end. Spaces, brackets, dots and hyphens in it are ignored.",
      examples: ['0100'],
    }),
  text: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({
      description:
        'Words that the run has, all of them, in any order: of what both sides said, its name, its numbers, its disposition and the gathered values. From three characters on a word is also found by its beginning. Only runs that are over are found, and none of earlier versions.',
      examples: ['appointment wednesday'],
    }),
  min_duration: queryInteger(0, SECONDS_MAX).optional().describe('Shortest length in seconds.'),
  max_duration: queryInteger(0, SECONDS_MAX).optional().describe('Longest length in seconds.'),
  attention: queryFlag
    .default(false)
    .describe('True: only runs that need attention, for the reasons in `attention`.'),
});

const milliseconds = z.int().describe('Milliseconds.');

const foundRun = z.object({
  id: idOut,
  workflow_id: idOut,
  workflow_name: z.string(),
  name: z.string(),
  provider: z.string().describe("The provider's name; `textchat` of a text chat."),
  direction,
  state: z.enum(['initialized', 'running', 'completed']),
  caller_number: z.string().nullable(),
  called_number: z.string().nullable(),
  campaign_id: idOut.nullable(),
  created_at: timeOut,
  started_at: timeOut.nullable().describe('When the conversation began.'),
  ended_at: timeOut.nullable(),
  duration_seconds: z.number().nullable().describe('Seconds from the answer to the end.'),
  disposition: z.string().nullable(),
  end_reason: z.string().nullable().describe('Why the call ended, in the words of the gateway.'),
  ended_by: z.string().nullable().describe('`caller`, `agent`, `provider` or `gateway`.'),
  answers: z
    .object({ p50_ms: milliseconds, p95_ms: milliseconds, max_ms: milliseconds })
    .nullable()
    .describe(
      "Waits from the end of the caller's speech to the agent's first sound. Null: there was none, or the run goes on.",
    ),
  faults: z.int().describe('Faults of the call, which it may have survived.'),
  attention: z
    .array(attentionReason)
    .describe(
      'Why the run needs attention. `technical_end`: a fault ended it. `faults`: it had some. `unanswered_caller`: at its end the caller had waited 4 s or longer for the agent. `slow_answers`: the median of the waits was 2 s or more, or one was 5 s or more. `media_interrupted`: its media connection broke.',
    ),
  has_recording: z.boolean(),
  node: z.string().describe('The gateway process that has or had the call.'),
});

const foundRuns = z
  .object({
    runs: z.array(foundRun),
    next: z
      .string()
      .nullable()
      .describe(
        '`after` of the following page. Null: this was the last one. A page may have fewer runs than `limit`, even none, and a page after it: one request looks at 20,000 runs at most, with `text` or `attention` at 2,000.',
      ),
  })
  .describe('A page of runs, newest first.');

export function runSearchRoutes(api: Api, deps: ApiDeps): void {
  api.get(
    '/runs',
    {
      schema: {
        ...common,
        operationId: 'listAllRuns',
        summary: 'List all runs',
        description:
          "The organization's runs of all agents, newest first, by pages that cost the same however many runs there are.",
        querystring: searchQuery,
        response: { 200: foundRuns, ...faults('CURSOR_INVALID') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { runs, next } = await deps.store.runs.search(organizationId, searchOf(request.query));
      return { runs: runs.map(onWire), next: next === undefined ? null : cursorOf(next) };
    },
  );
}

function searchOf(query: z.infer<typeof searchQuery>): RunSearch {
  const { from, to, state, direction: way, disposition, provider, text, after } = query;
  return {
    filter: {
      ...(from && { createdFrom: from }),
      ...(to && { createdTo: to }),
      ...(query.workflow_id !== undefined && { workflowId: query.workflow_id }),
      ...(query.campaign_id !== undefined && { campaignId: query.campaign_id }),
      ...(way && { direction: way }),
      ...(state && { state }),
      ...(disposition !== undefined && { dispositions: [disposition] }),
      ...(provider !== undefined && { modes: [provider] }),
      ...(query.number !== undefined && { number: plainNumber(query.number) }),
      ...(query.min_duration !== undefined && { durationMinS: query.min_duration }),
      ...(query.max_duration !== undefined && { durationMaxS: query.max_duration }),
    },
    needsAttention: query.attention,
    text,
    after: after === undefined ? undefined : positionIn(after),
    limit: query.limit,
  };
}

/** A telephone number as runs have it; anything else, such as a SIP address, as it is. */
function plainNumber(number: string): string {
  return /^[\d\s()./+-]+$/.test(number) ? number.replace(/[\s()./-]/g, '') : number.trim();
}

function cursorOf({ createdAtUs, id }: RunPosition): string {
  return Buffer.from(`${createdAtUs}.${id}`).toString('base64url');
}

/** Throws CURSOR_INVALID. */
function positionIn(cursor: string): RunPosition {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const [, createdAtUs, id] = /^(-?\d{1,16})\.(\d{1,18})$/.exec(text) ?? [];
  if (createdAtUs === undefined || id === undefined) throw new GatewayError('CURSOR_INVALID');
  return { createdAtUs, id };
}

function onWire({ run, workflowName, node, summary }: FoundRun): z.infer<typeof foundRun> {
  const reason = run.gatheredContext['call_status'];
  const answers = summary?.answers ?? null;
  return {
    id: run.id,
    workflow_id: run.workflowId,
    workflow_name: workflowName,
    name: run.name,
    provider: run.mode,
    direction: run.callType,
    state: run.state,
    caller_number: contextText(run, 'caller_number'),
    called_number: contextText(run, 'called_number'),
    campaign_id: run.campaignId,
    created_at: isoTime(run.createdAt),
    started_at: isoTimeOrNull(run.startedAt),
    ended_at: isoTimeOrNull(run.endedAt),
    duration_seconds: run.durationS,
    disposition: run.disposition,
    end_reason: typeof reason === 'string' ? reason : null,
    ended_by: summary?.endedBy ?? null,
    answers: answers && {
      p50_ms: answers.p50Ms,
      p95_ms: answers.p95Ms,
      max_ms: answers.maxMs,
    },
    faults: summary?.faults ?? 0,
    attention: [...(summary?.attention ?? [])],
    has_recording: run.recordingKey !== null,
    node: hostOf(node),
  };
}
