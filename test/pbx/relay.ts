// The network between the gateway and the PBX: TCP relays on loopback, which the run interrupts as a reloaded proxy or a
// flushed firewall does. Connections of media and of events can be interrupted apart, by their first bytes.

import { connect, createServer, type Server, type Socket } from 'node:net';

/** `media`: connections for audio alone. */
export type Interruption = 'none' | 'media' | 'all';

interface Pair {
  inner: Socket;
  outer: Socket;
  isMedia: boolean;
}

/** Paths of media websockets: at Asterisk, and at the gateway. */
const MEDIA_PATH = /^GET \/(media\/|api\/v1\/telephony\/ws\/)/;

export interface RelayFacts {
  /** Default: any. */
  host?: string;
  port?: number;
  target: number;
  /** All its connections carry audio: AudioSocket. */
  isMedia?: boolean;
}

export class Relay {
  readonly #facts: RelayFacts;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #interruption: Interruption = 'none';
  port = 0;

  private constructor(facts: RelayFacts) {
    this.#facts = facts;
    this.#server = createServer((inner) => this.#accept(inner));
  }

  static async open(facts: RelayFacts): Promise<Relay> {
    const relay = new Relay(facts);
    relay.port = facts.port ?? 0;
    await relay.#listen();
    return relay;
  }

  /** Resets the connections that it is about, and refuses others, until the next change. */
  async interrupt(interruption: Interruption): Promise<void> {
    this.#interruption = interruption;
    for (const pair of this.#pairs) {
      if (interruption === 'all' || (interruption === 'media' && pair.isMedia)) drop(pair);
    }
    if (interruption === 'all') await this.#close();
    else if (!this.#server.listening) await this.#listen();
  }

  async stop(): Promise<void> {
    for (const pair of this.#pairs) drop(pair);
    await this.#close();
  }

  #accept(inner: Socket): void {
    const outer = connect(this.#facts.target, '127.0.0.1');
    const pair: Pair = { inner, outer, isMedia: this.#facts.isMedia === true };
    this.#pairs.add(pair);
    inner.once('data', (first) => {
      pair.isMedia ||= MEDIA_PATH.test(first.toString('latin1', 0, 64));
      if (this.#interruption === 'media' && pair.isMedia) drop(pair);
    });
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      from.setNoDelay(true);
      from.on('error', () => drop(pair));
      from.on('close', () => {
        drop(pair);
        this.#pairs.delete(pair);
      });
      from.pipe(to);
    }
    if (this.#interruption === 'media' && pair.isMedia) drop(pair);
  }

  #listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.port, this.#facts.host ?? '127.0.0.1', () => {
        this.#server.off('error', reject);
        const address = this.#server.address();
        if (address !== null && typeof address === 'object') this.port = address.port;
        resolve();
      });
    });
  }

  #close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#server.listening) this.#server.close(() => resolve());
      else resolve();
    });
  }
}

function drop({ inner, outer }: Pair): void {
  inner.resetAndDestroy();
  outer.resetAndDestroy();
}
