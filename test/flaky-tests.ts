// Lists tests that failed and passed when they were tried again, with what the first try failed for: on a busy machine a
// test may be late; and a race, of the test or of the product, shows itself like this. Each is to be looked into.

import type { Reporter, TestCase } from 'vitest/node';

const REASON_LENGTH_MAX = 400;

export class FlakyTests implements Reporter {
  readonly #lines: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky !== true) return;
    const reason = test.result().errors?.[0]?.message.slice(0, REASON_LENGTH_MAX) ?? 'unknown';
    this.#lines.push(`${test.module.relativeModuleId} > ${test.fullName}: ${reason}`);
  }

  onTestRunEnd(): void {
    if (this.#lines.length === 0) return;
    const lines = this.#lines.map((line) => `  ${line}`);
    const text = [`Passed at the second try only (${lines.length}):`, ...lines].join('\n');
    process.stdout.write(`${text}\n`);
  }
}
