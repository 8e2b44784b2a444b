// Compiles native/src/*.c to native/kernels.wasm with Debian's clang-16 and lld-16, writes the hashes of
// sources and result to native/kernels.sha256 (`sha256sum -c` reads it), and renews the hash that
// src/audio/native.ts expects. The result is committed, so that nobody else needs a compiler.
// `--out <file>` only compiles, to that file.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const COMPILER = 'clang-16';
const FLAGS = [
  ...['--target=wasm32', '-nostdlib', '-ffreestanding', '-std=c17', '-Wall', '-Wextra', '-Werror'],
  // What every Node.js since 16 runs: 128-bit SIMD, bulk memory; not relaxed SIMD.
  ...['-O3', '-msimd128', '-mbulk-memory'],
  ...['-Wl,--no-entry', '-Wl,--strip-all', '-Wl,--stack-first', '-Wl,-z,stack-size=16384'],
];

const sources = readdirSync(join(root, 'native/src'))
  .filter((name) => /\.[ch]$/.test(name))
  .sort()
  .map((name) => `native/src/${name}`);

const [flag, file] = process.argv.slice(2);
if (flag === '--out' && file) {
  compile(file);
} else {
  compile(join(root, 'native/kernels.wasm'));
  writeRecord();
}

function compile(out) {
  const units = sources.filter((name) => name.endsWith('.c'));
  try {
    execFileSync(COMPILER, [...FLAGS, '-o', out, ...units], { cwd: root, stdio: 'inherit' });
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    console.error(
      `build-native: ${COMPILER} is not installed (Debian: apt install clang-16 lld-16)`,
    );
    process.exit(1);
  }
}

function writeRecord() {
  const lines = [...sources, 'native/kernels.wasm'].map((name) => `${sha256(name)}  ${name}\n`);
  writeFileSync(join(root, 'native/kernels.sha256'), lines.join(''));
  const loader = join(root, 'src/audio/native.ts');
  const text = readFileSync(loader, 'utf8');
  const row = /('kernels\.wasm': ')[0-9a-zA-Z_]*(')/;
  if (!row.test(text)) throw new Error('src/audio/native.ts has no row for kernels.wasm');
  writeFileSync(loader, text.replace(row, `$1${sha256('native/kernels.wasm')}$2`));
}

function sha256(name) {
  return createHash('sha256')
    .update(readFileSync(join(root, name)))
    .digest('hex');
}
