// The PostgreSQL server of the gateways: asked past them, and restarted with its data.

import { Client } from 'pg';
import { startServer, type TestServer } from '../store/databases.ts';

const CONNECTIONS_MAX = 200;
const SETTINGS = ['-c', `max_connections=${CONNECTIONS_MAX}`];

export class ClusterDatabase {
  readonly #folder: string;
  #server: TestServer;
  #client: Client | undefined;

  private constructor(folder: string, server: TestServer) {
    this.#folder = folder;
    this.#server = server;
  }

  static async start(folder: string): Promise<ClusterDatabase> {
    return new ClusterDatabase(folder, await startServer(folder, SETTINGS));
  }

  /** By its socket, which another network namespace reaches as well. */
  get url(): string {
    return this.#server.url;
  }

  get pid(): number {
    return this.#server.pid ?? 0;
  }

  async query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    this.#client ??= await connected(this.url);
    return (await this.#client.query<Row>(text, values)).rows;
  }

  /** As after a power failure. */
  async crash(): Promise<void> {
    await this.#disconnect();
    await this.#server.stop();
  }

  async startAgain(): Promise<void> {
    this.#server = await startServer(this.#folder, SETTINGS);
  }

  async end(): Promise<void> {
    await this.#disconnect();
    await this.#server.stop();
  }

  async #disconnect(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.end();
  }
}

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined); // It is ended on purpose.
  await client.connect();
  return client;
}
