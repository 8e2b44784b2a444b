// A TCP address in front of a server's unix socket whose packets a test drops: nothing is refused and nothing is
// answered, on old and new connections, until they pass again. What was sent meanwhile arrives then, as TCP repeats it.

import { connect, createServer, type Server, type Socket } from 'node:net';

export class SilentLink {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Opens the address on a free port. `path`: the server's socket. */
  static async open(path: string): Promise<SilentLink> {
    const server = createServer({ pauseOnConnect: true });
    const link = new SilentLink(server);
    server.on('connection', (client) => link.#pass(client, connect(path)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return link;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the link is closed');
    return address.port;
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.pause();
  }

  mend(): void {
    this.#isCut = false;
    for (const socket of this.#sockets) socket.resume();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(client: Socket, server: Socket): void {
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (bytes) => void to.write(bytes));
      from.on('error', () => undefined); // Its close follows.
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      if (this.#isCut) from.pause();
      else from.resume();
    }
  }
}
