// A process of the load tool as its parent sees it: started, asked one order after the other, ended. And that
// process' own end, which carries the orders out.

import { type ChildProcess, fork } from 'node:child_process';
import { z } from 'zod';

const reply = z.looseObject({ error: z.string().optional() });

export class OrderProcess<Order extends object, Answer> {
  readonly #child: ChildProcess;
  #settle: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;

  /** `name` is for the error of a process that ends early. */
  constructor(program: URL, { name, flags = [] }: { name: string; flags?: readonly string[] }) {
    this.#child = fork(program, { execArgv: ['--import', 'tsx', ...flags] });
    this.#child.on('message', (message) => {
      const { error } = reply.parse(message);
      // The process is of the same build: only faults are looked for.
      if (error === undefined) this.#settle?.resolve(message as Answer);
      else this.#settle?.reject(new Error(error));
    });
    this.#child.on('exit', () => this.#settle?.reject(new Error(`${name} ended early`)));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** One order at a time. Rejects if it fails, or if the process ends. */
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

/** Carries out what the parent orders, and ends with it. */
export function serveOrders<Order, Answer extends object>(
  carryOut: (order: Order) => Promise<Answer>,
): void {
  process.on('message', (message: unknown) => {
    // The parent is of the same build.
    carryOut(message as Order)
      .then((answer) => process.send?.(answer))
      .catch((error: unknown) => process.send?.({ error: String(error) }));
  });
  process.on('disconnect', () => process.exit(0));
}
