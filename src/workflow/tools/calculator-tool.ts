// A calculator for the model: numbers, + - * / % ^ (or **), parentheses, signs. A parser of its own: no text is executed.
// `^` is right-associative and binds tighter than a sign; `%` has the sign of its divisor, as in Python.
// Source: contract §5.4, §8.7, §10.1.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { soleFunction } from './function-name.ts';
import { checkedArguments, type ToolValues } from './parameters.ts';
import { orElse, type ToolParameter } from './tool-fields.ts';
import { defineTool } from './tool-type.ts';

/** Name of the function. It must not change, as prompts may contain it. */
const NAME = 'safe_calculator';

/** Longest expression, above any in a telephone call. */
const CHARACTERS_MAX = 500;
/** Deepest nesting of parentheses, signs and powers. */
const DEPTH_MAX = 50;
/** Significant digits of a result. Further ones are rounding errors of binary fractions. */
const DIGITS = 15;

const TOKEN = /\s*(\*\*|[-+*/%^()]|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)/iy;

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

/** Value of an expression. Throws TOOL_ARGUMENTS if it is invalid, or has no finite result. */
export function evaluate(expression: string): number {
  if (expression.length > CHARACTERS_MAX) throw wrong('the expression is too long');
  const result = new Parser(tokensOf(expression)).whole();
  if (!Number.isFinite(result)) throw wrong('the result is too large or not defined');
  const rounded = Number(result.toPrecision(DIGITS));
  return rounded === 0 ? 0 : rounded; // -0 becomes 0.
}

function tokensOf(expression: string): string[] {
  const text = expression.replaceAll('×', '*').replaceAll('÷', '/').replace(/[−–]/g, '-').trim();
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const found = TOKEN.exec(text);
    if (found?.[1] === undefined) throw wrong('only numbers, + - * / % ^ and parentheses');
    tokens.push(found[1]);
  }
  return tokens;
}

class Parser {
  readonly #tokens: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  whole(): number {
    const value = this.#sum();
    if (this.#at < this.#tokens.length) throw wrong(`unexpected ${this.#tokens[this.#at]}`);
    return value;
  }

  #sum(): number {
    let value = this.#product();
    for (;;) {
      if (this.#take('+')) value += this.#product();
      else if (this.#take('-')) value -= this.#product();
      else return value;
    }
  }

  #product(): number {
    let value = this.#signed();
    for (;;) {
      if (this.#take('*')) value *= this.#signed();
      else if (this.#take('/')) value /= divisor(this.#signed());
      else if (this.#take('%')) value = remainder(value, divisor(this.#signed()));
      else return value;
    }
  }

  #signed(): number {
    return this.#nested(() => {
      if (this.#take('-')) return -this.#signed();
      if (this.#take('+')) return this.#signed();
      return this.#power();
    });
  }

  #power(): number {
    const base = this.#operand();
    return this.#take('^') || this.#take('**') ? base ** this.#signed() : base;
  }

  #operand(): number {
    if (this.#take('(')) {
      const value = this.#nested(() => this.#sum());
      if (!this.#take(')')) throw wrong('a parenthesis is not closed');
      return value;
    }
    const token = this.#tokens[this.#at] ?? '';
    if (!/^[\d.]/.test(token)) throw wrong('a number is missing');
    this.#at += 1;
    return Number(token);
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at += 1;
    return true;
  }

  #nested(work: () => number): number {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw wrong('the expression is nested too deep');
    const value = work();
    this.#depth -= 1;
    return value;
  }
}

function divisor(value: number): number {
  if (value === 0) throw wrong('division by zero');
  return value;
}

function remainder(value: number, by: number): number {
  const rest = value % by;
  return rest !== 0 && rest < 0 !== by < 0 ? rest + by : rest;
}

function wrong(problems: string): GatewayError {
  return new GatewayError('TOOL_ARGUMENTS', { problems });
}
