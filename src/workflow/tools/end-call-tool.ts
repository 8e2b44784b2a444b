// A tool with which the model ends the call, and may say why. Source: contract §10.1, §8.7, §8.9.

import type { EndCallConfig } from './definition.ts';
import { checkedArguments, type ToolValues } from './parameters.ts';
import type { ToolParameter } from './tool-fields.ts';

const REASON_DESCRIPTION = 'Why the call ends, in a few words.';
/** A disposition is a word or two; lists are sorted and filtered by it. */
const REASON_CHARACTERS_MAX = 200;

/** The reason, if its author asks for one. */
export function endCallParameters(config: EndCallConfig): ToolParameter[] {
  if (!config.endCallReason) return [];
  const description = config.endCallReasonDescription || REASON_DESCRIPTION;
  return [{ name: 'reason', type: 'string', description, required: true }];
}

/** Null if none is asked for. Throws TOOL_ARGUMENTS. */
export function endReasonGiven(config: EndCallConfig, given: ToolValues): string | null {
  const { reason } = checkedArguments(endCallParameters(config), given);
  const text = typeof reason === 'string' ? reason.trim().slice(0, REASON_CHARACTERS_MAX) : '';
  return text === '' ? null : text;
}
