// A tool with which the model transfers the caller to another agent within the call. Not in the reference.
// Source: contract §8.7, §10.1.

import { z } from 'zod';
import { soleFunction } from './function-name.ts';
import { checkedArguments } from './parameters.ts';
import { messageFields, orElse, type ToolParameter, toolMessageOf } from './tool-fields.ts';
import { defineTool } from './tool-type.ts';

const UUID_CHARACTERS_MAX = 100;
/** Longest reason: a few sentences. */
const REASON_CHARACTERS_MAX = 1_000;

const parameters: readonly ToolParameter[] = [
  {
    name: 'reason',
    type: 'string',
    description:
      'What the caller wants, and what the next agent must know, in one or two sentences.',
    required: true,
  },
];

export const transferAgentTool = defineTool({
  type: 'transfer_agent',
  config: z.object({
    agent_uuid: z
      .string()
      .trim()
      .min(1)
      .max(UUID_CHARACTERS_MAX)
      .describe('The `workflow_uuid` of the agent that takes the call over.'),
    ...messageFields,
    greeting: orElse(z.boolean(), false).describe(
      'Whether the next agent says its greeting. Default: false, it goes on with the conversation.',
    ),
  }),
  open: (settings, tool) => ({
    functions: soleFunction(tool, parameters),
    leavesConversation: true,
    message: toolMessageOf(settings),
    agentUuid: settings.agent_uuid,
    call: (_key, given) => {
      const { reason } = checkedArguments(parameters, given);
      return {
        what: 'agent',
        agentUuid: settings.agent_uuid,
        reason: String(reason).trim().slice(0, REASON_CHARACTERS_MAX),
        greets: settings.greeting,
      };
    },
  }),
});
