// Direct sockets: compiled code (native/src/sockets.c) reads and writes a TCP connection without the event loop. Reads
// are batched at moments that the reader chooses; writes need no request object each. Node keeps the connection: it
// reads at other times, sends what the kernel does not accept at once, and detects the end.

import type { Socket } from 'node:net';

import type { ReadHandler } from './shared-reads.ts';

/** Interface of the compiled code, shared by all connections: each call is over before another begins. Descriptors must
 *  be open sockets. */
export interface SocketKernel {
  /** Buffer that `receive` fills, up to 64 kB. Its reader may change it. */
  readonly received: Buffer;
  /** Buffer that `send` reads from its start, with space for a frame of 65,535 bytes. */
  readonly outgoing: Buffer;
  /** Returns the bytes read, 0 at the peer's end, NOTHING, or less if the connection is broken. */
  receive(descriptor: number): number;
  /** Returns the bytes of `outgoing` that the kernel accepted, NOTHING, or less if the connection is broken. */
  send(descriptor: number, bytes: number): number;
}

/** Code of sockets.c: no data was received, or none accepted. */
const NOTHING = -1;

/** Compiled code that contains sockets.c, as runtime/native-kernels.ts loads it. */
interface Compiled {
  readonly memory: ArrayBuffer;
  function(name: string): (...values: number[]) => number;
}

/** Wraps the compiled code. Throws NATIVE_BROKEN if it lacks sockets.c. */
export function socketKernel(compiled: Compiled): SocketKernel {
  const bytesMax = compiled.function('socketBytesMax')();
  const bufferAt = (name: string): Buffer =>
    Buffer.from(compiled.memory, compiled.function(name)(), bytesMax);
  return {
    received: bufferAt('socketReceived'),
    outgoing: bufferAt('socketOutgoing'),
    receive: compiled.function('socketReceive'),
    send: compiled.function('socketSend'),
  };
}

export interface DirectSocketOptions {
  /** Socket that reads into its own buffer: otherwise it would still read while it is paused. */
  socket: Socket;
  /** Descriptor of that connection. */
  descriptor: number;
  kernel: SocketKernel;
  take: ReadHandler;
  /** Writes the header of a text message of that many bytes. Returns the header's length. */
  writeHead: (into: Buffer, messageBytes: number) => number;
}

export class DirectSocket implements BatchedReads {
  readonly #socket: Socket;
  readonly #descriptor: number;
  readonly #kernel: SocketKernel;
  readonly #take: ReadHandler;
  readonly #writeHead: DirectSocketOptions['writeHead'];
  #isGathering = false;

  constructor({ socket, descriptor, kernel, take, writeHead }: DirectSocketOptions) {
    this.#writeHead = writeHead;
    this.#socket = socket;
    this.#descriptor = descriptor;
    this.#kernel = kernel;
    this.#take = take;
  }

  setBatched(on: boolean): void {
    if (on === this.#isGathering || this.#socket.destroyed) return;
    this.#isGathering = on;
    if (on) this.#socket.pause();
    else this.#socket.resume();
  }

  readNow(): void {
    // The descriptor of a destroyed socket may belong to another one already.
    if (!this.#isGathering || this.#socket.destroyed) return;
    const count = this.#kernel.receive(this.#descriptor);
    if (count > 0) this.#take(this.#kernel.received, count);
    else if (count !== NOTHING) this.setBatched(false); // Node detects the end as well.
  }

  /** Sends a server's text message of up to 65,535 bytes, borrowed, in order with what Node writes. */
  sendText(message: Uint8Array): void {
    const { outgoing } = this.#kernel;
    const headBytes = this.#writeHead(outgoing, message.length);
    outgoing.set(message, headBytes);
    const bytes = headBytes + message.length;
    const isFirst = this.#socket.writableLength === 0 && !this.#socket.destroyed;
    const sent = isFirst ? Math.max(0, this.#kernel.send(this.#descriptor, bytes)) : 0;
    // Node detects an error, too.
    if (sent < bytes) this.#socket.write(Buffer.from(outgoing.subarray(sent, bytes)));
  }
}

/** Batched reads of a connection: at moments that the reader chooses, which costs less with many calls. */
export interface BatchedReads {
  /** Turns batched reads on or off. While on, the listener receives bytes only during `readNow`. The caller must read
   *  until the socket is closed or batching is off: otherwise the end of the connection is not detected. */
  setBatched(on: boolean): void;
  /** Reads what has arrived, up to 64 kB; synchronous. */
  readNow(): void;
}
