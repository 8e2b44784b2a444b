// Loader of the native artefacts: the kernels (an addon if one was built, else the committed WebAssembly) and the
// weights of the speech detector (made at setup). A missing artefact is a normal result; one that is present but wrong
// is always an error.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { GatewayError } from '../errors/gateway-error.ts';
import { kernelFault } from './kernel-self-test.ts';
import type { Fault } from './self-test-report.ts';

/** SHA-256 of each file of this version. scripts/build-native.mjs updates the kernels' row. */
const artefacts = {
  'kernels.wasm': '616867b28517a4aed2ca480691424dffb6d32179a37c01f8d634f65be0885506',
  'silero-v6-8k.bin': '5d6edcd7dc22557235254332e91dbf29a7ee027dd78ecc9cfad1a80bb2660275',
} as const;

/** Hash of the sources: compilers make different addons, so an addon states its sources. Updated likewise. */
const SOURCES_SHA256 = 'cccba54bdfa5dda216d598bd52d018dfd5e929332d7d51da0c783d092b7dfa8f';
const ADDON = 'kernels.node';
const WASM = 'kernels.wasm';

export type NativeArtifact = keyof typeof artefacts;

/** Folders with artefacts, the first match wins: beside a built program (dist/native), else in the repository. */
export const nativeFolders: readonly string[] = [
  '../native/',
  '../native/build/',
  '../../native/',
  '../../native/build/',
].map((folder) => fileURLToPath(new URL(folder, import.meta.url)));

/** The kernels' exported functions take and give numbers; addresses are byte offsets in `memory`. */
export interface NativeKernels {
  readonly build: 'addon' | 'wasm';
  readonly memory: ArrayBuffer;
  function(name: string): (...values: number[]) => number;
}

// Subset of the WebAssembly API: Node's types leave it to the browser's.
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

/** Bytes of the file, or undefined if no folder has it. Throws NATIVE_BROKEN if the first one found is not this
 *  version's file. */
export function readArtefact(name: NativeArtifact, folders = nativeFolders): Buffer | undefined {
  const path = pathOf(name, folders);
  if (path === undefined) return undefined;
  const bytes = readFileSync(path);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== artefacts[name]) throw new GatewayError('NATIVE_BROKEN', { file: path, sha256 });
  return bytes;
}

/** Loads the fastest build of the kernels that passes its self-test, or undefined if there is none. Throws
 *  NATIVE_BROKEN if the first one found cannot run or was made from other sources. */
export function loadKernels(
  folders = nativeFolders,
  selfTest: (kernels: NativeKernels) => Fault = faultOf,
): NativeKernels | undefined {
  const isSound = (kernels: NativeKernels | undefined) =>
    kernels !== undefined && selfTest(kernels) === undefined;
  const addon = loadAddon(folders);
  if (isSound(addon)) return addon;
  const wasm = loadWasm(folders);
  return isSound(wasm) ? wasm : undefined;
}

/** Faults that self-tests of this thread's builds have found, for the report at start. */
export function kernelFaults(): Fault {
  return [...faults].join(', ') || undefined;
}

/** Adds the fault of a self-test elsewhere: that of the speech detector needs its weights. */
export function addKernelFault(fault: string): void {
  faults.add(fault);
}

const faults = new Set<string>();
const tested = new WeakMap<NativeKernels, { fault: Fault }>();

/** Tests each instance once, before its memory is in use. */
function faultOf(kernels: NativeKernels): Fault {
  const known = tested.get(kernels) ?? { fault: kernelFault(kernels) };
  tested.set(kernels, known);
  if (known.fault !== undefined) faults.add(known.fault);
  return known.fault;
}

let shared: { kernels: NativeKernels | undefined } | undefined;

/** The kernels as loadKernels finds them, one instance for all of this thread, loaded at the first use. */
export function nativeKernels(): NativeKernels | undefined {
  shared ??= { kernels: loadKernels() };
  return shared.kernels;
}

/** Loads the addon. It has one memory per process: each call returns the same kernels, for the main thread only.
 *  Undefined in any other thread. */
export function loadAddon(folders = nativeFolders): NativeKernels | undefined {
  const path = isMainThread ? pathOf(ADDON, folders) : undefined;
  if (path === undefined) return undefined;
  let kernels = addons.get(path);
  if (kernels === undefined) {
    kernels = startAddon(path);
    addons.set(path, kernels);
  }
  return kernels;
}

/** Creates an instance of the WebAssembly build with its own memory. */
export function loadWasm(folders = nativeFolders): NativeKernels | undefined {
  const bytes = readArtefact(WASM, folders);
  return bytes && startWasm(bytes);
}

/** Instantiates a module's bytes. Throws NATIVE_BROKEN; so does `function` for a name it lacks. */
export function startWasm(bytes: Uint8Array): NativeKernels {
  const { exports } = instantiate(bytes);
  const { memory } = exports;
  if (!(memory instanceof WebAssembly.Memory)) throw broken(WASM, 'no memory');
  return kernelsOf('wasm', WASM, memory.buffer, exports);
}

const addons = new Map<string, NativeKernels>();

function startAddon(path: string): NativeKernels {
  const exports = requireAddon(path);
  const { memory, sources } = exports;
  if (sources !== SOURCES_SHA256) {
    throw broken(path, 'made of other sources: npm run build:native, or delete it');
  }
  if (!(memory instanceof ArrayBuffer)) throw broken(path, 'no memory');
  return kernelsOf('addon', path, memory, exports);
}

function requireAddon(path: string): Record<string, unknown> {
  try {
    const exports: unknown = createRequire(import.meta.url)(path);
    if (typeof exports === 'object' && exports !== null) return { ...exports };
  } catch (cause) {
    throw broken(path, 'it does not start', cause);
  }
  throw broken(path, 'it is no addon');
}

function kernelsOf(
  build: NativeKernels['build'],
  file: string,
  memory: ArrayBuffer,
  exports: Record<string, unknown>,
): NativeKernels {
  return {
    build,
    memory,
    function(name) {
      const found = exports[name];
      if (typeof found !== 'function') throw broken(file, `no function ${name}`);
      return found as (...values: number[]) => number; // exports are functions of numbers only
    },
  };
}

function pathOf(name: string, folders: readonly string[]): string | undefined {
  return folders.map((folder) => folder + name).find((candidate) => existsSync(candidate));
}

function instantiate(bytes: Uint8Array): { exports: Record<string, unknown> } {
  try {
    return new WebAssembly.Instance(new WebAssembly.Module(bytes));
  } catch (cause) {
    throw broken(WASM, 'it does not start', cause);
  }
}

function broken(file: string, reason: string, cause?: unknown): GatewayError {
  return new GatewayError('NATIVE_BROKEN', { file, reason }, cause);
}
