// The set-up in a folder of its own: a lock file, the scripts, and an npm that only writes down, also, as npm
// does, what it has installed. The set-up once knew of its own installs alone, and installed everything again
// behind `npm ci`.

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
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SCRIPTS = [
  ...['setup.mjs', 'prepare.mjs', 'build.mjs', 'installed.mjs'],
  ...['progress.mjs', 'child-steps.mjs', 'speech-packages.mjs'],
];
let folder: string;

type Packages = Record<string, object>;
const zod = { version: '4.6.7', integrity: 'sha512-zod' };
const tsx = { version: '4.23.15', integrity: 'sha512-tsx', dev: true };
const binding = { version: '1.0.0', integrity: 'sha512-b', optional: true };
const here = { ...binding, os: [process.platform], cpu: [process.arch] };
const elsewhere = { ...binding, os: ['plan9'], cpu: [process.arch] };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchbay-setup-'));
  for (const script of SCRIPTS) cpSync(`scripts/${script}`, join(folder, 'scripts', script));
  file('scripts/bundle-packages.mjs', '');
  file('scripts/build-console.mjs', '');
  file('scripts/extract-vad.mjs', '');
  file('src/main.ts', 'one');
  lock({ 'node_modules/zod': zod, 'node_modules/tsx': tsx });
  file('npm.mjs', npm(0));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function lock(packages: Packages): void {
  file(
    'package-lock.json',
    JSON.stringify({ packages: { '': { name: 'patchbay' }, ...packages } }),
  );
}

/** As npm leaves it: its record, and a folder for each package. */
function installed(packages: Packages): void {
  rmSync(join(folder, 'node_modules'), { recursive: true, force: true });
  for (const path of Object.keys(packages)) file(`${path}/package.json`, '{}');
  file('node_modules/.package-lock.json', JSON.stringify({ packages }));
}

/** An npm that notes its arguments in `asked`, installs everything and leaves with a code. */
function npm(code: number): string {
  return `import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
    appendFileSync('asked', process.argv.slice(2).join(' ') + '\\n');
    if (${code} !== 0) process.exit(${code});
    const { '': project, ...packages } = JSON.parse(readFileSync('package-lock.json')).packages;
    for (const path of Object.keys(packages)) {
      mkdirSync(path, { recursive: true });
      writeFileSync(path + '/package.json', '{}');
    }
    writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }));`;
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
  it('installs packages once, and again when the lock file names others', () => {
    expect(setUp().output).toContain('Installing packages');
    expect(setUp().output).toBe('');
    expect(installs()).toBe(1);
    lock({ 'node_modules/zod': { ...zod, version: '4.6.8' } });
    setUp();
    expect(installs()).toBe(2);
    expect(readFileSync(join(folder, 'asked'), 'utf8')).toMatch(/^ci --include=dev /);
  });

  const all = { 'node_modules/zod': zod, 'node_modules/tsx': tsx };
  const bound = (entry: object) => ({ ...all, 'node_modules/b': entry });

  it.each<[string, Packages, Packages]>([
    ['with npm ci or npm install', all, all],
    ['without what is for other machines', bound(elsewhere), all],
    ['without what is for other processors', bound({ ...here, cpu: [`!${process.arch}`] }), all],
    ['without what is for other C libraries', bound({ ...here, libc: ['none'] }), all],
    ['without what is optional and needed by such alone', bound(binding), all],
    ['with what is for this machine', bound(here), bound(here)],
  ])('leaves packages alone that were installed %s', (_how, wanted, present) => {
    lock(wanted);
    installed(present);
    expect(setUp().output).toBe('');
    expect(installs()).toBe(0);
  });

  it.each<[string, Packages, Packages]>([
    ['lack one, as those for production do', all, { 'node_modules/zod': zod }],
    ['have one of another version', all, { ...all, 'node_modules/zod': { ...zod, version: '3' } }],
    ['have one of other bytes', all, { ...all, 'node_modules/zod': { ...zod, integrity: 'x' } }],
    ['have one more, which may stand before another', all, bound(elsewhere)],
    ['lack what is for this machine', bound(here), all],
  ])('installs again where they %s', (_what, wanted, present) => {
    lock(wanted);
    installed(present);
    expect(setUp().output).toContain('Installing packages');
    expect(setUp().output).toBe('');
    expect(installs()).toBe(1);
  });

  it.each([
    ['a folder is gone', 'node_modules/zod'],
    ['npm was stopped before it was done', 'node_modules/.package-lock.json'],
  ])('installs again where %s', (_what, path) => {
    installed(all);
    rmSync(join(folder, path), { recursive: true });
    setUp();
    expect(installs()).toBe(1);
  });

  it('installs again where the record is cut off', () => {
    installed(all);
    file('node_modules/.package-lock.json', '{"packages": {"node_');
    setUp();
    expect(installs()).toBe(1);
  });

  it('installs and builds nothing in an image, which has no sources', () => {
    for (const path of ['src', 'package-lock.json'])
      rmSync(join(folder, path), { recursive: true });
    expect(setUp('--build')).toEqual({ status: 0, output: '' });
    expect(installs()).toBe(0);
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

  it('leaves the types to the checks, as they take longer than the build', () => {
    setUp();
    file(
      'node_modules/typescript/bin/tsc',
      `${compiler} fs.writeFileSync('asked', process.argv.join());`,
    );
    setUp('--build');
    expect(readFileSync(join(folder, 'asked'), 'utf8')).toMatch(/,-p,tsconfig.json,--noCheck$/);
  });

  it.runIf(process.platform === 'linux')('compiles the kernels before the build, once', () => {
    setUp();
    file('node_modules/typescript/bin/tsc', compiler);
    file('tsconfig.json', '{}');
    file(
      'scripts/build-native.mjs',
      `import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
      appendFileSync('compiled', process.argv.slice(2).join(' ') + ';');
      mkdirSync('native/build', { recursive: true });
      writeFileSync('native/build/kernels.node', 'addon');`,
    );
    expect(setUp('--build').output).toContain('Compiled the kernels');
    expect(existsSync(join(folder, 'dist/native/build/kernels.node'))).toBe(true);
    file('src/main.ts', 'two');
    setUp('--build');
    expect(readFileSync(join(folder, 'compiled'), 'utf8')).toBe(';--renew;--renew;');
  });

  it.runIf(process.platform === 'linux')(
    'builds without a C compiler, and says what that costs',
    () => {
      setUp();
      file('node_modules/typescript/bin/tsc', compiler);
      file('tsconfig.json', '{}');
      file('scripts/build-native.mjs', 'process.exit(1);');
      const { status, output } = setUp('--build');
      expect([status, output]).toEqual([0, expect.stringContaining('fewer calls on a core')]);
    },
  );

  it('installs no recogniser where the settings want none', () => {
    setUp();
    expect(setUp('--speech')).toEqual({ status: 0, output: '' });
  });
});
