// A proxy in front of the PBX that does with a connection what a wrong one does, by the head of its first request: refuses
// it, changes it, never answers it, or loses the audio that comes back. It does not interrupt connections (relay.ts does).

import { connect, createServer, type Server, type Socket } from 'node:net';

/** Whether frames of audio pass on their way back from the PBX. */
export type Verdict = { pass: string; losesAudio?: boolean } | { answer: string } | 'silence';
/** `head`: the first bytes of the connection, as latin1. */
export type Rule = (head: string) => Verdict;

const HEAD_END = '\r\n\r\n';
const BINARY = 2;
/** Bytes of an incomplete frame: the PBX sends 20 ms of audio at a time. */
const FRAME_BYTES_MAX = 65_536;

export class FaultyProxy {
  readonly #target: number;
  readonly #rule: Rule;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  port = 0;

  private constructor(target: number, rule: Rule) {
    this.#target = target;
    this.#rule = rule;
    this.#server = createServer((inner) => this.#accept(inner));
  }

  static async open(target: number, rule: Rule): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target, rule);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject);
      proxy.#server.listen(0, '127.0.0.1', resolve);
    });
    const address = proxy.#server.address();
    if (address !== null && typeof address === 'object') proxy.port = address.port;
    return proxy;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(inner: Socket): void {
    this.#keep(inner);
    inner.once('data', (first) => {
      const verdict = this.#rule(first.toString('latin1'));
      if (verdict === 'silence') inner.resume();
      else if ('answer' in verdict) inner.end(verdict.answer);
      else this.#join(inner, verdict);
    });
  }

  #join(inner: Socket, { pass, losesAudio }: Exclude<Verdict, 'silence' | { answer: string }>) {
    const outer = connect(this.#target, '127.0.0.1');
    this.#keep(outer);
    outer.write(pass, 'latin1');
    inner.pipe(outer);
    inner.once('close', () => outer.destroy());
    outer.once('close', () => inner.destroy());
    if (losesAudio !== true) {
      outer.pipe(inner);
      return;
    }
    const others = new OtherFrames();
    outer.on('data', (bytes) => inner.write(others.of(bytes)));
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

/** Extracts from what a websocket server sends the handshake and all frames except the binary ones. Source: RFC
 *  6455, 5.2. */
export class OtherFrames {
  #rest: Buffer = Buffer.alloc(0);
  #isOpen = false;

  of(bytes: Buffer): Buffer {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const passed: Buffer[] = [];
    if (!this.#isOpen) {
      const end = this.#rest.indexOf(HEAD_END);
      if (end === -1) return Buffer.alloc(0);
      this.#isOpen = true;
      passed.push(this.#take(end + HEAD_END.length));
    }
    for (let length = frameBytes(this.#rest); length <= this.#rest.length; ) {
      const frame = this.#take(length);
      if (((frame[0] ?? 0) & 0x0f) !== BINARY) passed.push(frame);
      length = frameBytes(this.#rest);
    }
    if (this.#rest.length > FRAME_BYTES_MAX) throw new Error('a frame of more than 64 KiB');
    return Buffer.concat(passed);
  }

  #take(count: number): Buffer {
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    return taken;
  }
}

/** Bytes of an unmasked frame with its header; infinite while its header is not complete. */
function frameBytes(bytes: Buffer): number {
  const short = (bytes[1] ?? 0) & 0x7f;
  if (bytes.length < 2) return Number.POSITIVE_INFINITY;
  if (short < 126) return 2 + short;
  const headerBytes = short === 126 ? 4 : 10;
  if (bytes.length < headerBytes) return Number.POSITIVE_INFINITY;
  return headerBytes + (short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2)));
}
