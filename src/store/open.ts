// Opens the store: the embedded database or a server, migrated, with its repositories, the files and their links.

import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { type Kysely, sql } from 'kysely';
import { codeOf, GatewayError } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import type { Clock } from '../std/clock.ts';
import type { Random } from '../std/random.ts';
import { AccountRepository } from './accounts/accounts.ts';
import { OrganizationRepository } from './accounts/organizations.ts';
import { UserRepository } from './accounts/users.ts';
import { campaignStore } from './campaigns/campaign-store.ts';
import { contactStore } from './campaigns/contact-store.ts';
import { prepareDataFolder } from './data-folder.ts';
import { type DatabaseTarget, openDatabase } from './db/connections.ts';
import { type DatabaseTime, databaseTime } from './db/database-time.ts';
import { EpochSocket } from './db/epoch-socket.ts';
import { DatabaseMaintenance } from './db/maintenance.ts';
import { migrate, ownMigrations } from './db/migrate.ts';
import { NodeHeartbeat, type Surroundings } from './db/node-presence.ts';
import type { NodeIdentity, StoreContext } from './db/store-context.ts';
import type { Tables } from './db/tables.ts';
import { postCallJobStore } from './deliveries/post-call-jobs.ts';
import { resealSigningSecrets, signingSecretStore } from './deliveries/signing-secrets.ts';
import { deliveryStore } from './deliveries/webhook-deliveries.ts';
import { EmbeddedDatabase, embeddedSocketFolder } from './embedded/process-supervisor.ts';
import type { FileStore } from './files/file-store.ts';
import { LocalFileStore } from './files/local-file-store.ts';
import { FileLinks } from './files/signed-links.ts';
import { ClipRepository } from './library/clips.ts';
import { CredentialRepository, resealCredentials } from './library/credentials.ts';
import {
  ModelConfigurationRepository,
  resealModelConfigurations,
} from './library/model-configurations.ts';
import { resealTools } from './library/sealed-headers.ts';
import { ServiceFaultRepository } from './library/service-faults.ts';
import { ToolRepository } from './library/tools.ts';
import { ReportRepository } from './runs/reports.ts';
import { RunCountMaintenance } from './runs/run-count-maintenance.ts';
import { IdempotentRunStarts } from './runs/run-starts.ts';
import { runStore } from './runs/run-store.ts';
import { TextChatRepository } from './runs/text-chats.ts';
import { checkSecretKeys, noteSealingKey } from './secrets/key-check.ts';
import { SecretBox } from './secrets/secret-box.ts';
import { deriveKey, parseSecretKeys, readKeyFile, type SecretKey } from './secrets/secret-keys.ts';
import type { Store } from './store.ts';
import { LeaseRepository } from './telephony/configuration-leases.ts';
import { resealConfigurations } from './telephony/configurations.ts';
import { telephonyStore } from './telephony/telephony-store.ts';
import { TrunkRepository } from './telephony/trunks.ts';
import { WebhookNonces } from './telephony/webhook-nonces.ts';
import { FolderRepository } from './workflows/folders.ts';
import { type OversizedVersion, oversizedVersions } from './workflows/oversized-versions.ts';
import { resealWorkflows } from './workflows/reseal-workflows.ts';
import { workflowStore } from './workflows/workflow-store.ts';

const ALIVE_MS_MAX = 1_000;

