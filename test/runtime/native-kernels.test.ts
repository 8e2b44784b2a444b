import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadVad, loadVadKernel } from '../../src/audio/vad/vad-loader.ts';
import { kernelInUse } from '../../src/metrics/metrics.ts';
import {
  loadAddon,
  loadKernels,
  loadWasm,
  nativeFolders,
  readArtefact,
  startWasm,
} from '../../src/runtime/native-kernels.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { buildAddon, compiler } from './built-addon.ts';

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

/** As scripts/build-native.mjs makes it of the record's lines. */
const sourcesSha256 = createHash('sha256')
  .update(readFileSync('native/kernels.sha256', 'utf8').replace(/^.*kernels\.wasm\n/m, ''))
  .digest('hex');

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

  it('searches beside a built program first', () => {
    expect(nativeFolders[0]).toMatch(/\/src\/native\/$/); // from dist/runtime this is dist/native
  });

  it('says which command makes missing weights', () => {
    expect(() => loadVadKernel([folder({ 'kernels.wasm': kernels })])).toThrow(
      'The file native/build/silero-v6-8k.bin is missing. Create it with: node scripts/extract-vad.mjs',
    );
  });

  it('falls back to the portable kernel if there is no other', () => {
    expect(loadVadKernel([folder({ 'silero-v6-8k.bin': weights })]).name).toBe('portable');
  });

  it('does not fall back if the kernels are there and damaged', () => {
    const files = { 'silero-v6-8k.bin': weights, 'kernels.wasm': damaged(kernels) };
    expect(() => loadVadKernel([folder(files)])).toThrow(broken);
  });

  it.each([
    ['damaged', damaged(weights)],
    ['cut off', readFileSync(weights).subarray(0, 4_096)],
    ['empty', Buffer.alloc(0)],
  ])('refuses weights that are %s', (_what, bytes) => {
    expect(() =>
      loadVadKernel([folder({ 'silero-v6-8k.bin': bytes, 'kernels.wasm': kernels })]),
    ).toThrow(broken);
  });

  it('does not use a good file behind a damaged one', () => {
    const folders = [folder({ 'kernels.wasm': damaged(kernels) }), ...nativeFolders];
    expect(() => loadWasm(folders)).toThrow(broken);
  });

  it('calls kernels that cannot start broken', () => {
    expect(() => startWasm(Buffer.from('0061736d01000000ff', 'hex'))).toThrow(broken);
    expect(() => startWasm(Buffer.from('0061736d01000000', 'hex'))).toThrow(broken); // no memory
    expect(() => startWasm(readFileSync(kernels)).function('nothing')).toThrow(broken);
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
      // If this fails: npm run build:native -- --wasm, and commit what it writes.
      expect(createHash('sha256').update(readFileSync(name)).digest('hex'), name).toBe(sha256);
    }
  });

  const version = spawnSync('clang-16', ['--version'], { encoding: 'utf8' }).stdout ?? '';

  // Skipped where clang-16 is not installed: the committed file exists so that nobody needs it.
  it.skipIf(version === '')('come out of the compiler as the same bytes again', () => {
    const out = join(scratch, 'again.wasm');
    execFileSync(process.execPath, ['scripts/build-native.mjs', '--wasm', '--out', out]);
    expect(readFileSync(out).equals(readFileSync(kernels))).toBe(true);
  });
});

describe('the gauge', () => {
  it('reports which build is in use', async () => {
    const files = { 'silero-v6-8k.bin': weights, 'kernels.wasm': kernels };
    expect(loadVad(new FakeClock(), [folder(files)]).kernel).toBe('wasm');
    expect((await kernelInUse.get()).values).toEqual([
      { labels: { kernel: 'addon' }, value: 0 },
      { labels: { kernel: 'portable' }, value: 0 },
      { labels: { kernel: 'wasm', instructions: 'base' }, value: 1 },
    ]);
  });
});

// Skipped where no C compiler is present: there is no addon then.
describe.skipIf(compiler === undefined)('the addon', () => {
  let built: ReturnType<typeof buildAddon>;
  beforeAll(() => {
    built = buildAddon();
  }, 120_000);
  afterAll(() => built.remove());

  it('is taken before WebAssembly', () => {
    const folders = [
      folder({ 'kernels.wasm': kernels, 'silero-v6-8k.bin': weights }),
      built.folder,
    ];
    expect(loadKernels(folders)?.build).toBe('addon');
    expect(loadVadKernel(folders).name).toBe('addon');
  });

  it('has the functions of the WebAssembly build, by the same names', () => {
    const addon: object = createRequire(import.meta.url)(`${built.folder}kernels.node`);
    const own = ['memory', 'sources'];
    const names = Object.keys(addon).filter(
      (name) => !own.includes(name) && !name.startsWith('socket'), // of which WebAssembly has none
    );
    const code = readdirSync('native/src').map((name) =>
      readFileSync(`native/src/${name}`, 'utf8'),
    );
    const exported = [...code.join('').matchAll(/EXPORT\("(\w+)"\)/g)].map(([, name]) => name);
    expect(names.sort()).toEqual(exported.sort());
    for (const name of names) expect(loadWasm()?.function(name)).toBeInstanceOf(Function);
  });

  it('takes a number that is missing for 0, and lacks what it lacks', () => {
    const addon = loadAddon([built.folder]);
    expect(addon?.function('vadPrepare')()).toBe(1);
    expect(addon?.function('vadPrepare')(-1)).toBe(0);
    expect(() => addon?.function('nothing')).toThrow(broken);
  });

  it('is refused, not passed over, if it is damaged', () => {
    const files = { 'kernels.wasm': kernels, 'kernels.node': Buffer.from('no library') };
    expect(() => loadKernels([folder(files)])).toThrow(broken);
  });

  it('is refused if it was made of other sources', () => {
    const binary = readFileSync(`${built.folder}kernels.node`);
    const at = binary.indexOf(sourcesSha256);
    expect(at).toBeGreaterThan(0);
    binary.write('0'.repeat(64), at);
    const stale = folder({ 'kernels.node': binary });
    expect(() => loadAddon([stale])).toThrow(
      expect.objectContaining({
        code: 'NATIVE_BROKEN',
        facts: expect.objectContaining({ reason: expect.stringContaining('build:native') }),
      }),
    );
  });

  it('is refused to a second thread, which would share its memory', async () => {
    const source = `require('node:worker_threads').parentPort.postMessage((() => {
      try { require(${JSON.stringify(`${built.folder}kernels.node`)}); return 'loaded'; }
      catch (error) { return error.message; }
    })())`;
    loadAddon([built.folder]);
    const worker = new Worker(source, { eval: true });
    const [said] = await once(worker, 'message');
    expect(said).toContain('another thread');
    await worker.terminate();
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
