// The tables of docs/closing.md against the source: why a call ended, and which file decides it.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { endReason } from '../../../../src/model/end-reason.ts';

const text = readFileSync('docs/closing.md', 'utf8');

/** A pair for each reason of a row and each file that the row names. */
function pairsOf(name: string): { reason: string; file: string }[] {
  const from = text.indexOf(`<!-- ${name}: `);
  const table = text.slice(from, text.indexOf(`<!-- end of ${name} -->`));
  const rows = [...table.matchAll(/^\| (`.+?) \| .+ \| (`src.+) \|$/gm)];
  const quoted = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
  return rows.flatMap(([, reasons, files]) =>
    quoted(reasons).flatMap((reason) => quoted(files).map((file) => ({ reason, file }))),
  );
}

const reasons = pairsOf('reasons');
const refusals = pairsOf('refusals');
const once = (pairs: typeof reasons) => [...new Set(pairs.map(({ reason }) => reason))].sort();

/** Reasons whose words mean something else in other files. */
const COMMON = ['unknown', 'error', 'busy', 'failed', 'canceled', 'no-answer', 'transfer_call'];
/** They read how a call ended. */
const READERS = ['src/call/end/after/review.ts', 'src/call/events/run-outcome.ts'];

describe('the table of end reasons', () => {
  it('has every reason of the code, and no other', () => {
    expect(once(reasons)).toEqual([...endReason.options].sort());
  });

  it.each(reasons)('finds $reason in $file', ({ reason, file }) => {
    expect(existsSync(file)).toBe(true);
    expect(readFileSync(file, 'utf8')).toContain(`'${reason}'`);
  });

  it('names every file of calls and conversations that decides one', () => {
    const own = endReason.options.filter((reason) => !COMMON.includes(reason));
    const deciding = ['src/call', 'src/workflow'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .map((path) => `${folder}/${path}`)
        .filter((path) => path.endsWith('.ts') && !READERS.includes(path))
        .flatMap((file) => {
          const source = readFileSync(file, 'utf8');
          const isDecided = (reason: string) => new RegExp(`(?<![=!]== )'${reason}'`).test(source);
          return own.filter(isDecided).map((reason) => ({ reason, file }));
        }),
    );
    expect(deciding.length).toBeGreaterThan(15);
    expect(deciding.filter((pair) => !has(reasons, pair))).toEqual([]);
  });
});

describe('the table of refusals', () => {
  it('has every reason of the code, and no other', () => {
    const terms = readFileSync('src/telephony/provider/terms.ts', 'utf8');
    const type = /type RejectReason =([^;]+);/.exec(terms)?.[1] ?? '';
    const known = [...type.matchAll(/'([^']+)'/g)].map(([, word = '']) => word);
    expect(once(refusals)).toEqual(known.sort());
  });

  it.each(refusals)('finds $reason in $file', ({ reason, file }) => {
    expect(existsSync(file)).toBe(true);
    expect(readFileSync(file, 'utf8')).toContain(`'${reason}'`);
  });
});

function has(pairs: typeof reasons, { reason, file }: (typeof reasons)[number]): boolean {
  return pairs.some((pair) => pair.reason === reason && pair.file === file);
}
