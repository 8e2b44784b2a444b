import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { ownThreadId, processorMsOf } from '../../src/runtime/thread-work.ts';

it.runIf(process.platform === 'linux')(
  'a thread has the processor time of its own work, and none once it has ended',
  async () => {
    const idle = new Worker(
      `const { parentPort } = require('node:worker_threads');
       const { readlinkSync } = require('node:fs');
       parentPort.postMessage(Number(readlinkSync('/proc/thread-self').split('/').at(-1)));
       parentPort.on('message', () => undefined);`,
      { eval: true },
    );
    const idleId = await new Promise<number>((resolve) => idle.once('message', resolve));
    const [own, other] = [processorMsOf(ownThreadId()) ?? 0, processorMsOf(idleId) ?? 0];
    const usedMs = () => (processorMsOf(ownThreadId()) ?? 0) - own;
    while (usedMs() < 100);
    expect((processorMsOf(idleId) ?? 0) - other).toBeLessThan(100);
    await idle.terminate();
    expect(processorMsOf(idleId)).toBeUndefined();
    expect(processorMsOf(0)).toBeUndefined();
  },
);
