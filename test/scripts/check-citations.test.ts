// The check of citations, on a small tree of its own and on this repository's documents. The sign of a section is
// written by its escape here: in clear it would be a citation of this file.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SCRIPT = 'scripts/check-citations.mjs';
const CONTRACT = [
  '# The contract',
  '## Decisions',
  '### Decision 2. Links',
  '## 6. Runs',
  '### 6.1 Starting a call',
  '#### 6.1.4 Errors',
  '### 6.2 Reading',
  '1. The first thing.',
  '2. The second.',
  '## 10. Traps',
  '| # | Trap |',
  '|---|---|',
  '| 36 | Twice |',
  '## Appendix A. Examples',
  '### A call',
  '### A.3 A refusal',
].join('\n');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchbay-citations-'));
  file('docs/contract.md', CONTRACT);
  file('docs/asterisk.md', '# Asterisk\n## 4. ARI\n');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text.replaceAll('S:', '\u00a7'));
}

function check(fewest = 1) {
  const run = spawnSync(process.execPath, [SCRIPT, folder, String(fewest)], { encoding: 'utf8' });
  return { status: run.status, faults: run.stderr.trim().split('\n').filter(Boolean) };
}

describe('the check of citations', () => {
  it('takes every form of the grammar', () => {
    file(
      'src/a.ts',
      [
        '// Source: contract S:6.1, S:6.1.4 and S:6.2 item 2; asterisk S:4; RFC 6455 S:5.1, S:5.2.',
        'const a = 1; // As the contract has it (S:6.2).',
        "/** The order is the contract's (S:6.1). Contract decision 2, appendix A.3, S:10 item 36. */",
        '// It goes on in the next line: contract',
        '// S:6.1 to S:6.2, Appendix A.',
      ].join('\n'),
    );
    expect(check(3)).toEqual({ status: 0, faults: [] });
  });

  it('finds a citation that leads nowhere, with its line', () => {
    file('test/b.test.ts', "import 'x';\n// One line.\n// Source: contract S:6.1, S:6.3.\n");
    const [fault, ...others] = check().faults;
    expect(fault).toBe('test/b.test.ts:3 docs/contract.md has no \u00a76.3');
    expect(others).toEqual([]);
    expect(check().status).toBe(1);
  });

  it('finds a citation whose heading was removed', () => {
    file('native/c.c', '/* asterisk S:4 */');
    expect(check().status).toBe(0);
    file('docs/asterisk.md', '# Asterisk\n## 5. Other\n```\n## 4. in an example\n```\n');
    expect(check().faults).toEqual(['native/c.c:1 docs/asterisk.md has no \u00a74']);
  });

  it.each([
    ['contract decision 3', 'docs/contract.md has no decision 3'],
    ['contract appendix B', 'docs/contract.md has no appendix B'],
    ['contract appendix A.4', 'docs/contract.md has no appendix A.4'],
    ['contract S:6.2 item 3', 'docs/contract.md has no \u00a76.2 item 3'],
    ['contract S:10, item 37', 'docs/contract.md has no \u00a710 item 37'],
    ['runtime S:3', 'docs/runtime.md is not there'],
    ['asterisk.md S:4', 'write asterisk \u00a74'],
    ['S:6.1', '\u00a76.1 names no document'],
    ['Asterisk answers (S:4)', '\u00a74 names no document'],
    ['contact S:6.1', 'docs/contact.md is not there'],
  ])('refuses %s', (text, fault) => {
    file('scripts/d.mjs', `// ${text}.\n`);
    expect(check(0)).toEqual({ status: 1, faults: [`scripts/d.mjs:1 ${fault}`] });
  });

  it('leaves standards alone', () => {
    const text = 'contract S:6.1; RFC 3550 S:9.9 (appendix A.1), ITU-T G.711 appendix I';
    file('src/e.ts', `// ${text}.\n`);
    expect(check()).toEqual({ status: 0, faults: [] });
  });

  it('fails if comments that cite have become fewer than they must be', () => {
    file('src/f.ts', '// contract S:6.1, S:6.2.\n');
    expect(check(2)).toEqual({
      status: 1,
      faults: ['1 comments cite a document, fewer than the 2 that there must be'],
    });
  });

  it('finds what is planted among the documents of this repository', () => {
    cpSync('docs', join(folder, 'docs'), { recursive: true });
    file('src/g.ts', '// contract S:6.1.\n');
    expect(check().status).toBe(0);
    const contract = readFileSync('docs/contract.md', 'utf8');
    file('docs/contract.md', contract.replace(/^### 6\.1 .*$/m, ''));
    expect(check().faults).toEqual(['src/g.ts:1 docs/contract.md has no \u00a76.1']);
  });
});
