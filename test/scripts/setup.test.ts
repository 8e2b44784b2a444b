// The set-up in a folder of its own: a lock file, the scripts, and an npm that only writes down.

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchbay-setup-'));
  mkdirSync(join(folder, 'scripts'));
  for (const script of ['setup.mjs', 'build.mjs']) {
    cpSync(`scripts/${script}`, join(folder, 'scripts', script));
  }
  file('package-lock.json', '{}');
  file('npm.mjs', npm(0));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(path: string, text: string): void {
  writeFileSync(join(folder, path), text);
}

/** An npm that notes its arguments in `asked` and leaves with a code. */
function npm(code: number): string {
  return `import { appendFileSync, mkdirSync } from 'node:fs';
    mkdirSync('node_modules/typescript/bin', { recursive: true });
    appendFileSync('asked', process.argv.slice(2).join(' ') + '\\n');
    process.exit(${code});`;
}

function setUp(...flags: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(folder, 'scripts/setup.mjs'), ...flags],
    {
      encoding: 'utf8',
      env: { ...process.env, npm_execpath: join(folder, 'npm.mjs'), PATCHBAY_STT: 'none' },
    },
  );
  return { status, output: stdout + stderr };
}

function installs(): number {
  const asked = join(folder, 'asked');
  return existsSync(asked) ? readFileSync(asked, 'utf8').trim().split('\n').length : 0;
}

/** A compiler that writes dist/main.js and counts its runs. */
const compiler = `const fs = require('node:fs');
  fs.mkdirSync('dist', { recursive: true });
  fs.writeFileSync('dist/main.js', '');
  fs.appendFileSync('built', 'x');`;

describe('the set-up', () => {
  it('installs packages once, and again when the lock file has changed', () => {
    expect(setUp().output).toContain('Installing packages');
    expect(setUp().output).toBe('');
    expect(installs()).toBe(1);
    file('package-lock.json', '{"changed": true}');
    setUp();
    expect(installs()).toBe(2);
    expect(readFileSync(join(folder, 'asked'), 'utf8')).toMatch(/^ci --include=dev /);
  });

  it('stops with a clear line when packages cannot be installed, and tries again the next time', () => {
    file('npm.mjs', npm(1));
    const { status, output } = setUp();
    expect(status).toBe(1);
    expect(output).toContain('npm ci failed');
    file('npm.mjs', npm(0));
    expect(setUp().status).toBe(0);
  });

  it('builds what is not built, with the files beside the sources, and again when one has changed', () => {
    setUp();
    file('node_modules/typescript/bin/tsc', compiler);
    file('tsconfig.json', '{}');
    mkdirSync(join(folder, 'src/store/migrations'), { recursive: true });
    mkdirSync(join(folder, 'native'));
    file('src/main.ts', 'one');
    file('src/store/migrations/001.sql', 'select 1');
    file('native/kernels.wasm', 'wasm');
    expect(setUp('--build').output).toContain('Building');
    expect(readFileSync(join(folder, 'dist/store/migrations/001.sql'), 'utf8')).toBe('select 1');
    expect(existsSync(join(folder, 'dist/native/kernels.wasm'))).toBe(true);
    expect(setUp('--build').output).toBe('');
    file('src/main.ts', 'two');
    setUp('--build');
    expect(readFileSync(join(folder, 'built'), 'utf8')).toBe('xx');
  });

  it('installs no recogniser where the settings want none', () => {
    setUp();
    expect(setUp('--speech')).toEqual({ status: 0, output: '' });
  });
});
