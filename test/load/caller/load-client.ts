// The load process as its parent sees it: started, pinned to a core, asked step by step.

import { type ChildProcess, fork } from 'node:child_process';
import { z } from 'zod';
import { goFirst } from './go-first.ts';
import type { Answer, Order } from './load-process.ts';

const answer = z.looseObject({
  cpuMs: z.number(),
  openCalls: z.number(),
  error: z.string().optional(),
});

export class LoadClient {
  readonly #child: ChildProcess;
  #settle: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;

  constructor() {
    this.#child = fork(new URL('./load-process.ts', import.meta.url), {
      // Its collections would pass for the gateway's lateness.
      execArgv: ['--import', 'tsx', '--heap-growing-percent=200'],
    });
    goFirst(this.pid);
    this.#child.on('message', (message) => {
      const { error } = answer.parse(message);
      // Checked as far as it is looked at here; the process is of the same build.
      if (error === undefined) this.#settle?.resolve(message as unknown as Answer);
      else this.#settle?.reject(new Error(error));
    });
    this.#child.on('exit', () => this.#settle?.reject(new Error('the load process ended early')));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** One order at a time. */
  ask(order: Order): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#child.send(order);
    });
  }

  stop(): void {
    this.#settle = undefined;
    if (this.#child.connected) this.#child.disconnect();
  }
}
