// The set-up's processes beside each other, in a folder of its own with an npm, an apt-get and a compiler that only
// write down. The recogniser is looked for below that folder. Once the set-up did one after the other, and a first
// demo took three minutes.

import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
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
  'setup.mjs',
  'prepare.mjs',
  'build.mjs',
  'installed.mjs',
  'progress.mjs',
  'child-steps.mjs',
];
const LIBRARY = 'usr/lib/libpocketsphinx.so.3';
const MODEL = 'usr/share/pocketsphinx/model/en-us/en-us/mdef';
const LOCKED =
  'E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1 (apt-get)';
/** As root it is not asked; else it lets everything through. */
const SUDO = `shift; [ "$1" = kill ] || [ "$1" = true ] || set -- env "$@"; exec "$@"`;

let folder: string;
let child: ChildProcess | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchbay-beside-'));
  for (const script of SCRIPTS) cpSync(`scripts/${script}`, join(folder, 'scripts', script));
  speechPackages({});
  for (const script of ['bundle-packages', 'build-console', 'extract-vad', 'build-native'])
    file(`scripts/${script}.mjs`, '');
  file('src/main.ts', 'one');
  file('package-lock.json', JSON.stringify({ packages: { 'node_modules/zod': { version: '4' } } }));
  file('tsconfig.json', '{}');
  npm('');
  program('sudo', SUDO);
});

afterEach(() => {
  child?.kill('SIGKILL');
  child = undefined;
  rmSync(folder, { recursive: true, force: true });
});

function file(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function read(path: string): string {
  return existsSync(join(folder, path)) ? readFileSync(join(folder, path), 'utf8').trim() : '';
}

/** The script that installs the recogniser, which looks for it below the folder; with shorter times. */
function speechPackages(times: Record<string, number>): void {
  let text = readFileSync('scripts/speech-packages.mjs', 'utf8').replaceAll(
    "'/usr/",
    `'${folder}/usr/`,
  );
  for (const [name, ms] of Object.entries({ LOCK_POLL_MS: 20, ...times })) {
    expect(text).toContain(`const ${name} = `);
    text = text.replace(new RegExp(`(const ${name} =) [\\d_]+`), `$1 ${ms}`);
  }
  file('scripts/speech-packages.mjs', text);
}

/** A command of the machine's, as a shell script in the folder. */
function program(name: string, script: string): void {
  file(`bin/${name}`, `#!/bin/sh\ncd '${folder}'\n${script}\n`);
  chmodSync(join(folder, 'bin', name), 0o755);
}

/** An apt-get that does \`script\` when it installs. \`install\` there puts the recogniser in its place. */
function apt(script: string, update = 'true'): void {
  program(
    'apt-get',
    `[ "$1" = --version ] && exit 0
    echo "$1" >> asked-apt
    install() { mkdir -p ${dirname(LIBRARY)} ${dirname(MODEL)}; touch ${LIBRARY} ${MODEL}; }
    if [ "$1" = update ]; then ${update}; exit; fi
    ${script}`,
  );
}

/** An npm that runs \`script\` and then installs; its packages bring the compiler. */
function npm(script: string): void {
  file(
    'npm.mjs',
    `import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
    ${WAITING}
    ${script}
    mkdirSync('node_modules/zod', { recursive: true });
    writeFileSync('node_modules/zod/package.json', '{}');
    const packages = { 'node_modules/zod': { version: '4' } };
    writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }));
    mkdirSync('node_modules/typescript/bin', { recursive: true });
    writeFileSync('node_modules/typescript/bin/tsc', "require('fs').mkdirSync('dist')");`,
  );
}

/** For another program to have made a file, which shows that both run at the same time. */
const WAITING = `
    async function untilThere(path) {
      for (let tries = 0; !existsSync(path); tries++) {
        if (tries > 200) process.exit(9);
        await new Promise((done) => setTimeout(done, 50));
      }
    }`;
const untilThere = (path: string) =>
  `tries=0; until [ -e ${path} ]; do tries=$((tries + 1)); [ $tries -gt 200 ] && exit 9; sleep 0.05; done`;

interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  output: string;
}

