// A Redis server that keeps nothing: killed, hung and started again at the same port.

import { join } from 'node:path';
import { freePort } from '../../fakes/free-port.ts';
import { Program } from './program.ts';

export class Redis {
  readonly url: string;
  readonly #port: number;
  readonly #folder: string;
  readonly #addresses: readonly string[];
  readonly #settings: readonly string[];
  #program: Program | undefined;

  private constructor(
    port: number,
    folder: string,
    { addresses, settings }: { addresses: readonly string[]; settings: readonly string[] },
  ) {
    this.url = `redis://${addresses.at(-1)}:${port}`;
    this.#port = port;
    this.#folder = folder;
    this.#addresses = addresses;
    this.#settings = settings;
  }

  /** `addresses`: where it listens. Its URL has the last one. `settings`: more arguments. */
  static async start(
    folder: string,
    addresses = ['127.0.0.1'],
    settings: readonly string[] = [],
  ): Promise<Redis> {
    const redis = new Redis(await freePort(), folder, { addresses, settings });
    await redis.start();
    return redis;
  }

  get pid(): number {
    return this.#program?.pid ?? 0;
  }

  async start(): Promise<void> {
    const keepsNothing = ['--save', '', '--appendonly', 'no', '--protected-mode', 'no'];
    this.#program = new Program({
      command: [
        'redis-server',
        ...['--port', String(this.#port), '--dir', this.#folder],
        ...['--bind', ...this.#addresses],
        ...keepsNothing,
        ...this.#settings,
      ],
      logFile: join(this.#folder, 'redis.log'),
    });
    await this.#program.listening(this.#port);
  }

  /** Connections stay open, and nothing is answered. */
  suspend(): void {
    this.#program?.signal('SIGSTOP');
  }

  resume(): void {
    this.#program?.signal('SIGCONT');
  }

  async kill(): Promise<void> {
    await this.#program?.end('SIGKILL');
    this.#program = undefined;
  }
}
