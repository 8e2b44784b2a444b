// Nodes at one PostgreSQL server: what they must have in common, and a connection pooler before it.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { FrontendMessages, fatal } from '../../../src/store/embedded/wire-protocol.ts';
import { openStore, type StoreHandle } from '../../../src/store/open.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { engines, startServer, type TestServer } from '../databases.ts';

const OLD = '11'.repeat(32);
const NEW = '22'.repeat(32);

describe.runIf(engines().includes('server'))('nodes at one server', () => {
  let server: TestServer;
  const folders: string[] = [];
  const open: StoreHandle[] = [];
  beforeAll(async () => {
    server = await startServer();
  }, 30_000);
  afterEach(async () => {
    for (const store of open.splice(0)) await store.close();
  });
  afterAll(async () => {
    await server.stop();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  async function start(keys: string | undefined, databaseUrl = server.url): Promise<StoreHandle> {
    const dataFolder = mkdtempSync(join(tmpdir(), 'patchbay-node-'));
    folders.push(dataFolder);
    const means = { clock: systemClock, random: systemRandom, log: quietLog().log };
    const store = await openStore({
      dataFolder,
      databaseUrl,
      secrets: { keys },
      callLimit: 10,
      node: dataFolder,
      ...means,
    });
    open.push(store);
    return store;
  }

  it('must have the key by which its secrets are sealed', async () => {
    const first = await start(OLD);
    await first.resealSecrets();
    await expect(start(NEW)).rejects.toMatchObject({
      code: 'SECRET_KEYS_DIFFER',
      message: expect.stringContaining('PATCHBAY_SECRET_KEYS'),
    });
    // Nor does a key file of its own do.
    await expect(start(undefined)).rejects.toMatchObject({ code: 'SECRET_KEYS_DIFFER' });
    expect(readdirSync(folders.at(-1) ?? '')).not.toContain('secret.key');
    const rotating = await start(`${NEW},${OLD}`);
    await rotating.resealSecrets();
    await expect(start(OLD)).rejects.toMatchObject({ code: 'SECRET_KEYS_DIFFER' });
    await start(NEW);
  }, 60_000);

  it('wait a moment for a server that is started again, and no longer', async () => {
    const pooler = await Pooler.before(server.url);
    const store = await start(NEW, `${pooler.url}?pgbouncer=1`);
    await pooler.close();
    const asked = store.accounts.concurrentCallLimit('1');
    await new Promise((resolve) => systemClock.after(700, () => resolve(undefined)));
    await pooler.listen();
    expect(await asked).toBeGreaterThanOrEqual(0);
    await pooler.close();
    const failed = await store.accounts.concurrentCallLimit('1').catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    // It is known to be away: the next one need not wait.
    const from = systemClock.monotonicMs();
    await expect(store.accounts.concurrentCallLimit('1')).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
    expect(systemClock.monotonicMs() - from).toBeLessThan(4_000);
    await pooler.listen();
    expect(await store.accounts.concurrentCallLimit('1')).toBeGreaterThanOrEqual(0);
    await open.pop()?.close();
    await pooler.close();
  }, 60_000);

  it('get an error with the remedy where a pooler refuses startup parameters, and work through it afterwards', async () => {
    const pooler = await Pooler.before(server.url);
    try {
      await expect(start(NEW, pooler.url)).rejects.toMatchObject({
        code: 'STORE_POOLER',
        facts: { parameter: expect.stringMatching(/timeout$/) },
        message: expect.stringContaining('pgbouncer=1'),
      });
      const store = await start(NEW, `${pooler.url}?pgbouncer=1`);
      expect(await store.alive()).toBe(true);
      expect(await store.accounts.ensureFirst()).toBeDefined();
    } finally {
      await pooler.close();
    }
  }, 60_000);
});

/** What PgBouncer passes on; it refuses any other parameter. Source: pgbouncer.org/config.html,
 *  `ignore_startup_parameters`. */
const PASSED_ON = new Set([
  ...['user', 'database', 'client_encoding', 'datestyle', 'timezone'],
  ...['standard_conforming_strings', 'application_name'],
]);

/** Stands before a server on a unix socket as PgBouncer does at the beginning of a connection. */
class Pooler {
  readonly #folder: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port = 0;

  private constructor(serverUrl: string) {
    this.#folder = new URL(serverUrl).searchParams.get('host') ?? '';
    this.#server = createServer((client) => this.#accept(client));
  }

  static async before(serverUrl: string): Promise<Pooler> {
    const pooler = new Pooler(serverUrl);
    await pooler.listen();
    return pooler;
  }

  get url(): string {
    return `postgresql://postgres@127.0.0.1:${this.#port}/postgres`;
  }

  /** On the same port as before. */
  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve));
    const address = this.#server.address();
    if (typeof address === 'object' && address !== null) this.#port = address.port;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
    await closed;
  }

  #accept(client: Socket): void {
    this.#sockets.add(client);
    client.on('error', () => undefined);
    client.once('data', (chunk: Buffer) => {
      const messages = new FrontendMessages();
      messages.push(chunk);
      const startup = messages.startup();
      const names = startup?.kind === 'start' ? [...startup.settings.keys()] : [];
      const refused = names.find((name) => !PASSED_ON.has(name.toLowerCase()));
      if (refused !== undefined) {
        client.end(fatal('08P01', `unsupported startup parameter: ${refused}`));
        return;
      }
      const backend = connect(join(this.#folder, '.s.PGSQL.5432'));
      this.#sockets.add(backend);
      backend.on('error', () => client.destroy());
      backend.write(chunk);
      client.pipe(backend).pipe(client);
    });
  }
}
