// Compiles native/src/.
//   build-native.mjs            the addon, native/build/kernels.node, with the C compiler of this machine
//                               ($CC, or the first found) for this machine's kind of processor; every
//                               processor of that kind can run it. It is optional: without it the
//                               committed WebAssembly runs.
//   build-native.mjs --wasm     native/kernels.wasm with Debian's clang-16 and lld-16; also writes the hashes
//                               of sources and result to native/kernels.sha256 (`sha256sum -c` reads it),
//                               and those that src/runtime/native-kernels.ts expects. The result is committed.
//   … --out <file>              only compiles, to that file
//   build-native.mjs --renew    the addon again, if there is one of other sources: quietly, and if that fails
//                               it is removed, for the gateway would refuse it
//   build-native.mjs --fuzz --out <file>   the sanitizer harness of native/test/

import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const WASM_COMPILER = 'clang-16';
const COMPILERS = ['gcc', 'clang', 'clang-16', 'cc'];
const LANGUAGE = ['-std=gnu17', '-Wall', '-Wextra', '-Werror', '-Wno-psabi'];
// Results must be equal on every machine: no reordering, and a square root sets no error.
const ARITHMETIC = ['-O3', '-fno-math-errno', '-fno-trapping-math'];
const WASM = [
  ...['--target=wasm32', '-nostdlib', '-ffreestanding'],
  // Features of every Node.js since 16: 128-bit SIMD, bulk memory; not relaxed SIMD.
  ...['-msimd128', '-mbulk-memory', '-DINSTRUCTIONS=base'],
  ...['-Wl,--no-entry', '-Wl,--strip-all', '-Wl,--stack-first', '-Wl,-z,stack-size=16384'],
];
/** Sources that are compiled once for each instruction set; the rest is compiled for what every processor of the
 *  kind has. */
const MANIFOLD = ['native/src/vad-network.c'];
const ADDON_ONLY = ['native/src/addon.c', 'native/src/sockets.c'];
const AVX512 = ['-mavx512f', '-mavx512dq', '-mfma', '-mprefer-vector-width=512'];
const INSTRUCTIONS = {
  base: [],
  ...(process.arch === 'x64' && {
    avx2: ['-mavx2', '-mfma'],
    avx512: AVX512,
    amx: [...AVX512, '-mamx-tile', '-mamx-bf16'],
  }),
};

const ADDON = join(root, 'native/build/kernels.node');

const sources = readdirSync(join(root, 'native/src'))
  .filter((name) => /\.[ch]$/.test(name))
  .sort()
  .map((name) => `native/src/${name}`);
const units = sources.filter((name) => name.endsWith('.c'));

const { values: flags } = parseArgs({
  options: {
    wasm: { type: 'boolean', default: false },
    fuzz: { type: 'boolean', default: false },
    renew: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
if (flags.wasm) makeWasm(flags.out);
else if (flags.fuzz && flags.out !== undefined) makeFuzz(flags.out);
else if (flags.renew) renewAddon();
else makeAddon(flags.out ?? ADDON);

function makeWasm(out) {
  const kernels = units.filter((name) => !ADDON_ONLY.includes(name));
  const file = out ?? join(root, 'native/kernels.wasm');
  compile(WASM_COMPILER, [...WASM, ...LANGUAGE, ...ARITHMETIC, '-o', file, ...kernels]);
  if (out === undefined) writeRecord();
}

function makeAddon(out) {
  if (process.platform !== 'linux')
    stop('the addon is made on Linux only; WebAssembly serves here.');
  const shared = [
    '-fPIC',
    '-fvisibility=hidden',
    '-isystem',
    headers(),
    `-DSOURCES="${sourcesSha256()}"`,
  ];
  mkdirSync(dirname(out), { recursive: true });
  // Renamed at the end, so that a reader never finds half a file.
  const partial = `${out}.${process.pid}`;
  link(units, { flags: [...ARITHMETIC, ...shared], linking: ['-shared'], out: partial });
  renameSync(partial, out);
  console.log(`Wrote ${out}`);
}

function renewAddon() {
  if (!existsSync(ADDON) || readFileSync(ADDON).includes(sourcesSha256())) return;
  rmSync(ADDON);
  makeAddon(ADDON);
}

function makeFuzz(out) {
  const kernels = units.filter((name) => !ADDON_ONLY.includes(name));
  const flags = ['-O0', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'];
  const linking = ['-fsanitize=address,undefined'];
  link([...kernels, 'native/test/fuzz.c'], { flags, linking, out });
}

/** Compiles each unit for its instruction sets, and links. */
function link(files, { flags, linking, out }) {
  const compiler = anyCompiler();
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-build-'));
  try {
    const objects = files.flatMap((file) =>
      instructionSets(file).map(([name, features], nth) => {
        const object = join(folder, `${files.indexOf(file)}-${nth}.o`);
        const named = `-DINSTRUCTIONS=${name}`;
        compile(compiler, [...LANGUAGE, ...flags, ...features, named, '-c', '-o', object, file]);
        return object;
      }),
    );
    compile(compiler, [...linking, '-o', out, ...objects, '-lm']);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function instructionSets(file) {
  return Object.entries(MANIFOLD.includes(file) ? INSTRUCTIONS : { base: [] });
}

/** Path of Node's headers: its own where it was installed with them, else those of the npm package. */
function headers() {
  const folders = [
    join(dirname(process.execPath), '../include/node'),
    join(root, 'node_modules/node-api-headers/include'),
  ];
  const found = folders.find((folder) => existsSync(join(folder, 'node_api.h')));
  return found ?? stop('node_api.h is missing; install with development packages.');
}

function anyCompiler() {
  const candidates = process.env.CC ? [process.env.CC] : COMPILERS;
  const runs = (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0;
  return candidates.find(runs) ?? stop('no C compiler here (Debian: apt install gcc libc6-dev)');
}

function compile(compiler, options) {
  try {
    execFileSync(compiler, options, { cwd: root, stdio: 'inherit' });
  } catch (error) {
    if (error.code === 'ENOENT')
      stop(`${compiler} is not installed (Debian: apt install clang-16 lld-16)`);
    stop('the compiler failed; see above.');
  }
}

function writeRecord() {
  const lines = [...sources, 'native/kernels.wasm'].map((name) => `${sha256(name)}  ${name}\n`);
  writeFileSync(join(root, 'native/kernels.sha256'), lines.join(''));
  const loader = join(root, 'src/runtime/native-kernels.ts');
  const rows = [
    [/('kernels\.wasm': ')[0-9a-zA-Z_]*(')/, sha256('native/kernels.wasm')],
    [/(SOURCES_SHA256 = ')[0-9a-zA-Z_]*(')/, sourcesSha256()],
  ];
  let text = readFileSync(loader, 'utf8');
  for (const [row, hash] of rows) {
    if (!row.test(text)) throw new Error(`src/runtime/native-kernels.ts has no ${row}`);
    text = text.replace(row, `$1${hash}$2`);
  }
  writeFileSync(loader, text);
}

/** Hash of all sources, by which an addon of other sources is detected. */
function sourcesSha256() {
  const lines = sources.map((name) => `${sha256(name)}  ${name}\n`);
  return createHash('sha256').update(lines.join('')).digest('hex');
}

function sha256(name) {
  return createHash('sha256')
    .update(readFileSync(join(root, name)))
    .digest('hex');
}

function stop(reason) {
  console.error(`build-native: ${reason}`);
  process.exit(1);
}
