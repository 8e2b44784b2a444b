// Runs flite's command-line program, built for WASI, without files: arguments in, a WAV file and printed text out of
// memory. Each run uses a new instance of the program.

import { createFliteSystem, type FliteOutput, ProgramExit } from './flite-wasi.ts';

// Subset of the WebAssembly API: Node's types leave it to the browser's.
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Memory {
    readonly buffer: ArrayBuffer;
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, unknown>>);
    readonly exports: Record<string, unknown>;
  }
}

export interface FliteProgram {
  /** Prepares the next run (7 ms), so that `run` only synthesises. */
  prepare(): void;
  /** Runs to the end, synchronously. Throws if the program does not write `-o`, or exits with an error. */
  run(args: readonly string[]): FliteOutput;
}

export type FliteModule = WebAssembly.Module;

/** Compiles flite.wasm (15 ms). The module may be passed to worker threads. */
export function compileFlite(bytes: Uint8Array): FliteModule {
  return new WebAssembly.Module(bytes);
}

export function createFliteProgram(module: FliteModule): FliteProgram {
  let ready: ReturnType<typeof instantiate> | undefined;
  return {
    prepare() {
      ready ??= instantiate(module);
    },
    run(args) {
      const { run } = ready ?? instantiate(module);
      ready = undefined;
      return run(['flite', ...args]);
    },
  };
}

function instantiate(module: FliteModule): { run(args: string[]): FliteOutput } {
  const system = createFliteSystem();
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: system.calls });
  const { memory, _start: start } = instance.exports;
  if (!(memory instanceof WebAssembly.Memory) || typeof start !== 'function') {
    throw new TypeError('not a WASI program');
  }
  return {
    run(args) {
      system.begin(memory, args);
      try {
        start();
      } catch (error) {
        if (!(error instanceof ProgramExit) || error.status !== 0) throw error;
      }
      const output = system.output();
      if (output.wave.length === 0) throw new Error('flite wrote no sound');
      return output;
    },
  };
}
