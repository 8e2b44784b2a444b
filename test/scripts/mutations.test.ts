// What the mutation test makes of its list of faults, and of a run of vitest.

import { describe, expect, it } from 'vitest';
import { chosen, planted, resultOf, tableOf } from '../../scripts/mutations.mjs';

const fault = { id: 'a', file: 'src/a.ts', from: 'x > 1', to: 'x > $&' };

describe('a fault', () => {
  it('takes the place of the text that it names', () => {
    expect(planted('if (x > 1) y();', fault)).toBe('if (x > $&) y();');
  });

  it.each([
    ['if (x > 2) y();', 0],
    ['if (x > 1) y(x > 1);', 2],
  ])('is refused where its text is not there once: %s', (text, times) => {
    expect(() => planted(text, fault)).toThrow(`a: the text is ${times} times in src/a.ts`);
  });

  it('is chosen by its id, which no other one has', () => {
    const all = [{ id: 'a' }, { id: 'b' }];
    expect(chosen(all, undefined)).toEqual(all);
    expect(chosen(all, ['b'])).toEqual([{ id: 'b' }]);
    expect(() => chosen(all, ['b', 'c'])).toThrow('no fault has the id c');
    expect(() => chosen([...all, { id: 'a' }], undefined)).toThrow('two faults have the id a');
  });
});

describe('a run of vitest', () => {
  const file = (status: string, ...tests: string[]) => ({
    name: '/copy/test/a.test.ts',
    status,
    assertionResults: tests.map((each) => ({ status: each, fullName: `it is ${each}` })),
  });
  const run = (code: number, ...testResults: ReturnType<typeof file>[]) =>
    resultOf({ code, isLate: false, report: { testResults }, folder: '/copy' });

  it('that passes has not caught the fault', () => {
    expect(run(0, file('passed', 'passed'))).toEqual({
      verdict: 'survived',
      files: ['test/a.test.ts'],
      failedFiles: [],
    });
  });

  it('that fails names the test', () => {
    expect(run(1, file('failed', 'passed', 'failed'))).toMatchObject({
      verdict: 'caught',
      failed: 'test/a.test.ts: it is failed',
      failedFiles: ['test/a.test.ts'],
    });
    expect(run(1, file('failed')).failed).toBe('test/a.test.ts: does not load');
    expect(run(1, file('passed', 'passed')).failed).toBe('an error outside of the tests');
  });

  it('without a test, or that takes too long, has not caught it', () => {
    expect(run(1).verdict).toBe('no tests');
    const late = { code: null, isLate: true, report: undefined, folder: '/copy' };
    expect(resultOf(late).verdict).toBe('timed out');
  });
});

it('the table counts what was caught', () => {
  const rows = [
    { id: 'long-id', verdict: 'caught', seconds: 3.4, detail: 'by x' },
    { id: 'b', verdict: 'survived', seconds: 12, detail: 'with y' },
  ] as const;
  expect(tableOf(rows).split('\n')).toEqual([
    'long-id  caught       3 s  by x',
    'b        survived    12 s  with y',
    '1 of 2 caught',
  ]);
});
