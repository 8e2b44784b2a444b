// Routes to test an agent: create a run without a call, and place a test call, on such a run or on a new one. A
// provider's refusal is 400 here, not the provider's status: its 401 is not about the client's key, and a repeated
// Idempotency-Key gets the same answer. Source: contract §6.1.

import { z } from 'zod';
import { resolveTestAgent } from '../../call/start/setup/resolve-agent.ts';
import type { Direction } from '../../model/provider.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf, starterOf } from '../http/authentication.ts';
import { AGENT_FAULTS, faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { workflowIdInPath } from '../http/path-parameters.ts';
import { isoTime } from '../http/values.ts';
import {
  createRunBody,
  runCreated,
  startHeaders,
  testCall,
  testCallStarted,
} from './run-schema.ts';

const security = keyRequired;

export function runStartRoutes(api: Api, deps: ApiDeps): void {
  testCallRoute(api, deps);
  createRoute(api, deps);
}

function testCallRoute(api: Api, deps: ApiDeps): void {
  api.post(
    '/telephony/initiate-call',
    {
      schema: {
        tags: ['calls'],
        security,
        operationId: 'initiateCall',
        summary: 'Start a test call',
        description:
          'Calls a number to try an agent out, with its draft if there is one. The agent must be valid.',
        headers: startHeaders,
        body: testCall,
        response: {
          200: testCallStarted,
          ...faults(
            ...AGENT_FAULTS,
            'TEST_NOT_CONFIGURED',
            'TEST_CONFIGURATION_NOT_FOUND',
            'CONFIGURATION_NOT_READY',
            'PROVIDER_NOT_BUILT',
            'CALLER_ID_NOT_FOUND',
            'PHONE_NUMBER_MISSING',
            'NUMBER_NOT_DIALABLE',
            'RUN_NOT_FOUND',
            'RUN_OF_OTHER_WORKFLOW',
            'RUN_HAS_CALL',
            'START_KEY_REUSED',
            'CALL_LIMIT_REACHED',
            'CALL_NOT_PLACED',
            'CALL_UNCERTAIN',
          ),
        },
      },
    },
    async (request) => {
      const { body, headers } = request;
      const {
        runId,
        runName,
        variablesWithoutValue: names,
      } = await deps.callService.startTest({
        ...starterOf(request),
        workflowId: body.workflow_id,
        runId: body.workflow_run_id ?? null,
        phoneNumber: body.phone_number || null,
        configurationId: body.telephony_configuration_id ?? null,
        fromPhoneNumberId: body.from_phone_number_id ?? null,
        idempotencyKey: headers['idempotency-key'] ?? null,
      });
      return {
        message: `Call initiated successfully with run name ${runName}`,
        workflow_run_id: runId,
        workflow_run_name: runName,
        ...(names && { variables_without_value: names }),
      };
    },
  );
}

function createRoute(api: Api, deps: ApiDeps): void {
  api.post(
    '/workflow/:workflow_id/runs',
    {
      schema: {
        tags: ['runs'],
        security,
        operationId: 'createRun',
        summary: 'Create a run',
        description: 'Creates a run without a call; a test call can be placed on it.',
        params: z.object({ workflow_id: workflowIdInPath }),
        body: createRunBody,
        response: {
          200: runCreated,
          ...faults(
            'AGENT_NOT_FOUND',
            'AGENT_NOT_ACTIVE',
            'AGENT_NOT_PUBLISHED',
            'AGENT_OVERSIZED',
          ),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { mode, name } = request.body;
      const { workflow_id: workflowId } = request.params;
      const { workflow, version } = await resolveTestAgent(deps, organizationId, workflowId);
      const initialContext = version.templateContextVariables;
      const run = await deps.store.starts.createIdle({
        organizationId,
        workflowId: workflow.id,
        definitionId: version.id,
        name,
        mode,
        callType: directionOf(mode, initialContext),
        configurationId: null,
        providerCallId: null,
        initialContext,
        gatheredContext: {},
        logs: {},
      });
      return {
        id: run.id,
        workflow_id: run.workflowId,
        name: run.name,
        mode: run.mode,
        created_at: isoTime(run.createdAt),
        definition_id: run.definitionId,
        initial_context: run.initialContext,
      };
    },
  );
}

/** Direction of a call. A browser's caller calls the agent, unless the variables say that the agent calls. */
function directionOf(mode: string, variables: Record<string, unknown>): Direction {
  if (mode !== 'smallwebrtc') return 'outbound';
  return variables['direction'] === 'outbound' ? 'outbound' : 'inbound';
}
