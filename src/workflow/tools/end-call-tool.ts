// A tool with which the model ends the call, optionally with a reason. Source: contract §10.1, §8.7, §8.9.

import { z } from 'zod';
import { soleFunction } from './function-name.ts';
import { checkedArguments, type ToolValues } from './parameters.ts';
import {
  messageFields,
  orElse,
  type ToolParameter,
  textOrNull,
  toolMessageOf,
} from './tool-fields.ts';
import { defineTool } from './tool-type.ts';

const REASON_DESCRIPTION = 'Why the call ends, in a few words.';
/** Longest reason. A disposition is a word or two; lists are sorted and filtered by it. */
const REASON_CHARACTERS_MAX = 200;

const config = z.object({
  ...messageFields,
  endCallReason: orElse(z.boolean(), false).describe(
    "Whether the model gives a reason, which becomes the call's disposition. Default: false.",
  ),
  endCallReasonDescription: textOrNull.describe(
    'Tells the model what the reason should be. Null: a line of the gateway.',
  ),
});
type EndCallConfig = z.infer<typeof config>;

export const endCallTool = defineTool({
  type: 'end_call',
  config,
  open: (settings, tool) => ({
    functions: soleFunction(tool, parametersOf(settings)),
    leavesConversation: true,
    message: toolMessageOf(settings),
    call: (_key, given) => ({ what: 'end', disposition: reasonGiven(settings, given) }),
  }),
});

/** The reason as a parameter, if the tool's author wants one. */
function parametersOf(settings: EndCallConfig): ToolParameter[] {
  if (!settings.endCallReason) return [];
  const description = settings.endCallReasonDescription || REASON_DESCRIPTION;
  return [{ name: 'reason', type: 'string', description, required: true }];
}

/** The model's reason; null if the author wants none. Throws TOOL_ARGUMENTS. */
function reasonGiven(settings: EndCallConfig, given: ToolValues): string | null {
  const { reason } = checkedArguments(parametersOf(settings), given);
  const text = typeof reason === 'string' ? reason.trim().slice(0, REASON_CHARACTERS_MAX) : '';
  return text === '' ? null : text;
}
