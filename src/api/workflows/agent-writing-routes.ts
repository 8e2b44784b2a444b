// Route that creates an agent from a description in plain words. Source: contract §5.1.

import { z } from 'zod';
import type { WorkflowGenerator } from '../../workflow/authoring/agent-writer.ts';
import { storableDefinition } from '../../workflow/stored/agent-checks.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { workflowOnWire } from './workflow-mapping.ts';
import { WORKFLOW_NAME_MAX, workflowOut } from './workflow-schema.ts';

const wish = z.object({
  call_type: z
    .enum(['inbound', 'outbound'])
    .describe('Whether people call the agent (`inbound`) or it calls them (`outbound`).'),
  use_case: z
    .string()
    .min(1)
    .max(2_000)
    .describe('What the agent is for; its first 255 characters become its name.'),
  activity_description: z.string().min(1).max(10_000).describe('What it shall do in a call.'),
});

export interface AgentWritingDeps extends ApiDeps {
  /** Writes agents from descriptions. */
  writer: WorkflowGenerator;
}

export function agentWritingRoutes(api: Api, deps: AgentWritingDeps): void {
  api.post(
    '/workflow/create/template',
    {
      schema: {
        tags: ['workflows'],
        security: keyRequired,
        operationId: 'writeWorkflow',
        summary: 'Write an agent',
        description:
          'Creates an agent from a description in plain words, by the language model of the organization.',
        body: wish,
        response: { 200: workflowOut, ...faults('AGENT_WRITER_UNAVAILABLE', 'AGENT_NOT_WRITTEN') },
      },
    },
    async (request) => {
      const { call_type, use_case, activity_description } = request.body;
      const owner = principalOf(request);
      const { organizationId } = owner;
      const description = {
        callType: call_type,
        useCase: use_case,
        activity: activity_description,
      };
      const definition = await deps.writer.generate(description, organizationId);
      const place = { organizationId, workflowId: null };
      const content = await storableDefinition(deps, definition, place);
      const { workflow, version } = await deps.store.workflows.create(owner, {
        name: use_case.slice(0, WORKFLOW_NAME_MAX),
        ...content,
        configurations: {},
        templateContextVariables: {},
      });
      return workflowOnWire(workflow, version, { totalRuns: 0 });
    },
  );
}
