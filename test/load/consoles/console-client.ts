// Open consoles beside a measurement, as its parent sees them.

import type { LoadTarget } from '../load-target.ts';
import { OrderProcess } from '../order-process.ts';
import type { ConsoleFigures, ConsoleOrder } from './console-process.ts';

export class ConsoleClient {
  readonly #process = new OrderProcess<ConsoleOrder, ConsoleFigures>(
    new URL('./console-process.ts', import.meta.url),
    { name: 'the process of the consoles' },
  );

  readonly #consoles: number;

  constructor(consoles: number) {
    this.#consoles = consoles;
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** All show their board and a call when this resolves. */
  async start({ webhookUrl, agent }: LoadTarget): Promise<void> {
    if (agent === undefined) throw new Error('consoles need an agent of the tool');
    const address = { url: new URL(webhookUrl).origin, apiKey: agent.apiKey };
    await this.#process.ask({ order: 'open', address, consoles: this.#consoles });
  }

  async measure(): Promise<void> {
    await this.#process.ask({ order: 'measure' });
  }

  report(): Promise<ConsoleFigures> {
    return this.#process.ask({ order: 'report' });
  }

  end(): void {
    this.#process.stop();
  }
}