export interface OpenStoreOptions {
  /** Files, the key file and the embedded database. Created if it is missing. */
  dataFolder: string;
  /** A PostgreSQL server; undefined for the embedded database. */
  databaseUrl: string | undefined;
  /** Secret keys from the configuration (store/secrets/secret-keys.ts); undefined for the key file. Nodes that
   *  share a server must have the same. */
  secrets: { keys: string | undefined };
  /** Concurrent calls of an organization without a limit of its own. */
  callLimit: number;
  /** Life of a run's public token. Default: 30. */
  publicLinkDays?: number | undefined;
  clock: Clock;
  random: Random;
  log: Log;
  /** Another process of this gateway runs the embedded database, and migrates it. */
  isShared?: boolean | undefined;
  /** What this process works for: at the embedded engine calls are served first. Default: `api`. */
  traffic?: 'calls' | 'api' | undefined;
  /** This process among the nodes of one server: the same after a restart, never used by two at
   *  once. Default: host name and data folder. */
  node?: string | undefined;
  /** For a worker: the process that started it, whose name is the start of its own. */
  gateway?: NodeIdentity | undefined;
  /** Another process has taken this one's name: this one must end, and must not store anything. */
  onReplaced?: ((error: GatewayError) => void) | undefined;
  /** Tests pass a clock in place of the database's. */
  time?: DatabaseTime | undefined;
  /** The API's path for files. Default `/api/v1/files`. */
  filesPath?: string | undefined;
  /** For the template of new databases. Default: `.cache/patchbay` in the home folder. */
  cacheFolder?: string | undefined;
}

export interface StoreHandle extends Store {
  readonly files: FileStore;
  readonly links: FileLinks;
  /** Keys that sign users' tokens, the newest first; the same at every start. */
  readonly tokenKeys: readonly Buffer[];
  /** This process, by its first epoch. */
  readonly node: string;
  readonly epoch: string;
  /** Seals every stored secret by the newest key; gives how many rows changed. */
  resealSecrets(): Promise<number>;
  /** Active agents that are too large for calls. Throws STORE_UNAVAILABLE. */
  oversizedVersions(): AsyncGenerator<OversizedVersion>;
}

/** Throws CONFIG_INVALID, DATA_FOLDER_FULL, DATA_FOLDER_UNWRITABLE, STORE_LOCKED, STORE_NOT_DURABLE, STORE_POOLER,
 *  STORE_UNAVAILABLE, NODE_NAME_TAKEN, NODE_REPLACED, SECRET_KEYS_DIFFER, MIGRATION_CHANGED, MIGRATION_UNKNOWN. */
export async function openStore(options: OpenStoreOptions): Promise<StoreHandle> {
  const { clock, random, log, callLimit, publicLinkDays, time = databaseTime } = options;
  let handle: StoreHandle | undefined;
  const dataFolder = resolve(options.dataFolder);
  openFolder(options, dataFolder);
  const keys = secretKeys(options, dataFolder);
  const identity = { node: options.node ?? nodeName(dataFolder), epoch: newEpoch(random) };
  const engine = await openEngine(options, dataFolder);
  const { traffic = 'api' } = options;
  const db = openDatabase(engine.target, { traffic, ready: engine.ready, clock, log });
  const secrets = new SecretBox(keys, random);
  const context: StoreContext = {
    ...{
      ...identity,
      formerEpochs: [],
      db,
      clock,
      time,
      random,
      secrets,
      callLimit,
      publicLinkDays,
      log,
    },
  };
  const onReentered = (): void => handle?.onReentered?.();
  const { isAlone } = engine;
  const place = await openPlace(context, { options, dataFolder, isAlone, onReentered });
  const upkeep = new DatabaseMaintenance(engine.target, { clock, log });
  const closeAll = async (): Promise<void> => {
    await db.destroy();
    await engine.close();
    await place.close();
  };
  try {
    await migrate(engine.target, ownMigrations(), { clock, log });
    const isFirst = options.gateway === undefined;
    if (options.databaseUrl !== undefined && isFirst) await checkSecretKeys(db, keys);
    await place.presence.start();
  } catch (error) {
    await closeAll();
    throw error;
  }
  if (engine.isAlone) upkeep.start();
  const counts = new RunCountMaintenance(context, { clock, log });
  if (options.gateway === undefined) counts.start();
  const files = new LocalFileStore(join(dataFolder, 'files'), { clock, random });
  await files.removeUnfinished().catch((error: unknown) => {
    log.warn({ err: error }, 'uploads that were cut off could not be removed');
  });
  handle = {
    ...repositories(context),
    files,
    links: new FileLinks({ keys, clock, basePath: options.filesPath ?? '/api/v1/files' }),
    tokenKeys: keys.map((key) => deriveKey(key, 'user tokens')),
    ...identity,
    resealSecrets: async () => {
      const resealed =
        (await resealConfigurations(context)) +
        (await resealSigningSecrets(context)) +
        (await resealCredentials(context)) +
        (await resealTools(context)) +
        (await resealModelConfigurations(context)) +
        (await resealWorkflows(context));
      await noteSealingKey(db, keys[0]);
      return resealed;
    },
    oversizedVersions: () => oversizedVersions(context),
    alive: () => isAlive(db, clock),
    close: async () => {
      await upkeep.stop();
      await counts.stop();
      await place.presence.stop().catch((error: unknown) => {
        log.warn({ err: error }, 'the node did not say goodbye');
      });
      await closeAll();
    },
  };
  return handle;
}

