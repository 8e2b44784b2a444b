// An edge as a function of a language model. Source: contract §5.4.

import type { LlmTool } from '../../model/llm-message.ts';

/** The function name of an edge: lower case, every character outside a-z and 0-9 an underscore. */
export function edgeFunctionName(label: string): string {
  return label.toLowerCase().replace(/[^a-z0-9]/g, '_');
}

/** A function without parameters. */
export function edgeFunction(label: string, description: string): LlmTool {
  return {
    name: edgeFunctionName(label),
    description,
    parameters: { type: 'object', properties: {}, required: [] },
  };
}
