// Routes of active calls: list, hang up, send DTMF digits. Extension: the reference platform has none (contract §13.1
// item 8).

import { z } from 'zod';
import type { ActiveCall } from '../../store/runs/run-filters.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { pageFigures, pageParameters } from '../http/page-parameters.ts';
import { runByPath, runInPath } from '../http/path-parameters.ts';
import { contextText, hostOf, idOut, isoTime, timeOut } from '../http/values.ts';

const common = { tags: ['calls'], security: keyRequired };
const PAGE_MAX = 10_000;

const activeCall = z.object({
  workflow_run_id: idOut,
  workflow_id: idOut,
  workflow_name: z.string(),
  campaign_id: idOut.nullable(),
  name: z.string().meta({ description: "The run's." }),
  provider: z.string(),
  call_id: z.string().nullable().meta({ description: "The provider's." }),
  direction: z.enum(['inbound', 'outbound']),
  caller_number: z.string().nullable(),
  called_number: z.string().nullable(),
  state: z.enum(['ringing', 'answered']),
  since: timeOut.meta({ description: 'When it was answered, else when it began to ring.' }),
  node: z.string().meta({ description: 'The gateway process that runs the call.' }),
});

const activeCalls = z
  .object({ calls: z.array(activeCall), ...pageFigures })
  .describe('A page of calls.');

const hungUp = z
  .object({
    workflow_run_id: idOut,
    state: z.enum(['initialized', 'running', 'completed']).meta({
      description: "Completed once the call is closed; another node's is so a moment later.",
    }),
    disposition: z.string().nullable(),
  })
  .describe('The run after that.');

export function activeCallRoutes(api: Api, deps: ApiDeps): void {
  listRoute(api, deps);
  hangUpRoute(api, deps);
  digitsRoute(api, deps);
}

function listRoute(api: Api, deps: ApiDeps): void {
  api.get(
    '/calls/active',
    {
      schema: {
        ...common,
        operationId: 'listActiveCalls',
        summary: 'List active calls',
        description: "The organization's calls that ring or talk at this moment, on all nodes.",
        querystring: z.object(pageParameters(PAGE_MAX)),
        response: { 200: activeCalls, ...faults() },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { page, limit } = request.query;
      const offset = (page - 1) * limit;
      const { calls, total } = await deps.store.runs.activeCalls(organizationId, { limit, offset });
      return {
        calls: calls.map(onWire),
        total_count: total,
        page,
        limit,
        total_pages: Math.ceil(total / limit),
      };
    },
  );
}

function onWire({ run, workflowName, node }: ActiveCall): z.infer<typeof activeCall> {
  return {
    workflow_run_id: run.id,
    workflow_id: run.workflowId,
    workflow_name: workflowName,
    campaign_id: run.campaignId,
    name: run.name,
    provider: run.mode,
    call_id: run.providerCallId,
    direction: run.callType,
    caller_number: contextText(run, 'caller_number'),
    called_number: contextText(run, 'called_number'),
    state: run.state === 'running' ? 'answered' : 'ringing',
    since: isoTime(run.startedAt ?? run.createdAt),
    node: hostOf(node),
  };
}

function hangUpRoute(api: Api, deps: ApiDeps): void {
  api.post(
    '/workflow/:workflow_id/runs/:run_id/hang-up',
    {
      schema: {
        ...common,
        operationId: 'hangUpCall',
        summary: 'Hang up a call',
        description:
          "Ends a run's call, ringing or talking; a run that was never dialled is closed. Asked again, it changes nothing.",
        params: runInPath,
        response: {
          200: hungUp,
          ...faults('RUN_NOT_FOUND', 'RUN_WITHOUT_CALL', 'CALL_OUT_OF_REACH', 'PROVIDER_FAILED'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { id: runId } = await runByPath(deps, request, request.params);
      const run = await deps.callService.hangUp({ organizationId, runId });
      return { workflow_run_id: run.id, state: run.state, disposition: run.disposition };
    },
  );
}

const keys = z.object({
  digits: z
    .string()
    .regex(/^[0-9*#A-Dw]{1,64}$/)
    .meta({
      description:
        'Keys that are pressed in turn, 1 to 64 of `0-9*#A-D`; `w` is a pause of half a second.',
    }),
});

function digitsRoute(api: Api, deps: ApiDeps): void {
  api.post(
    '/workflow/:workflow_id/runs/:run_id/digits',
    {
      schema: {
        ...common,
        operationId: 'sendDigits',
        summary: 'Send digits',
        description: 'Presses keys in a call that talks: by the provider, else by their tones.',
        params: runInPath,
        body: keys,
        response: {
          200: z.object({ workflow_run_id: idOut }).describe('The keys are on their way.'),
          ...faults(
            'RUN_NOT_FOUND',
            'CALL_NOT_TALKING',
            'DIGITS_WAITING',
            'DIGITS_UNSUPPORTED',
            'CALL_ELSEWHERE',
            'PROVIDER_FAILED',
          ),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { id: runId } = await runByPath(deps, request, request.params);
      await deps.callService.sendDigits({ organizationId, runId, digits: request.body.digits });
      return { workflow_run_id: runId };
    },
  );
}