/** A full disk keeps an embedded database from starting. Where the database is elsewhere, calls go on without
 *  recordings. */
function openFolder({ databaseUrl, log }: OpenStoreOptions, dataFolder: string): void {
  try {
    prepareDataFolder(dataFolder);
  } catch (error) {
    if (databaseUrl === undefined || codeOf(error) !== 'DATA_FOLDER_FULL') throw error;
    log.error({ err: error }, 'recordings cannot be written');
  }
}

/** The gateway on this data folder, among the nodes of one server. */
export function nodeName(dataFolder: string): string {
  return `${hostname()}:${resolve(dataFolder)}`;
}

/** Positive in 64 bits. */
function newEpoch(random: Random): string {
  return String(random.bytes(8).readBigUInt64BE() >> 1n);
}

/** Distinguishes processes with the same name. */
async function openPlace(
  context: StoreContext,
  of: {
    options: OpenStoreOptions;
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
  /** No other process can use this database. */
  isAlone: boolean;
  close: () => Promise<void>;
}

async function openEngine(options: OpenStoreOptions, dataFolder: string): Promise<OpenEngine> {
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

function secretKeys(
  { secrets, random }: OpenStoreOptions,
  dataFolder: string,
): [SecretKey, ...SecretKey[]] {
  const [first, ...rest] =
    secrets.keys === undefined
      ? readKeyFile(join(dataFolder, 'secret.key'), random)
      : parseSecretKeys(secrets.keys);
  if (first === undefined) throw new GatewayError('SECRET_KEY_MISSING', { keyId: 'any' });
  return [first, ...rest];
}

function repositories(context: StoreContext): Omit<Store, 'alive' | 'close' | 'onReentered'> {
  return {
    accounts: new AccountRepository(context),
    campaigns: campaignStore(context),
    contacts: contactStore(context),
    clips: new ClipRepository(context),
    credentials: new CredentialRepository(context),
    tools: new ToolRepository(context),
    modelConfigurations: new ModelConfigurationRepository(context),
    serviceFaults: new ServiceFaultRepository(context),
    organizations: new OrganizationRepository(context),
    users: new UserRepository(context),
    telephony: telephonyStore(context),
    leases: new LeaseRepository(context),
    webhookNonces: new WebhookNonces(context),
    trunks: new TrunkRepository(context),
    workflows: workflowStore(context),
    folders: new FolderRepository(context),
    runs: runStore(context),
    reports: new ReportRepository(context),
    starts: new IdempotentRunStarts(context),
    textChats: new TextChatRepository(context),
    afterworks: postCallJobStore(context),
    deliveries: deliveryStore(context),
    signingSecrets: signingSecretStore(context),
  };
}

async function isAlive(db: Kysely<Tables>, clock: Clock): Promise<boolean> {
  const answer = sql`select 1`.execute(db).then(
    () => true,
    () => false,
  );
  const silence = new Promise<boolean>((resolve) => {
    const timer = clock.after(ALIVE_MS_MAX, () => resolve(false));
    answer.finally(() => timer.cancel()).catch(() => undefined); // It never fails.
  });
  return Promise.race([answer, silence]);
}
