// A network namespace of one gateway, joined to this machine by a pair of interfaces. Its packets can be dropped, as if
// somebody had pulled the cable: nothing is refused, nothing is answered. Needs root, `ip` and `iptables`.

import { randomInt } from 'node:crypto';
import { isInstalled, run } from './program.ts';

/** Of 10.231.0.0/16, four addresses a namespace. */
const NETS = 16_384;

export class Network {
  /** This machine as the gateway sees it, and the gateway as this machine does. */
  readonly hostAddress: string;
  readonly address: string;
  readonly #name: string;
  readonly #interface: string;
  #isCut = false;

  constructor() {
    const net = randomInt(NETS);
    const [high, low] = [Math.floor(net / 64), (net % 64) * 4];
    this.hostAddress = `10.231.${high}.${low + 1}`;
    this.address = `10.231.${high}.${low + 2}`;
    this.#name = `patchbay-${process.pid}-${net}`;
    this.#interface = `pb${net}`;
    try {
      this.#open();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** The command that runs a program in it. */
  get through(): readonly string[] {
    return ['ip', 'netns', 'exec', this.#name];
  }

  /** Drops every packet in both directions, until `join`. */
  cut(): void {
    for (const chain of ['INPUT', 'OUTPUT']) this.#filter('-A', chain);
    this.#isCut = true;
  }

  join(): void {
    if (!this.#isCut) return;
    for (const chain of ['INPUT', 'OUTPUT']) this.#filter('-D', chain);
    this.#isCut = false;
  }

  /** Removes what `new` has made. */
  close(): void {
    for (const command of [
      ['ip', 'link', 'del', this.#interface],
      ['ip', 'netns', 'del', this.#name],
    ]) {
      try {
        run(command);
      } catch {
        // It was not made.
      }
    }
  }

  #open(): void {
    const [outside, inside] = [this.#interface, `${this.#interface}i`];
    const ip = (...args: string[]): string => run(['ip', ...args]);
    ip('netns', 'add', this.#name);
    ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside, 'netns', this.#name);
    ip('addr', 'add', `${this.hostAddress}/30`, 'dev', outside);
    ip('link', 'set', outside, 'up');
    ip('-n', this.#name, 'addr', 'add', `${this.address}/30`, 'dev', inside);
    ip('-n', this.#name, 'link', 'set', inside, 'up');
    ip('-n', this.#name, 'link', 'set', 'lo', 'up');
  }

  #filter(action: '-A' | '-D', chain: string): void {
    const direction = chain === 'INPUT' ? '-i' : '-o';
    const rule = [direction, `${this.#interface}i`, '-j', 'DROP'];
    run([...this.through, 'iptables', action, chain, ...rule]);
  }
}

/** Why there can be none here; undefined if there can. */
export function networkMissing(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root';
  const missing = ['ip', 'iptables'].filter((program) => !isInstalled(program));
  if (missing.length > 0) return `needs ${missing.join(' and ')}`;
  try {
    new Network().close();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.trim() : 'no network namespaces';
  }
}
