// Opens the database for one process: the embedded engine or a server, migrated, with this process among its nodes and
// with maintenance. The repositories over it are open.ts; a supervisor needs none of them.

import { existsSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { codeOf, GatewayError } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import type { Clock } from '../std/clock.ts';
import type { Random } from '../std/random.ts';
import { type DatabaseTarget, openDatabase, openPresence } from './db/connections.ts';
import { type DatabaseTime, databaseTime } from './db/database-time.ts';
import { EpochSocket } from './db/epoch-socket.ts';
import { DatabaseMaintenance } from './db/maintenance.ts';
import { migrate, ownMigrations } from './db/migrate.ts';
import { NodeHeartbeat, type Surroundings } from './db/node-presence.ts';
import { organizationTurns } from './db/organization-lock.ts';
import { EMBEDDED_PACE, SERVER_PACE } from './db/presence-pace.ts';
import type { GatewayAddress, NodeIdentity, StoreContext } from './db/store-context.ts';
import { prepareDataFolder } from './embedded/data-folder.ts';
import { EmbeddedDatabase, embeddedSocketFolder } from './embedded/process-supervisor.ts';
import type { S3Settings } from './files/s3-settings.ts';
import { RunCountMaintenance } from './runs/run-count-maintenance.ts';
import { checkSecretKeys } from './secrets/key-check.ts';
import { SecretBox } from './secrets/secret-box.ts';
import { parseSecretKeys, readKeyFile, type SecretKey } from './secrets/secret-keys.ts';

const KEY_FILE = 'secret.key';

export interface OpenNodeOptions {
  /** Folder of files, key file and embedded database. Created if it is missing. */
  dataFolder: string;
  /** A PostgreSQL server; undefined for the embedded database. */
  databaseUrl: string | undefined;
  /** Secret keys from the configuration (store/secrets/secret-keys.ts); undefined for the key file. Nodes that share a
   *  server must have the same keys. */
  secrets: { keys: string | undefined };
  /** Concurrent calls of an organization without a limit of its own. */
  callLimit: number;
  /** Lifetime of a run's public token, in days. Default: 30. */
  publicLinkDays?: number | undefined;
  /** S3 service of the files. Undefined: they stay in the data folder. */
  s3?: S3Settings | undefined;
  clock: Clock;
  random: Random;
  log: Log;
  /** Another process of this gateway runs the embedded database, and migrates it. */
  isShared?: boolean | undefined;
  /** Work of this process: the embedded engine serves calls first. Default: `api`. */
  traffic?: 'calls' | 'api' | undefined;
  /** Name of this process among the nodes of one server: the same after a restart, never used by two at once. Default:
   *  host name and data folder. */
  node?: string | undefined;
  /** The process that started this worker, whose name is the start of the worker's. */
  gateway?: NodeIdentity | undefined;
  /** Where other gateways reach this one, for the process that has the gateway's own name. */
  address?: GatewayAddress | undefined;
  /** Another process has taken this one's name: this one must end, and must not store anything. */
  onReplaced?: ((error: GatewayError) => void) | undefined;
  /** Clock that tests pass in place of the database's. */
  time?: DatabaseTime | undefined;
  /** Cache folder for the template of new databases. Default: `.cache/patchbay` in the home folder. */
  cacheFolder?: string | undefined;
}

export interface OpenNode {
  readonly context: StoreContext;
  readonly keys: readonly [SecretKey, ...SecretKey[]];
  /** Name and first epoch of this process. */
  readonly identity: NodeIdentity;
  /** Stores whether this process dials campaigns, among which processes they are divided. Never rejects. */
  setDialsCampaigns(dials: boolean): Promise<void>;
  close(): Promise<void>;
}

/** Opens the database. `onReentered`: see `Store`. Throws as `openStore`. */
export async function openNode(
  options: OpenNodeOptions,
  onReentered: () => void = () => undefined,
): Promise<OpenNode> {
  const dataFolder = resolve(options.dataFolder);
  openFolder(options, dataFolder);
  try {
    return await openIn(dataFolder, options, onReentered);
  } catch (error) {
    // The first check may pass, and the disk be full after what the database has written since.
    if (options.databaseUrl === undefined) prepareDataFolder(dataFolder);
    throw error;
  }
}

async function openIn(
  dataFolder: string,
  options: OpenNodeOptions,
  onReentered: () => void,
): Promise<OpenNode> {
  const { clock, random, log, callLimit, publicLinkDays, time = databaseTime } = options;
  const { keys, undoKeyFile } = secretKeys(options, dataFolder);
  const identity = { node: options.node ?? nodeName(dataFolder), epoch: newEpoch(random) };
  const engine = await openEngine(options, dataFolder);
  const { traffic = 'api' } = options;
  const to = { traffic, ready: engine.ready, clock, log };
  const db = openDatabase(engine.target, to);
  const isServer = engine.target.kind === 'server';
  const presence = isServer ? openPresence(engine.target, to) : undefined;
  const secrets = new SecretBox(keys, random);
  const context: StoreContext = {
    ...identity,
    address: options.address,
    formerEpochs: [],
    organizationTurns: organizationTurns(),

    db,
    presence,
    pace: isServer ? SERVER_PACE : EMBEDDED_PACE,
    gateway: options.gateway?.node,
    clock,
    time,
    random,
    secrets,
    callLimit,
    publicLinkDays,
    filesNode: options.s3 && (options.gateway ?? identity).node,
    log,
  };
  const { isAlone } = engine;
  const place = await openPlace(context, { options, dataFolder, isAlone, onReentered });
  const upkeep = new DatabaseMaintenance(engine.target, { clock, log });
  const closeAll = async (): Promise<void> => {
    await Promise.all([db.destroy(), presence?.destroy()]);
    await engine.close();
    await place.close();
  };
  try {
    await migrate(engine.target, ownMigrations(), { clock, log });
    const isFirst = options.gateway === undefined;
    if (options.databaseUrl !== undefined && isFirst) {
      await checkSecretKeys(db, keys).catch((error: unknown) => {
        if (codeOf(error) === 'SECRET_KEYS_DIFFER') undoKeyFile();
        throw error;
      });
    }
    await place.presence.start();
  } catch (error) {
    await closeAll();
    throw error;
  }
  if (engine.isAlone) upkeep.start();
  const counts = new RunCountMaintenance(context, { clock, log });
  if (options.gateway === undefined) counts.start();
  return {
    context,
    keys,
    identity,
    setDialsCampaigns: async (dials) => {
      context.dialsCampaigns = dials;
      await place.presence.beat();
    },
    close: async () => {
      await upkeep.stop();
      await counts.stop();
      await place.presence.stop().catch((error: unknown) => {
        log.warn({ err: error }, 'the node could not be removed from the live nodes');
      });
      await closeAll();
    },
  };
}

/** Prepares the data folder. A full disk prevents the start of an embedded database; where the database is elsewhere,
 *  calls continue without recordings. */
function openFolder({ databaseUrl, log }: OpenNodeOptions, dataFolder: string): void {
  try {
    prepareDataFolder(dataFolder);
  } catch (error) {
    if (databaseUrl === undefined || codeOf(error) !== 'DATA_FOLDER_FULL') throw error;
    log.error({ err: error }, 'recordings cannot be written');
  }
}

/** Name of the gateway on this data folder, among the nodes of one server. */
export function nodeName(dataFolder: string): string {
  return `${hostname()}:${resolve(dataFolder)}`;
}

/** A random positive number of 64 bits. */
function newEpoch(random: Random): string {
  return String(random.bytes(8).readBigUInt64BE() >> 1n);
}

/** Creates the heartbeat, and at a server the socket by which other processes detect this one. */
async function openPlace(
  context: StoreContext,
  of: {
    options: OpenNodeOptions;
    dataFolder: string;
    isAlone: boolean;
    onReentered: () => void;
  },
): Promise<{ presence: NodeHeartbeat; close: () => Promise<void> }> {
  const { options, dataFolder, isAlone, onReentered } = of;
  const { gateway, databaseUrl, log, random, onReplaced } = options;
  const to = { log, newEpoch: () => newEpoch(random), onReplaced, onReentered };
  const open = (around: Surroundings): NodeHeartbeat => new NodeHeartbeat(context, around, to);
  const nothing = (): Promise<void> => Promise.resolve();
  if (isAlone) return { presence: open({ kind: 'alone' }), close: nothing };
  if (gateway !== undefined) {
    const isEmbedded = databaseUrl === undefined;
    return { presence: open({ kind: 'worker', gateway, isEmbedded }), close: nothing };
  }
  const witness = await EpochSocket.open(dataFolder, context, log);
  return { presence: open({ kind: 'server', witness }), close: () => witness.close() };
}

interface OpenEngine {
  target: DatabaseTarget;
  ready: () => Promise<void>;
  /** Whether no other process can use this database. */
  isAlone: boolean;
  close: () => Promise<void>;
}

async function openEngine(options: OpenNodeOptions, dataFolder: string): Promise<OpenEngine> {
  if (options.databaseUrl !== undefined) {
    return {
      target: { kind: 'server', url: options.databaseUrl },
      ready: () => Promise.resolve(),
      isAlone: false,
      close: () => Promise.resolve(),
    };
  }
  const { cacheFolder, clock, log } = options;
  if (options.isShared === true) {
    return {
      target: { kind: 'shared', socketFolder: embeddedSocketFolder(dataFolder) },
      ready: () => Promise.resolve(),
      isAlone: false,
      close: () => Promise.resolve(),
    };
  }
  const embedded = new EmbeddedDatabase({ dataFolder, cacheFolder, clock, log });
  await embedded.start();
  return {
    target: { kind: 'embedded', socketFolder: embedded.socketFolder },
    ready: () => embedded.ready(),
    isAlone: true,
    close: () => embedded.close(),
  };
}

interface OpenedSecretKeys {
  keys: [SecretKey, ...SecretKey[]];
  /** Removes the key file if this start has created it. */
  undoKeyFile: () => void;
}

/** The keys of the configuration or of the key file. A database without its key file is refused: a new key would open
 *  none of its secrets. Throws SECRET_KEY_LOST, CONFIG_INVALID. */
function secretKeys(options: OpenNodeOptions, dataFolder: string): OpenedSecretKeys {
  const { secrets, random, databaseUrl } = options;
  const path = join(dataFolder, KEY_FILE);
  const isNew = secrets.keys === undefined && !existsSync(path);
  if (isNew && databaseUrl === undefined && hasCluster(dataFolder)) {
    throw new GatewayError('SECRET_KEY_LOST', { folder: dataFolder });
  }
  const [first, ...rest] =
    secrets.keys === undefined ? readKeyFile(path, random) : parseSecretKeys(secrets.keys);
  if (first === undefined) throw new GatewayError('SECRET_KEY_MISSING', { keyId: 'any' });
  const undoKeyFile = (): void => {
    if (isNew) rmSync(path, { force: true });
  };
  return { keys: [first, ...rest], undoKeyFile };
}

function hasCluster(dataFolder: string): boolean {
  return existsSync(join(dataFolder, 'postgres', 'PG_VERSION'));
}
