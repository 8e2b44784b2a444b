import { afterAll, beforeAll, describe } from 'vitest';
import { compiledG722 } from '../../src/codec/g722.ts';
import { loadAddon, loadWasm, type NativeKernels } from '../../src/runtime/native-kernels.ts';
import { buildAddon, compiler } from '../runtime/built-addon.ts';
import { g722Contract } from './g722-contract.ts';

function present(kernels: NativeKernels | undefined): NativeKernels {
  if (kernels === undefined) throw new Error('the kernels are not there');
  return kernels;
}

g722Contract('WebAssembly', () => compiledG722(present(loadWasm())));

// Skipped where no C compiler is present: there is no addon then.
describe.skipIf(compiler === undefined)('by the addon', () => {
  let built: ReturnType<typeof buildAddon>;
  beforeAll(() => {
    built = buildAddon();
  }, 120_000);
  afterAll(() => built.remove());

  g722Contract('addon', () => compiledG722(present(loadAddon([built.folder]))));
});
