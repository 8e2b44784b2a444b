// The kernel's scheduler as it sees a process of ours: which of its threads go first.

import { execFile } from 'node:child_process';
import { getPriority } from 'node:os';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
const source = new URL('../../src/runtime/thread-priority.ts', import.meta.url);

interface Niceness {
  main: number;
  others: number[];
}

/** Niceness of the threads of a new process after `call`. */
async function nicenessAfter(call: string): Promise<Niceness> {
  const code = `
    import { readdirSync } from 'node:fs';
    import { getPriority } from 'node:os';
    import { raiseEventLoopPriority, lowerProcessPriority } from ${JSON.stringify(source.href)};
    ${call};
    const others = readdirSync('/proc/self/task').map(Number).filter((each) => each !== process.pid);
    const main = getPriority(process.pid);
    console.log(JSON.stringify({ main, others: others.map((each) => getPriority(each)) }));`;
  const flags = ['--import', 'tsx', '--input-type=module', '--eval', code];
  const { stdout } = await run(process.execPath, flags, { timeout: 15_000 });
  return JSON.parse(stdout) as Niceness; // Printed above.
}

// Only Linux has a niceness for each thread, and lists them.
describe.skipIf(process.platform !== 'linux')('the threads of a process on Linux', () => {
  const usual = getPriority();
  const aside = Math.min(19, usual + 10);
  const serving = Math.min(19, usual + 7);

  it('gives the event loop precedence over the threads that collect garbage, compile and read files', async () => {
    const { main, others } = await nicenessAfter('raiseEventLoopPriority()');
    expect(main).toBe(usual);
    expect(others.length).toBeGreaterThanOrEqual(4);
    expect(new Set(others)).toEqual(new Set([aside]));
  });

  it('gives a process a lower priority than those that it serves, and its other threads one below its event loop', async () => {
    const { main, others } = await nicenessAfter('lowerProcessPriority()');
    expect(main).toBe(Math.min(19, usual + 3));
    expect(new Set(others)).toEqual(new Set([Math.min(19, usual + 8)]));
  });

  it('leaves a thread that lowers itself at one priority, before or after its process is lowered', async () => {
    const code = `
      import { once } from 'node:events';
      import { getPriority } from 'node:os';
      import { Worker } from 'node:worker_threads';
      import { lowerProcessPriority } from ${JSON.stringify(source.href)};
      const program = \`
        const { readlinkSync } = require('node:fs');
        const { getPriority, setPriority } = require('node:os');
        const { parentPort } = require('node:worker_threads');
        const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
        setPriority(thread, getPriority(thread) + 7);
        parentPort.on('message', () => undefined);
        parentPort.postMessage(thread);\`;
      const open = async () => {
        const worker = new Worker(program, { eval: true, execArgv: [] });
        return (await once(worker, 'message'))[0];
      };
      const early = await open();
      lowerProcessPriority();
      const late = await open();
      console.log(JSON.stringify([getPriority(early), getPriority(late)]));
      process.exit(0);`;
    const flags = ['--import', 'tsx', '--input-type=module', '--eval', code];
    const { stdout } = await run(process.execPath, flags, { timeout: 15_000 });
    const lower = Math.min(19, usual + 10);
    expect(JSON.parse(stdout)).toEqual([lower, lower]);
  });

  it('gives a thread that serves the event loop a lower priority, and only that one', async () => {
    const code = `
      import { readdirSync, readlinkSync } from 'node:fs';
      import { getPriority } from 'node:os';
      import { lowerThreadPriority } from ${JSON.stringify(source.href)};
      lowerThreadPriority();
      const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
      const all = readdirSync('/proc/self/task').map(Number);
      const others = all.filter((each) => each !== thread).map((each) => getPriority(each));
      console.log(JSON.stringify({ main: getPriority(thread), others }));`;
    const flags = ['--import', 'tsx', '--input-type=module', '--eval', code];
    const { stdout } = await run(process.execPath, flags, { timeout: 15_000 });
    expect(JSON.parse(stdout)).toMatchObject({ main: serving });
    expect(new Set((JSON.parse(stdout) as Niceness).others)).toEqual(new Set([usual]));
  });

  it('goes no further down than the kernel has steps', async () => {
    const { main } = await nicenessAfter('for (let i = 0; i < 10; i++) lowerProcessPriority()');
    expect(main).toBe(19);
  });

  it.each([
    ['takes no niceness', '() => undefined', 'the niceness of a thread was not accepted'],
    [
      'refuses it',
      "() => { throw new Error('EPERM') }",
      'the niceness of a thread was not accepted',
    ],
    [
      'has one for the whole process',
      '(_, niceness) => own(process.pid, niceness)',
      'the niceness of a thread is that of the process',
    ],
  ])('finds a kernel that %s', async (_, setPriority, fault) => {
    const code = `
      import { syncBuiltinESMExports } from 'node:module';
      import os from 'node:os';
      const own = os.setPriority;
      os.setPriority = ${setPriority};
      syncBuiltinESMExports();
      const { raiseEventLoopPriority } = await import(${JSON.stringify(source.href)});
      console.log(raiseEventLoopPriority());`;
    const flags = ['--import', 'tsx', '--input-type=module', '--eval', code];
    const { stdout } = await run(process.execPath, flags, { timeout: 15_000 });
    expect(stdout.trim()).toBe(fault);
  });

  it('finds nothing wrong with this kernel', async () => {
    const code = `
      import { raiseEventLoopPriority } from ${JSON.stringify(source.href)};
      console.log(raiseEventLoopPriority());`;
    const flags = ['--import', 'tsx', '--input-type=module', '--eval', code];
    const { stdout } = await run(process.execPath, flags, { timeout: 15_000 });
    expect(stdout.trim()).toBe('undefined');
  });
});
