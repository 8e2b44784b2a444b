// HAProxy in front of the gateways, with the file of deploy/cluster. `token`: as it stands, each media socket goes to the
// gateway that its token names. `round-robin`: it goes to the next one, as with a balancer that cannot read tokens.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { haproxyOnLoopback, replaced } from '../../deploy/haproxy-file.ts';
import { freePort } from '../../fakes/free-port.ts';
import { Program } from './program.ts';

const RULE = /^ {4}use-server .*$/m;
const SERVERS = /(^ {4}server gw\d .*\n)+/m;

export type Routing = 'token' | 'round-robin';

export interface BalancedServer {
  /** As media tokens name it. */
  name: string;
  url: string;
}

export class Balancer {
  readonly url: string;
  readonly #file: string;
  readonly #logFile: string;
  readonly #port: number;
  readonly #figuresPort: number;
  #program: Program | undefined;

  private constructor(port: number, figuresPort: number, folder: string) {
    this.url = `http://127.0.0.1:${port}`;
    this.#port = port;
    this.#figuresPort = figuresPort;
    this.#file = join(folder, 'haproxy.cfg');
    this.#logFile = join(folder, 'haproxy.log');
  }

  /** Its URL is known before its servers are: they get it as a setting. */
  static async prepare(folder: string): Promise<Balancer> {
    return new Balancer(await freePort(), await freePort(), folder);
  }

  get pid(): number {
    return this.#program?.pid ?? 0;
  }

  configure(servers: readonly BalancedServer[], routing: Routing): void {
    const ports = { public: this.#port, figures: this.#figuresPort, gateways: [1, 2] } as const;
    const lines = servers.map(({ name, url }) => `    server ${name} ${new URL(url).host} check\n`);
    const anywhere = [
      [RULE, ''],
      [/^ {4}balance leastconn$/m, '    balance roundrobin'],
    ] as const;
    const changes = routing === 'token' ? [] : anywhere;
    const text = replaced(haproxyOnLoopback(ports), [[SERVERS, lines.join('')], ...changes]);
    writeFileSync(this.#file, text);
  }

  async start(): Promise<void> {
    this.#program = this.#run([]);
    await this.#program.listening(this.#port);
  }

  /** Connections of the former process last until they end. */
  async reload(): Promise<Program | undefined> {
    const former = this.#program;
    this.#program = this.#run(['-sf', String(former?.pid ?? 0)]);
    await this.#program.listening(this.#port);
    return former;
  }

  async kill(): Promise<void> {
    await this.#program?.end('SIGKILL');
    this.#program = undefined;
  }

  #run(more: readonly string[]): Program {
    const command = ['haproxy', '-db', '-f', this.#file, ...more];
    return new Program({ command, logFile: this.#logFile });
  }
}
