// The command `patchbay` as a clone has it: a folder with the scripts, a source, and a compiler that only
// writes down.

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

/** A command that does not end by itself. */
const ENDED_MS_MAX = 15_000;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchbay-command-'));
  mkdirSync(join(folder, 'scripts'));
  for (const script of ['patchbay.mjs', 'build.mjs', 'progress.mjs']) {
    cpSync(`scripts/${script}`, join(folder, 'scripts', script));
  }
  for (const path of ['tsconfig.json', 'package-lock.json', 'src/cli/cli.ts']) file(path, '{}');
  file('scripts/bundle-packages.mjs', '');
  file('scripts/build-console.mjs', '');
  file('scripts/extract-vad.mjs', "console.log('weights');");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** A command that says what it was given, and leaves with 3. */
const command = `exports.runCli = async (args, io) => {
  io.out(args.join('+') + ' ' + io.env.PATCHBAY_URL);
  io.error('a word');
  return 3;
};`;
const compiler = `const fs = require('node:fs');
  fs.mkdirSync('dist/cli', { recursive: true });
  fs.writeFileSync('dist/cli/cli.js', ${JSON.stringify(command)});
  fs.appendFileSync('built', 'x');`;

interface Started {
  args: string[];
  /** What is typed at the terminal, which ends after it. */
  input?: string;
}

function patchbay({ args, input }: Started) {
  const env = { ...process.env, PATCHBAY_URL: 'http://gw' };
  const terminal = ['--import', 'data:text/javascript,process.stdin.isTTY=true'];
  const command = [join(folder, 'scripts/patchbay.mjs'), ...args];
  return spawnSync(process.execPath, [...(input === undefined ? [] : terminal), ...command], {
    encoding: 'utf8',
    env,
    timeout: ENDED_MS_MAX,
    ...(input !== undefined && { input }),
  });
}

describe('the command', () => {
  it('builds once, and passes on arguments, environment, output and exit code', () => {
    file('node_modules/typescript/bin/tsc', compiler);
    const first = patchbay({ args: ['doctor', '--config'] });
    expect(first).toMatchObject({ status: 3, stdout: 'doctor+--config http://gw' });
    expect(first.stderr).toBe('Building ...\nweights\na word');
    expect(patchbay({ args: ['help'] })).toMatchObject({ status: 3, stderr: 'a word' });
    expect(readFileSync(join(folder, 'built'), 'utf8')).toBe('x');
  });

  it('names its release without a build', () => {
    file('package.json', '{"version": "9.8.7"}');
    expect(patchbay({ args: ['--version'] })).toMatchObject({
      status: 0,
      stdout: '9.8.7\n',
      stderr: '',
    });
  });

  it('says what to do where packages are missing', () => {
    expect(patchbay({ args: ['help'] })).toMatchObject({
      status: 1,
      stderr: 'Packages are missing. Run: npm ci\n',
    });
  });

  it('leaves with 1 if the build failed', () => {
    file('node_modules/typescript/bin/tsc', 'process.exit(2);');
    expect(patchbay({ args: ['help'] })).toMatchObject({
      status: 1,
      stderr: 'Building ...\nweights\n',
    });
    expect(existsSync(join(folder, 'dist/cli/cli.js'))).toBe(false);
  });

  it.each([
    ['yes', 'y\n', 'true'],
    ['no', 'n\n', 'false'],
    ['the end of the input, as Ctrl-C and Ctrl-D are,', '', 'false'],
  ])('takes %s for the answer to a question at a terminal', (_word, input, answer) => {
    rmSync(join(folder, 'src'), { recursive: true });
    file(
      'dist/cli/cli.js',
      `exports.runCli = async (args, io) => {
        io.out(String(await io.confirm('Call them now? ')));
        return 0;
      };`,
    );
    const asked = patchbay({ args: ['doctor'], input });
    expect(asked).toMatchObject({ signal: null, status: 0, stdout: `Call them now? ${answer}` });
  });

  it('runs the build that an image carries, where there are no sources', () => {
    rmSync(join(folder, 'src'), { recursive: true });
    file('dist/cli/cli.js', command);
    expect(patchbay({ args: ['help'] })).toMatchObject({ status: 3, stdout: 'help http://gw' });
  });
});
