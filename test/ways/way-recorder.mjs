// In the gateway, before its first module (`node --import`): records what each way runs. A way begins where the event
// loop calls the gateway: an HTTP request, data of a websocket, a tick of turn-taking, a due background job. To it belong
// the functions that are called from there, also after promises, callbacks and timers of it, until it is taken or has
// reached its exit.

import { AsyncLocalStorage } from 'node:async_hooks';
import { Server } from 'node:http';
import { register } from 'node:module';

register('./instrument-hooks.mjs', import.meta.url);

/** Enough for half a minute of a call. */
const WAYS_MAX = 20_000;
/** A background job is no part of the way that woke it. The other entries belong to the way that calls them, if any. */
const OWN = 'std/job-loop##runOnce';
const STACK_MAX = 60;

const context = new AsyncLocalStorage();
let ways = [];

function enter(entry, body) {
  const isPart = entry !== OWN && context.getStore()?.isOpen === true;
  if (isPart || ways.length >= WAYS_MAX) return body();
  const way = { entry, functions: new Set(callers()), isOpen: true };
  ways.push(way);
  return context.run(way, body);
}

/** The functions above the entry: a socket's, a clock's. Only their files are known. */
function callers() {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = STACK_MAX;
  const { stack = '' } = new Error('for its stack');
  Error.stackTraceLimit = stackTraceLimit;
  const lines = stack.split('\n').filter((line) => !line.includes('/node_modules/'));
  const files = lines.flatMap((line) => /\/dist\/([^():]+)\.js:/.exec(line)?.[1] ?? []);
  return files.map((file) => `${file}#`);
}

globalThis.ways = {
  enter,
  /** With which function ways end. Default: when they are taken. */
  exit: undefined,
  leave(id, body) {
    try {
      return body();
    } finally {
      const way = context.getStore();
      if (way !== undefined && id === this.exit) way.isOpen = false;
    }
  },
  ran(id) {
    const way = context.getStore();
    if (way?.isOpen === true) way.functions.add(id);
  },
  /** The ways since the last time, which end here: entry and functions. */
  take() {
    const taken = ways;
    ways = [];
    for (const way of taken) way.isOpen = false;
    return JSON.stringify(
      taken.map(({ entry, functions }) => ({ entry, functions: [...functions] })),
    );
  },
};

const { emit } = Server.prototype;
Server.prototype.emit = function emitWithin(type, ...values) {
  if (type !== 'request') return emit.call(this, type, ...values);
  return enter('request', () => emit.call(this, type, ...values));
};
