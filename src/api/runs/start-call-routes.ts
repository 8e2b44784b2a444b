// Starting a call: by agent or by trigger, in production or as a test. Source: specification §4.6 and
// §4.7, contract §6.1. The call folder decides what is checked, in which order.

import { z } from 'zod';
import type { StartCall } from '../../call/call-service.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { agentKeyGuard, starterOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { agentKeyRequired } from '../http/openapi.ts';
import { callStarted, startCallBody, startHeaders } from './run-schema.ts';

interface StartRoute {
  url: string;
  /** What the piece of the path names. */
  agent: StartCall['agent']['type'];
  mode: StartCall['mode'];
  operationId: string;
  summary: string;
}

const starts: readonly StartRoute[] = [
  {
    url: '/public/agent/workflow/:uuid',
    agent: 'workflow_uuid',
    mode: 'production',
    operationId: 'startCallByAgent',
    summary: 'Calls a number with what is published of an agent.',
  },
  {
    url: '/public/agent/test/workflow/:uuid',
    agent: 'workflow_uuid',
    mode: 'test',
    operationId: 'startTestCallByAgent',
    summary: 'Calls a number with the draft of an agent.',
  },
  {
    url: '/public/agent/:uuid',
    agent: 'trigger_path',
    mode: 'production',
    operationId: 'startCallByTrigger',
    summary: "Calls a number through the trigger of an agent's published version.",
  },
  {
    url: '/public/agent/test/:uuid',
    agent: 'trigger_path',
    mode: 'test',
    operationId: 'startTestCallByTrigger',
    summary: "Calls a number through the trigger of an agent's draft.",
  },
];

const params = z.object({ uuid: z.string() });

export function agentStartRoutes(api: Api, deps: ApiDeps): void {
  for (const { url, agent, mode, operationId, summary } of starts) {
    api.post(
      url,
      {
        onRequest: agentKeyGuard(deps),
        schema: {
          tags: ['calls'],
          security: agentKeyRequired,
          operationId,
          summary,
          params,
          headers: startHeaders,
          body: startCallBody,
          response: { 200: callStarted, ...faults(400, 401, 403, 404, 409, 429) },
        },
      },
      async (request) => {
        const { runId, runName } = await deps.callService.start({
          ...starterOf(request),
          agent: { type: agent, identifier: request.params.uuid },
          mode,
          phoneNumber: request.body.phone_number,
          initialContext: request.body.initial_context ?? {},
          configurationId: request.body.telephony_configuration_id ?? null,
          fromPhoneNumberId: request.body.from_phone_number_id ?? null,
          idempotencyKey: request.headers['idempotency-key'] ?? null,
        });
        return {
          status: 'initiated' as const,
          workflow_run_id: runId,
          workflow_run_name: runName,
        };
      },
    );
  }
}
