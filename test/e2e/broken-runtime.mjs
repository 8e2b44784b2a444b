// Loaded before a gateway: breaks on this Node all that runtime/ relies on of its internals, as another version
// or another kernel might.

import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import threads from 'node:worker_threads';

// Shared reads: the buffer that was given stays empty.
process.binding('tcp_wrap').TCP.prototype.useUserBuffer = () => undefined;

// Thread priority: no niceness is taken.
os.setPriority = () => undefined;

// Listening handle: nothing binds apart from a server.
net._createServerHandle = undefined;

// The watchdog's thread ends at once.
threads.Worker = class extends threads.Worker {
  constructor(entry, options) {
    super(options?.name === 'watchdog' ? new URL('data:text/javascript,') : entry, options);
  }
};

// Kernels: a compiled G.722 that encodes nothing, and direct sockets that send nothing.
const { Instance } = WebAssembly;
WebAssembly.Instance = function broken(...given) {
  const { exports } = new Instance(...given);
  return { exports: 'g722Encode' in exports ? { ...exports, g722Encode: () => 0 } : exports };
};
const { dlopen } = process;
process.dlopen = (module, file, ...flags) => {
  dlopen.call(process, module, file, ...flags);
  if (!file.endsWith('kernels.node')) return;
  module.exports = { ...module.exports, g722Encode: () => 0, socketSend: (_, bytes) => bytes };
};

syncBuiltinESMExports();
