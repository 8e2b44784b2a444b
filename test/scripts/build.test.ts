// The build as a fresh clone has it, behind `npm ci`: a folder with sources, the packages that it needs, and a
// compiler that only writes down. `npm run build` by itself made a gateway that stopped with NATIVE_MISSING,
// as the weights of the speech detector were made by `npm start` alone.

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

const MODEL = 'node_modules/@ricky0123/vad-web/dist/silero_vad_v6.onnx';
const WEIGHTS = 'native/build/silero-v6-8k.bin';
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchbay-build-'));
  for (const path of ['scripts/build.mjs', 'scripts/extract-vad.mjs', MODEL]) {
    cpSync(path, join(folder, path), { recursive: true });
  }
  for (const path of ['tsconfig.json', 'package-lock.json', 'src/main.ts']) file(path, '{}');
  file('scripts/bundle-packages.mjs', '');
  file('scripts/build-console.mjs', '');
  const compiler = "const fs = require('node:fs'); fs.mkdirSync('dist', { recursive: true });";
  file('node_modules/typescript/bin/tsc', `${compiler} fs.writeFileSync('dist/main.js', '');`);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function build() {
  return spawnSync(process.execPath, [join(folder, 'scripts/build.mjs')], { encoding: 'utf8' });
}

describe('the build alone', () => {
  it('makes the weights of the speech detector and takes them along', () => {
    expect(build()).toMatchObject({ status: 0, stdout: '' });
    expect(existsSync(join(folder, 'dist/main.js'))).toBe(true);
    const weights = readFileSync(join(folder, 'dist', WEIGHTS));
    expect(weights.equals(readFileSync(WEIGHTS))).toBe(true);
  });

  it('makes them again where they are damaged', () => {
    file(WEIGHTS, 'half');
    expect(build().status).toBe(0);
    expect(readFileSync(join(folder, 'dist', WEIGHTS)).length).toBeGreaterThan(1_000);
  });

  it('leaves with 1 and says why, and keeps an older dist, where they cannot be made', () => {
    file('dist/main.js', 'older');
    rmSync(join(folder, MODEL));
    const { status, stderr } = build();
    expect(status).toBe(1);
    expect(stderr).toContain('is missing. Run npm install with development packages.');
    expect(readFileSync(join(folder, 'dist/main.js'), 'utf8')).toBe('older');
  });

  it('checks types, unlike the build of a start', () => {
    const compiler = "const fs = require('node:fs'); fs.mkdirSync('dist', { recursive: true });";
    const notes = "fs.writeFileSync('asked', process.argv.slice(2).join(' '));";
    file('node_modules/typescript/bin/tsc', `${compiler} ${notes}`);
    build();
    expect(readFileSync(join(folder, 'asked'), 'utf8')).toBe('-p tsconfig.json');
  });

  it('makes an addon of other sources again, or goes on without it', () => {
    file('native/build/kernels.node', 'of other sources');
    file('scripts/build-native.mjs', 'console.log(process.argv[2]);');
    expect(build()).toMatchObject({ status: 0, stderr: expect.stringContaining('--renew') });
    file('scripts/build-native.mjs', 'process.exit(1);');
    expect(build()).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('going on without it'),
    });
  });
});
