// Opens only the API keys, whether or not a gateway runs: enters no node, migrates nothing, and creates no folder. The
// store of a gateway is open.ts.

import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { sql } from 'kysely';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import type { Clock } from '../std/clock.ts';
import type { Random } from '../std/random.ts';
import { AccountRepository } from './accounts/accounts.ts';
import {
  archiveMachineKey,
  listMachineKeys,
  type MachineKey,
  ownerOfNewKey,
} from './accounts/machine-keys.ts';
import { type DatabaseTarget, openDatabase } from './db/connections.ts';
import { EmbeddedDatabase, embeddedSocketFolder } from './embedded/process-supervisor.ts';

/** PostgreSQL's name for the socket of its usual port. */
const SOCKET_NAME = '.s.PGSQL.5432';

export interface OpenKeysOptions {
  dataFolder: string;
  databaseUrl: string | undefined;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface OpenedKeys {
  list(): Promise<MachineKey[]>;
  /** Creates a key and returns its text; undefined if there is no such organization. */
  create(name: string, organizationId?: string): Promise<string | undefined>;
  archive(id: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Opens the keys. Throws NO_DATA, STORE_LOCKED, STORE_UNAVAILABLE. */
export async function openKeys(options: OpenKeysOptions): Promise<OpenedKeys> {
  const { clock, random, log } = options;
  const { target, ready, close } = await openEngine(options);
  const db = openDatabase(target, { ready, clock, log });
  const closeAll = async (): Promise<void> => {
    await db.destroy();
    await close();
  };
  try {
    const { rows } = await sql<{ has: boolean }>`
      select to_regclass('api_keys') is not null as has`.execute(db);
    if (rows[0]?.has !== true) throw noData(options);
  } catch (error) {
    await closeAll();
    throw error;
  }
  const accounts = new AccountRepository({ db, clock, random, log, callLimit: 0 });
  return {
    list: () => listMachineKeys({ db, clock }),
    async create(name, organizationId) {
      const owner = await ownerOfNewKey({ db, clock }, organizationId);
      return owner && (await accounts.createApiKey(owner, name)).apiKey;
    },
    archive: (id) => archiveMachineKey({ db, clock }, id),
    close: closeAll,
  };
}

interface Engine {
  target: DatabaseTarget;
  ready: () => Promise<void>;
  close: () => Promise<void>;
}

async function openEngine(options: OpenKeysOptions): Promise<Engine> {
  const nothing = (): Promise<void> => Promise.resolve();
  if (options.databaseUrl !== undefined) {
    const target = { kind: 'server', url: options.databaseUrl } as const;
    return { target, ready: nothing, close: nothing };
  }
  const dataFolder = resolve(options.dataFolder);
  if (!existsSync(join(dataFolder, 'postgres'))) throw noData(options);
  const socketFolder = embeddedSocketFolder(dataFolder);
  if (await answers(join(socketFolder, SOCKET_NAME))) {
    return { target: { kind: 'shared', socketFolder }, ready: nothing, close: nothing };
  }
  const embedded = new EmbeddedDatabase({ ...options, dataFolder });
  await embedded.start();
  return {
    target: { kind: 'embedded', socketFolder },
    ready: () => embedded.ready(),
    close: () => embedded.close(),
  };
}

/** Whether a gateway answers on the socket. */
function answers(socketPath: string): Promise<boolean> {
  return new Promise((found) => {
    const socket = connect(socketPath);
    socket.once('connect', () => found(true));
    socket.once('error', () => found(false));
    socket.once('connect', () => socket.destroy());
  });
}

function noData({ dataFolder, databaseUrl }: OpenKeysOptions): GatewayError {
  const place = databaseUrl === undefined ? `the folder ${resolve(dataFolder)}` : 'that database';
  return new GatewayError('NO_DATA', { place });
}
