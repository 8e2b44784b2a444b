// A calculator for the model. Source: contract §5.4, §8.7, §10.1.

import { z } from 'zod';
import { evaluate } from './arithmetic.ts';
import { soleFunction } from './function-name.ts';
import { checkedArguments, type ToolValues } from './parameters.ts';
import { orElse, type ToolParameter } from './tool-fields.ts';
import { defineTool } from './tool-type.ts';

/** Name of the function. It must not change, as prompts may contain it. */
const NAME = 'safe_calculator';

const parameters: readonly ToolParameter[] = [
  {
    name: 'expression',
    type: 'string',
    description: 'The sum to work out, such as (12.5 + 3) * 2. Knows + - * / % ^ and parentheses.',
    required: true,
  },
];

export const calculatorTool = defineTool({
  type: 'calculator',
  config: orElse(z.object({}), {}),
  open: (_config, tool) => ({
    functions: soleFunction(tool, parameters, NAME),
    call: (_key, given) => ({ what: 'result', result: calculate(given) }),
  }),
});

/** Evaluates the expression. Throws TOOL_ARGUMENTS. */
function calculate(given: ToolValues): { expression: string; result: number } {
  const { expression } = checkedArguments(parameters, given);
  const text = String(expression);
  return { expression: text, result: evaluate(text) };
}
