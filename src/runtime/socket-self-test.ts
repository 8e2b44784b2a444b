// Self-test of shared reads and direct sockets at start: one loopback connection, upgraded by an HTTP server like media
// connections, carries patterns both ways in each mode. If data does not arrive whole, in order and in time, this
// process uses plain sockets.

import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Log } from '../log.ts';
import { type Clock, nextTick } from '../std/clock.ts';
import { DirectSocket, type SocketKernel } from './direct-socket.ts';
import { type Fault, reportSelfTest } from './self-test-report.ts';
import { attachSharedReads, trustSharedReads } from './shared-reads.ts';

/** Limit of the whole test, since it delays the start: 15 to 26 ms of processor time normally (Node 20 to 24). */
const TEST_MS_MAX = 50;
/** Rounds of the event loop that each wait lasts at least. If the kernel does not run the process for a while, the time
 *  proves nothing, but loopback data arrives within a round or two. */
const ROUNDS_MIN = 20;
/** Sizes of test messages. A 20 ms message has the second size; the others are the extremes of media connections. */
const SIZES = [1, 300, 20_000];
const UPGRADE =
  'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: self-test\r\n\r\n';

export interface SocketSelfTestOptions {
  clock: Clock;
  log: Log;
  /** Undefined if the addon is not present: direct sockets are not tested then. */
  kernel: SocketKernel | undefined;
}

/** Tests, reports, and turns off the features that failed. Returns the kernel if it can be used. */
export async function selfTestSockets(
  options: SocketSelfTestOptions,
): Promise<SocketKernel | undefined> {
  const { log, kernel, clock } = options;
  trustSharedReads(true);
  const faults = await faultsOf(new Wait(clock), kernel);
  trustSharedReads(faults.sharedReads === undefined);
  reportSelfTest(log, 'shared-reads', faults.sharedReads);
  reportSelfTest(log, 'direct-sockets', faults.directSockets);
  return faults.directSockets === undefined ? kernel : undefined;
}

interface SocketFaults {
  sharedReads: Fault;
  directSockets: Fault;
}

async function faultsOf(wait: Wait, kernel: SocketKernel | undefined): Promise<SocketFaults> {
  const line = new Loopback(wait);
  const needsReads = kernel && 'shared reads do not work';
  try {
    const sharedReads = await faultOf(() => line.testReads());
    if (sharedReads !== undefined) return { sharedReads, directSockets: needsReads };
    const directSockets = kernel && (await faultOf(() => line.testDirect(kernel)));
    return { sharedReads, directSockets };
  } finally {
    line.close();
  }
}

async function faultOf(test: () => Promise<void>): Promise<Fault> {
  try {
    await test();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return undefined;
}

/** Waits of one test, with one limit for all of them. */
class Wait {
  readonly #clock: Clock;
  readonly #endMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#endMs = clock.monotonicMs() + TEST_MS_MAX;
  }

  async until(isDone: () => boolean, what: string): Promise<void> {
    for (let round = 0; !isDone(); round++) {
      if (round >= ROUNDS_MIN && this.#clock.monotonicMs() > this.#endMs) {
        throw new Error(`no ${what} within ${TEST_MS_MAX} ms`);
      }
      await nextTick();
    }
  }

  /** Waits long enough for data that must not arrive. */
  async rounds(): Promise<void> {
    for (let round = 0; round < ROUNDS_MIN; round++) await nextTick();
  }
}

/** Both ends of the connection, and the data received at each. */
class Loopback {
  readonly #wait: Wait;
  readonly #http = createServer();
  #peer: Socket | undefined;
  #own: { socket: Socket; descriptor: number } | undefined;
  #received = Buffer.alloc(0);
  #atPeer = Buffer.alloc(0);
  #hasEnded = false;
  #fault: Error | undefined;

  constructor(wait: Wait) {
    this.#wait = wait;
  }