async function setUp(
  options: { flags?: string[]; path?: string; node?: string[]; began?: () => void } = {},
): Promise<Ended> {
  const {
    flags = ['--build', '--speech'],
    path = `${join(folder, 'bin')}:${process.env['PATH']}`,
  } = options;
  const args = [...(options.node ?? []), join(folder, 'scripts/setup.mjs'), ...flags];
  const env = {
    ...process.env,
    PATH: path,
    npm_execpath: join(folder, 'npm.mjs'),
    PATCHBAY_STT: '',
  };
  const started = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  child = started;
  let output = '';
  for (const stream of [started.stdout, started.stderr])
    stream.on('data', (data) => {
      output += String(data);
    });
  return await new Promise((resolve) => {
    started.once('close', (code, signal) => resolve({ code, signal, output }));
  });
}

async function until(isSo: () => boolean): Promise<void> {
  await expect.poll(isSo, { timeout: 10_000, interval: 20 }).toBe(true);
}

function isAlive(pid: string): boolean {
  try {
    process.kill(Number(pid), 0);
    return pid !== '';
  } catch {
    return false;
  }
}

describe('the set-up of packages and recogniser', () => {
  it('installs both at the same time, and says of each that it is done', async () => {
    npm(`writeFileSync('npm-began', ''); await untilThere('apt-began');`);
    apt(`touch apt-began; ${untilThere('npm-began')}; install; echo Unpacking`);
    const { code, output } = await setUp();
    expect(code, output).toBe(0);
    expect(output).toContain('The speech recogniser is installed.');
    expect(output).not.toContain('Unpacking');
    expect(existsSync(join(folder, 'dist/.built-from'))).toBe(true);
    expect(await setUp()).toEqual({ code: 0, signal: null, output: '' });
  });

  it('builds while the recogniser is being installed', async () => {
    apt(`${untilThere('dist/.built-from')}; install`);
    const { code, output } = await setUp();
    expect(code, output).toBe(0);
    expect(output).toContain('The speech recogniser is installed.');
  });

  it.runIf(process.platform === 'linux')(
    'compiles the kernels while packages are installed, and again behind them where that failed',
    async () => {
      apt('install');
      file(
        'scripts/build-native.mjs',
        `import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
        appendFileSync('compiled', 'x');
        if (!existsSync('node_modules')) process.exit(1);
        mkdirSync('native/build', { recursive: true });
        writeFileSync('native/build/kernels.node', 'addon');`,
      );
      npm(`await untilThere('compiled'); await new Promise((done) => setTimeout(done, 300));`);
      const { output } = await setUp();
      expect(output).toContain('Compiled the kernels');
      expect(existsSync(join(folder, 'dist/native/build/kernels.node'))).toBe(true);
    },
  );

  it('shows what apt-get said where it failed, and goes on without a recogniser', async () => {
    apt('echo "E: Unable to fetch some archives" >&2; exit 100');
    const { code, output } = await setUp();
    expect(code).toBe(0);
    expect(output).toContain('[apt-get] E: Unable to fetch some archives');
    expect(output).toContain('callers use the keypad only');
    expect(read('asked-apt')).toBe('install\nupdate\ninstall');
  });

  it('fetches the lists of packages where they are missing', async () => {
    apt('[ -e lists ] || exit 100; install', 'touch lists');
    const { output } = await setUp();
    expect(output).toContain('The speech recogniser is installed.');
    expect(output).not.toContain('[apt-get]');
  });

  it('waits while another program holds a lock of apt', async () => {
    apt(`if [ ! -e locked ]; then touch locked; echo '${LOCKED}' >&2; exit 100; fi; install`);
    const { output } = await setUp();
    expect(output.match(/Another program installs packages/g)).toHaveLength(1);
    expect(output).toContain('The speech recogniser is installed.');
    expect(read('asked-apt')).toBe('install\ninstall');
  });

  it('waits for a lock no longer than its time', async () => {
    speechPackages({ LOCK_MS_MAX: 200 });
    apt(`echo '${LOCKED}' >&2; exit 100`);
    const { code, output } = await setUp();
    expect(code).toBe(0);
    expect(output).toContain(`[apt-get] ${LOCKED}`);
    expect(output).toContain('callers use the keypad only');
  });

  it('waits for apt-get no longer than its time', async () => {
    speechPackages({ APT_MS_MAX: 300 });
    apt('echo $$ > apt-pid; exec sleep 60');
    const { code, output } = await setUp();
    expect(code).toBe(0);
    expect(output).toContain('That did not work');
    expect(isAlive(read('apt-pid'))).toBe(false);
  });

  it('does without apt-get where there is none', async () => {
    const { code, output } = await setUp({ path: join(folder, 'nothing') });
    expect(code).toBe(0);
    expect(output).toContain('no right to install one: callers use the keypad only');
  });

  it('asks nothing of apt-get where the recogniser is there', async () => {
    apt('install');
    for (const path of [LIBRARY, MODEL]) file(path, '');
    await setUp();
    expect(read('asked-apt')).toBe('');
  });
});

