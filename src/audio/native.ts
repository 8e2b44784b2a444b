// The one loader of what native/ makes: the SIMD kernels (WebAssembly, committed) and the weights of the
// speech detector (made at setup). "Not present" is an answer; "present but wrong" is an error, always.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { GatewayError } from '../errors.ts';

/** SHA-256 of each file as this version knows it. scripts/build-native.mjs renews the kernels' row. */
const artefacts = {
  'kernels.wasm': '8bf70c6dcf9fd677b8e0df986511b75ae4cfa1f0eb9d17d9bc28855fe86f379d',
  'silero-v6-8k.bin': '5d6edcd7dc22557235254332e91dbf29a7ee027dd78ecc9cfad1a80bb2660275',
} as const;

export type Artefact = keyof typeof artefacts;

/** Where artefacts may lie, first wins: beside a built program (dist/native), else in the repository. */
export const nativeFolders: readonly string[] = [
  '../native/',
  '../native/build/',
  '../../native/',
  '../../native/build/',
].map((folder) => fileURLToPath(new URL(folder, import.meta.url)));

/** The kernels' exported functions take and give numbers; addresses are byte offsets in `memory`. */
export interface Kernels {
  readonly memory: ArrayBuffer;
  function(name: string): (...values: number[]) => number;
}

// The part of WebAssembly's interface used here; Node's types leave it to the browser's.
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module);
    readonly exports: Record<string, unknown>;
  }
  class Memory {
    readonly buffer: ArrayBuffer;
  }
}

/** The file's bytes, or undefined if it is in none of the folders. Throws NATIVE_BROKEN if the first one
 *  found is not the file this version was built with. */
export function readArtefact(name: Artefact, folders = nativeFolders): Buffer | undefined {
  const path = folders.map((folder) => folder + name).find((candidate) => existsSync(candidate));
  if (path === undefined) return undefined;
  const bytes = readFileSync(path);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== artefacts[name]) throw new GatewayError('NATIVE_BROKEN', { file: path, sha256 });
  return bytes;
}

/** A new instance of the kernels with its own memory, or undefined if they are not present. Throws
 *  NATIVE_BROKEN if they are but cannot run. */
export function loadKernels(folders = nativeFolders): Kernels | undefined {
  const bytes = readArtefact('kernels.wasm', folders);
  return bytes && startKernels(bytes);
}

/** Instantiates a module's bytes. Throws NATIVE_BROKEN; so does `function` for a name it lacks. */
export function startKernels(bytes: Uint8Array): Kernels {
  const { exports } = instantiate(bytes);
  const { memory } = exports;
  if (!(memory instanceof WebAssembly.Memory)) throw broken('no memory');
  return {
    memory: memory.buffer,
    function(name) {
      const found = exports[name];
      if (typeof found !== 'function') throw broken(`no function ${name}`);
      return found as (...values: number[]) => number; // exports are functions of numbers only
    },
  };
}

function instantiate(bytes: Uint8Array): { exports: Record<string, unknown> } {
  try {
    return new WebAssembly.Instance(new WebAssembly.Module(bytes));
  } catch (cause) {
    throw broken('it does not start', cause);
  }
}

function broken(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('NATIVE_BROKEN', { file: 'kernels.wasm', reason }, cause);
}
