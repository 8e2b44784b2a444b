// A tool that does sums for the model. Source: contract §5.4, §8.7, §10.1.

import { evaluate } from './arithmetic.ts';
import { checkedArguments, type ToolValues } from './parameters.ts';
import type { ToolParameter } from './tool-fields.ts';

export const calculatorParameters: readonly ToolParameter[] = [
  {
    name: 'expression',
    type: 'string',
    description: 'The sum to work out, such as (12.5 + 3) * 2. Knows + - * / % ^ and parentheses.',
    required: true,
  },
];

/** Throws TOOL_ARGUMENTS. */
export function calculate(given: ToolValues): { expression: string; result: number } {
  const { expression } = checkedArguments(calculatorParameters, given);
  const text = String(expression);
  return { expression: text, result: evaluate(text) };
}