describe('the end of the set-up', () => {
  it('ends apt-get, and leaves with 1, where packages cannot be installed', async () => {
    npm(`await untilThere('apt-pid'); console.error('npm error 404'); process.exit(1);`);
    apt(
      `trap 'echo left > apt-left; exit 130' INT; echo $$ > apt-pid; while :; do sleep 0.1; done`,
    );
    const { code, output } = await setUp();
    expect(code).toBe(1);
    expect(output).toContain('[npm ci] npm error 404');
    expect(output).toContain('npm ci failed; see above.');
    expect(read('apt-left')).toBe('left');
    expect(isAlive(read('apt-pid'))).toBe(false);
  });

  it('waits for an apt-get that is at work on a package', async () => {
    npm(`await untilThere('apt-pid'); process.exit(1);`);
    apt(`trap '' INT; echo $$ > apt-pid; sleep 1; install; touch apt-done`);
    expect((await setUp()).code).toBe(1);
    expect(existsSync(join(folder, 'apt-done'))).toBe(true);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'by %s leaves no process behind',
    async (signal) => {
      npm(`writeFileSync('npm-pid', String(process.pid)); await untilThere('never-there');`);
      apt(`echo $$ > apt-pid; exec sleep 60`);
      file(
        'scripts/build-native.mjs',
        `import { spawnSync } from 'node:child_process';
        spawnSync('sh', ['-c', 'echo $$ > cc-pid; exec sleep 60']);`,
      );
      const ended = setUp();
      const pids = ['npm-pid', 'apt-pid', ...(process.platform === 'linux' ? ['cc-pid'] : [])];
      await until(() => pids.every((pid) => isAlive(read(pid))));
      child?.kill(signal);
      const { output, ...end } = await ended;
      expect(end).toEqual({ code: null, signal });
      expect(output).not.toContain('npm ci failed');
      await until(() => !pids.some((pid) => isAlive(read(pid))));
    },
  );

  it('is at once where a second signal follows', async () => {
    npm(`process.on('SIGTERM', () => undefined);
      writeFileSync('npm-pid', String(process.pid)); await untilThere('never-there');`);
    const ended = setUp({ flags: [] });
    await until(() => isAlive(read('npm-pid')));
    child?.kill('SIGTERM');
    await new Promise((done) => setTimeout(done, 200));
    expect(isAlive(read('npm-pid'))).toBe(true);
    child?.kill('SIGTERM');
    expect((await ended).signal).toBe('SIGTERM');
    expect(isAlive(read('npm-pid'))).toBe(false);
  });

  it('comes before anything is installed with a Node that is too old', async () => {
    const old =
      "data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '18.20.1' } })";
    const { code, output } = await setUp({ node: ['--import', old] });
    expect(code).toBe(1);
    expect(output).toContain('Node 20.19 or newer is needed; this is 18.20.1.');
    expect([existsSync(join(folder, 'node_modules')), read('asked-apt')]).toEqual([false, '']);
  });
});
