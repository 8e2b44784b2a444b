// The load process as its parent sees it: started, pinned to a core, asked step by step.

import { OrderProcess } from '../order-process.ts';
import { goFirst } from './go-first.ts';
import type { Answer, Order } from './load-process.ts';

export class LoadClient extends OrderProcess<Order, Answer> {
  constructor() {
    super(new URL('./load-process.ts', import.meta.url), {
      name: 'the load process',
      // Its collections would pass for the gateway's lateness.
      flags: ['--heap-growing-percent=200'],
    });
    goFirst(this.pid);
  }
}
