import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadKernels, nativeFolders, readArtefact, startKernels } from '../../src/audio/native.ts';
import { loadVad } from '../../src/audio/vad.ts';

const scratch = mkdtempSync(join(tmpdir(), 'patchbay-native-'));
afterAll(() => rmSync(scratch, { recursive: true }));

/** A folder with the given files; a string is the path of the file to copy. */
function folder(files: Record<string, string | Buffer>): string {
  const path = `${mkdtempSync(join(scratch, 'f-'))}/`;
  for (const [name, content] of Object.entries(files)) {
    if (typeof content === 'string') copyFileSync(content, path + name);
    else writeFileSync(path + name, content);
  }
  return path;
}

const kernels = 'native/kernels.wasm';
const weights = 'native/build/silero-v6-8k.bin';
const modelFile = 'node_modules/@ricky0123/vad-web/dist/silero_vad_v6.onnx';

function damaged(path: string): Buffer {
  const bytes = readFileSync(path);
  bytes[5_000] = (bytes[5_000] ?? 0) ^ 1;
  return bytes;
}

const broken = expect.objectContaining({ code: 'NATIVE_BROKEN' });

describe('the loader of native artefacts', () => {
  it('finds them in the repository', () => {
    expect(readArtefact('kernels.wasm')?.equals(readFileSync(kernels))).toBe(true);
    expect(readArtefact('silero-v6-8k.bin')?.equals(readFileSync(weights))).toBe(true);
  });

  it('looks beside a built program first', () => {
    expect(nativeFolders[0]).toMatch(/\/src\/native\/$/); // from dist/audio this is dist/native
  });

  it('says which command makes missing weights', () => {
    expect(() => loadVad([folder({ 'kernels.wasm': kernels })])).toThrow(
      'The file native/build/silero-v6-8k.bin is missing. Make it by: node scripts/extract-vad.mjs',
    );
  });

  it('falls back to the portable kernel if there is no other', () => {
    expect(loadVad([folder({ 'silero-v6-8k.bin': weights })]).kernel).toBe('portable');
  });

  it('does not fall back if the kernels are there and damaged', () => {
    const files = { 'silero-v6-8k.bin': weights, 'kernels.wasm': damaged(kernels) };
    expect(() => loadVad([folder(files)])).toThrow(broken);
  });

  it.each([
    ['damaged', damaged(weights)],
    ['cut off', readFileSync(weights).subarray(0, 4_096)],
    ['empty', Buffer.alloc(0)],
  ])('refuses weights that are %s', (_what, bytes) => {
    expect(() => loadVad([folder({ 'silero-v6-8k.bin': bytes, 'kernels.wasm': kernels })])).toThrow(
      broken,
    );
  });

  it('does not look behind a damaged file for a better one', () => {
    const folders = [folder({ 'kernels.wasm': damaged(kernels) }), ...nativeFolders];
    expect(() => loadKernels(folders)).toThrow(broken);
  });

  it('calls kernels that cannot start broken', () => {
    expect(() => startKernels(Buffer.from('0061736d01000000ff', 'hex'))).toThrow(broken);
    expect(() => startKernels(Buffer.from('0061736d01000000', 'hex'))).toThrow(broken); // no memory
    expect(() => startKernels(readFileSync(kernels)).function('nothing')).toThrow(broken);
  });
});

describe('the committed kernels', () => {
  it('were made from the committed sources', () => {
    const record = readFileSync('native/kernels.sha256', 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split('  ') as [string, string]);
    const sources = readdirSync('native/src').map((name) => `native/src/${name}`);
    expect(record.map(([, name]) => name)).toEqual([...sources.sort(), kernels]);
    for (const [sha256, name] of record) {
      // If this fails: npm run build:native, and commit what it writes.
      expect(createHash('sha256').update(readFileSync(name)).digest('hex'), name).toBe(sha256);
    }
  });

  const compiler = 'clang-16';
  const version = spawnSync(compiler, ['--version'], { encoding: 'utf8' }).stdout ?? '';

  // Skipped where clang-16 is not installed: the committed file exists so that nobody needs it.
  it.skipIf(version === '')('come out of the compiler as the same bytes again', () => {
    const out = join(scratch, 'again.wasm');
    execFileSync(process.execPath, ['scripts/build-native.mjs', '--out', out]);
    expect(readFileSync(out).equals(readFileSync(kernels))).toBe(true);
  });
});

describe('the weights', () => {
  it('are written again, and the same, when they are damaged', () => {
    const root = mkdtempSync(join(scratch, 'root-'));
    execFileSync('cp', ['-r', '--parents', 'scripts/extract-vad.mjs', modelFile, root]);
    execFileSync(process.execPath, [join(root, 'scripts/extract-vad.mjs')]);
    const made = join(root, weights);
    expect(readFileSync(made).equals(readFileSync(weights))).toBe(true);
    writeFileSync(made, damaged(weights));
    execFileSync(process.execPath, [join(root, 'scripts/extract-vad.mjs')]);
    expect(readFileSync(made).equals(readFileSync(weights))).toBe(true);
  });

  it('are not taken from any other model file', () => {
    const root = mkdtempSync(join(scratch, 'root-'));
    execFileSync('cp', ['-r', '--parents', 'scripts/extract-vad.mjs', modelFile, root]);
    writeFileSync(join(root, modelFile), damaged(modelFile));
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(root, 'scripts/extract-vad.mjs')],
      { encoding: 'utf8' },
    );
    expect(status).toBe(1);
    expect(stderr).toContain('is not the file this was written for');
  });
});
