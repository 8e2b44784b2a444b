// Routes that start a call: by agent or by trigger, in production or as a test. The call folder decides which checks
// are made and in which order. Source: specification §4.6 and §4.7, contract §6.1.

import { z } from 'zod';
import type { StartCall } from '../../call/start/setup/call-start.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { agentKeyGuard, starterOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { agentKeyRequired } from '../http/openapi.ts';
import { callStarted, startCallBody, startHeaders } from './run-schema.ts';

interface StartRoute {
  url: string;
  /** What the path's segment identifies. */
  agent: StartCall['agent']['type'];
  mode: StartCall['mode'];
  operationId: string;
  summary: string;
  description: string;
}

const starts: readonly StartRoute[] = [
  {
    url: '/public/agent/workflow/:workflow_uuid',
    agent: 'workflow_uuid',
    mode: 'production',
    operationId: 'startCallByAgent',
    summary: 'Start a call by agent',
    description: 'Calls a number with what is published of an agent.',
  },
  {
    url: '/public/agent/test/workflow/:workflow_uuid',
    agent: 'workflow_uuid',
    mode: 'test',
    operationId: 'startTestCallByAgent',
    summary: 'Start a test call by agent',
    description: 'Calls a number with the draft of an agent.',
  },
  {
    url: '/public/agent/:uuid',
    agent: 'trigger_path',
    mode: 'production',
    operationId: 'startCallByTrigger',
    summary: 'Start a call by trigger',
    description: "Calls a number through the trigger of an agent's published version.",
  },
  {
    url: '/public/agent/test/:uuid',
    agent: 'trigger_path',
    mode: 'test',
    operationId: 'startTestCallByTrigger',
    summary: 'Start a test call by trigger',
    description: "Calls a number through the trigger of an agent's draft.",
  },
];

const params = {
  workflow_uuid: z.object({
    workflow_uuid: z.string().meta({ description: "The agent's `workflow_uuid`." }),
  }),
  trigger_path: z.object({
    uuid: z.string().meta({ description: "The `trigger_path` of the agent's trigger node." }),
  }),
};

const refusals = faults(
  'AGENT_NOT_FOUND',
  'AGENT_UUID_EXPECTED',
  'AGENT_NOT_ACTIVE',
  'AGENT_NOT_PUBLISHED',
  'TRIGGER_NOT_FOUND',
  'TRIGGER_PATH_EXPECTED',
  'TRIGGER_FORBIDDEN',
  'TRIGGER_NOT_ACTIVE',
  'TRIGGER_NOT_IN_AGENT',
  'AGENT_OVERSIZED',
  'CONTEXT_OVERSIZED',
  'NUMBER_NOT_DIALABLE',
  'WORKFLOW_INVALID',
  'TELEPHONY_NOT_CONFIGURED',
  'CONFIGURATION_NOT_FOUND',
  'CONFIGURATION_NOT_READY',
  'CONFIGURATION_INACTIVE',
  'PROVIDER_NOT_BUILT',
  'CALLER_ID_NOT_FOUND',
  'CALL_LIMIT_REACHED',
  'CALL_NOT_PLACED',
  'CALL_UNCERTAIN',
  'START_KEY_REUSED',
  'GATEWAY_DRAINING',
  'GATEWAY_OVERLOADED',
);

export function agentStartRoutes(api: Api, deps: ApiDeps): void {
  for (const { url, agent, mode, ...described } of starts) {
    api.post(
      url,
      {
        onRequest: agentKeyGuard(deps),
        schema: {
          tags: ['calls'],
          security: agentKeyRequired,
          ...described,
          params: params[agent],
          headers: startHeaders,
          body: startCallBody,
          response: { 200: callStarted, ...refusals },
        },
      },
      async (request) => {
        const {
          runId,
          runName,
          variablesWithoutValue: names,
        } = await deps.callService.start({
          ...starterOf(request),
          agent: { type: agent, identifier: identifierOf(request.params) },
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
          ...(names && { variables_without_value: names }),
        };
      },
    );
  }
}

function identifierOf(named: { workflow_uuid: string } | { uuid: string }): string {
  return 'uuid' in named ? named.uuid : named.workflow_uuid;
}
