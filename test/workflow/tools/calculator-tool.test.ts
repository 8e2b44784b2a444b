// Sums of the calculator: held to JavaScript's own arithmetic on expressions made of known parts.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { evaluate } from '../../../src/workflow/tools/calculator-tool.ts';

describe('a sum', () => {
  it.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['10 - 4 - 3', 3],
    ['100 / 10 / 2', 5],
    ['2 ^ 3 ^ 2', 512],
    ['2 ** 3', 8],
    ['-2 ^ 2', -4],
    ['2 ^ -1', 0.5],
    ['(-2) ^ 2', 4],
    ['- -3', 3],
    ['+4', 4],
    ['7 % 3', 1],
    ['-7 % 3', 2],
    ['7 % -3', -2],
    ['0.1 + 0.2', 0.3],
    ['1e3 + .5', 1000.5],
    ['3 × 4 ÷ 2 − 1', 5],
    ['  ( 12.5+3 )*2 ', 31],
    ['0 * -1', 0],
    ['1234567.89 * 100', 123456789],
  ])('%s is %d', (expression, result) => {
    expect(evaluate(expression)).toBe(result);
  });

  it.each([
    '',
    ' ',
    '1 +',
    '* 2',
    '1 2',
    '(1',
    '1)',
    '()',
    '1 / 0',
    '1 % 0',
    '9 ^ 9 ^ 9',
    '(-8) ^ 0.5',
    'process.exit(1)',
    'constructor',
    '1;2',
    '1,5',
    '1..2',
    '0x10',
    '1e999',
    `${'('.repeat(200)}1${')'.repeat(200)}`,
    '1+'.repeat(300),
    `${'-'.repeat(400)}1`,
    `2${'^2'.repeat(100)}`,
  ])('%j is refused', (expression) => {
    expect(() => evaluate(expression)).toThrow(expect.objectContaining({ code: 'TOOL_ARGUMENTS' }));
  });

  it('has the result of its parts', () => {
    const number = fc.integer({ min: 0, max: 999 }).map((value) => ({ text: `${value}`, value }));
    const { sum } = fc.letrec<{ sum: { text: string; value: number } }>((tie) => ({
      sum: fc.oneof(
        { maxDepth: 4, depthIdentifier: 'sum' },
        number,
        fc
          .tuple(tie('sum'), fc.constantFrom('+', '-', '*', '/'), tie('sum'))
          .map(([one, sign, other]) => ({
            text: `(${one.text}) ${sign} (${other.text})`,
            // A part without a finite value is refused, whatever stands around it.
            value:
              Number.isFinite(one.value) && Number.isFinite(other.value)
                ? combined(one.value, sign, other.value)
                : Number.NaN,
          })),
      ),
    }));
    fc.assert(
      fc.property(sum, ({ text, value }) => {
        fc.pre(Number.isFinite(value) && text.length <= 500);
        const difference = Math.abs(evaluate(text) - value);
        expect(difference).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(value)));
      }),
    );
  });

  it('of any text is a finite number, or refused', () => {
    const pieces = fc.array(
      fc.constantFrom('1', '2.5', '+', '-', '*', '/', '%', '^', '(', ')', ' '),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          pieces.map((all) => all.join('')),
        ),
        (text) => {
          try {
            expect(Number.isFinite(evaluate(text))).toBe(true);
          } catch (error) {
            expect(codeOf(error)).toBe('TOOL_ARGUMENTS');
          }
        },
      ),
    );
  });
});

function combined(one: number, sign: string, other: number): number {
  if (sign === '+') return one + other;
  if (sign === '-') return one - other;
  return sign === '*' ? one * other : one / other;
}