  async testReads(): Promise<void> {
    const accepted = await this.#connect();
    const reads = attachSharedReads(accepted, (bytes, count) => this.#take(bytes, count));
    if (!('descriptor' in reads)) {
      accepted.destroy();
      throw new Error('a connection could not be taken over');
    }
    this.#own = reads;
    reads.socket.on('error', (error) => this.#fail(error));
    reads.socket.once('end', () => {
      this.#hasEnded = true;
    });
    for (const size of SIZES) await this.#expectFromPeer(size);
    for (const size of SIZES) await this.#expectAtPeer(size, (bytes) => reads.socket.write(bytes));
  }

  /** Called after `testReads`. */
  async testDirect(kernel: SocketKernel): Promise<void> {
    const { own } = this.#ends();
    const take = (bytes: Buffer, count: number): void => this.#take(bytes, count);
    const direct = new DirectSocket({ ...own, kernel, take, writeHead: () => 0 });
    for (const size of SIZES) await this.#expectAtPeer(size, (bytes) => direct.sendText(bytes));
    direct.setBatched(true);
    for (const size of SIZES) await this.#expectBatched(size, () => direct.readNow());
    direct.setBatched(false);
    for (const size of SIZES) await this.#expectFromPeer(size);
    this.#ends().peer.end();
    await this.#until(() => this.#hasEnded, 'end of the connection');
  }

  close(): void {
    this.#peer?.destroy();
    this.#own?.socket.destroy();
    this.#http.close();
    this.#http.closeAllConnections();
  }

  async #connect(): Promise<Duplex> {
    let accepted: Duplex | undefined;
    this.#http.on('error', (error) => this.#fail(error));
    this.#http.once('upgrade', (_, socket) => {
      accepted = socket;
    });
    this.#http.listen(0, '127.0.0.1');
    await this.#until(() => this.#http.listening, 'loopback listener');
    const { port } = this.#http.address() as AddressInfo; // a TCP server has one of this kind
    const peer = connect(port, '127.0.0.1');
    peer.setNoDelay(true); // Each pattern is sent at once.
    this.#peer = peer;
    peer.on('error', (error) => this.#fail(error));
    peer.on('data', (chunk: Buffer) => {
      this.#atPeer = Buffer.concat([this.#atPeer, chunk]);
    });
    peer.write(UPGRADE);
    await this.#until(() => accepted !== undefined, 'loopback connection');
    return accepted as Duplex; // just waited for
  }

  async #expectFromPeer(size: number): Promise<void> {
    const pattern = patternOf(size);
    this.#received = Buffer.alloc(0);
    this.#ends().peer.write(pattern);
    await this.#until(() => this.#received.length >= size, 'bytes read');
    if (!this.#received.equals(pattern)) throw new Error('other bytes read than were sent');
  }

  async #expectAtPeer(size: number, send: (bytes: Buffer) => void): Promise<void> {
    const pattern = patternOf(size);
    this.#atPeer = Buffer.alloc(0);
    send(pattern);
    await this.#until(() => this.#atPeer.length >= size, 'bytes written');
    if (!this.#atPeer.equals(pattern)) throw new Error('other bytes written than were given');
  }

  async #expectBatched(size: number, readNow: () => void): Promise<void> {
    const pattern = patternOf(size);
    this.#received = Buffer.alloc(0);
    this.#ends().peer.write(pattern);
    await this.#wait.rounds();
    if (this.#received.length > 0) throw new Error('Node reads a connection that is paused');
    const taken = (): boolean => {
      readNow();
      return this.#received.length >= size;
    };
    await this.#until(taken, 'bytes read at a turn');
    if (!this.#received.equals(pattern)) throw new Error('other bytes read at a turn than sent');
  }

  #until(isDone: () => boolean, what: string): Promise<void> {
    return this.#wait.until(() => {
      if (this.#fault !== undefined) throw this.#fault;
      return isDone();
    }, what);
  }

  #ends() {
    if (this.#peer === undefined || this.#own === undefined) throw new Error('not connected');
    return { peer: this.#peer, own: this.#own };
  }

  #take(bytes: Buffer, count: number): void {
    this.#received = Buffer.concat([this.#received, bytes.subarray(0, count)]);
  }

  #fail(error: Error): void {
    this.#fault ??= error;
  }
}

/** Test bytes: neighbours differ, and so do sizes. */
function patternOf(size: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: size }, (_, nth) => nth * 7 + (nth >> 8) + size));
}
