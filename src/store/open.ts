// Opens the store: the database (open-node.ts) with its repositories, the files and their links.

import { join, resolve } from 'node:path';
import { type Kysely, sql } from 'kysely';
import type { Clock } from '../std/clock.ts';
import { AccountRepository } from './accounts/accounts.ts';
import { LogInAttempts } from './accounts/log-in-attempts.ts';
import { OrganizationRepository } from './accounts/organizations.ts';
import { UserRepository } from './accounts/users.ts';
import { campaignStore } from './campaigns/campaign-store.ts';
import { contactStore } from './campaigns/contact-store.ts';
import { ClusterStatusRepository } from './cluster-status.ts';
import { DeathWatch } from './db/death-watch.ts';
import { GatewayRepository } from './db/gateways.ts';
import { Places } from './db/places.ts';
import type { StoreContext } from './db/store-context.ts';
import type { Tables } from './db/tables.ts';
import { postCallJobStore } from './deliveries/post-call-jobs.ts';
import { resealSigningSecrets, signingSecretStore } from './deliveries/signing-secrets.ts';
import { deliveryStore } from './deliveries/webhook-deliveries.ts';
import { DiskRoom } from './files/disk-room.ts';
import type { FileStore } from './files/file-store.ts';
import { LocalFileStore } from './files/local-file-store.ts';
import type { S3Bucket } from './files/s3-bucket.ts';
import type { DirectLinks, S3FileStore } from './files/s3-file-store.ts';
import { FileLinks } from './files/signed-links.ts';
import { ClipRepository } from './library/clips.ts';
import { CredentialRepository, resealCredentials } from './library/credentials.ts';
import {
  ModelConfigurationRepository,
  resealModelConfigurations,
  storedModelConfigurations,
} from './library/model-configurations.ts';
import { resealTools } from './library/sealed-headers.ts';
import { ServiceFaultRepository } from './library/service-faults.ts';
import { ToolRepository } from './library/tools.ts';
import { type OpenNodeOptions, openNode } from './open-node.ts';
import { ReportedCalls } from './reported-calls.ts';
import { ReportRepository } from './runs/reports.ts';
import { IdempotentRunStarts } from './runs/run-starts.ts';
import { runStore } from './runs/run-store.ts';
import { TextChatRepository } from './runs/text-chats.ts';
import { WaitingCallRepository } from './runs/waiting-calls.ts';
import { noteSealingKey } from './secrets/key-check.ts';
import { deriveKey, type SecretKey } from './secrets/secret-keys.ts';
import type { Store } from './store.ts';
import { LeaseRepository } from './telephony/configuration-leases.ts';
import { resealConfigurations } from './telephony/configurations.ts';
import { LineWatches } from './telephony/line-watches.ts';
import { telephonyStore } from './telephony/telephony-store.ts';
import { TrunkRepository } from './telephony/trunks.ts';
import { WebhookNonces } from './telephony/webhook-nonces.ts';
import { FolderRepository } from './workflows/folders.ts';
import { type OversizedVersion, oversizedVersions } from './workflows/oversized-versions.ts';
import { resealWorkflows } from './workflows/reseal-workflows.ts';
import { workflowStore } from './workflows/workflow-store.ts';

const ALIVE_MS_MAX = 1_000;

export interface OpenStoreOptions extends OpenNodeOptions {
  /** The API's path for files. Default `/api/v1/files`. */
  filesPath?: string | undefined;
}

export interface StoreHandle extends Store {
  /** Files as all gateways see them. */
  readonly files: FileStore;
  /** Files on this gateway's disk, where runs write theirs; without S3 the same as `files`. */
  readonly spool: LocalFileStore;
  /** The bucket, with the links that lead to it; undefined without S3. */
  readonly s3: { readonly bucket: S3Bucket; readonly links: DirectLinks } | undefined;
  readonly links: FileLinks;
  /** Keys that sign users' tokens, the newest first; the same at every start. */
  readonly tokenKeys: readonly Buffer[];
  /** Keys that prove messages between gateways, the newest first; the same at every start. */
  readonly gatewayKeys: readonly Buffer[];
  /** Identifies this database, the same on all its standbys. Throws STORE_UNAVAILABLE. */
  databaseIdentity(): Promise<string>;
  /** Keys that sign media tokens, the newest first; the same in all processes with the same secret keys. */
  readonly mediaKeys: readonly [Buffer, ...Buffer[]];
  /** Name and first epoch of this process. */
  readonly node: string;
  readonly epoch: string;
  /** Seals every stored secret by the newest key. Returns the number of changed rows. */
  resealSecrets(): Promise<number>;
  /** Active agents that are too large for calls. Throws STORE_UNAVAILABLE. */
  oversizedVersions(): AsyncGenerator<OversizedVersion>;
  /** All stored configurations of services. Throws SECRET_KEY_MISSING, SECRET_UNREADABLE, STORE_UNAVAILABLE. */
  storedModelConfigurations(): ReturnType<typeof storedModelConfigurations>;
}

/** Opens the store. Throws CONFIG_INVALID, DATA_FOLDER_FULL, DATA_FOLDER_UNWRITABLE, STORE_LOCKED, STORE_NOT_DURABLE,
 *  STORE_POOLER, STORE_UNAVAILABLE, NODE_NAME_TAKEN, NODE_REPLACED, SECRET_KEYS_DIFFER, MIGRATION_CHANGED,
 *  MIGRATION_UNKNOWN. */
export async function openStore(options: OpenStoreOptions): Promise<StoreHandle> {
  const { clock, random, log } = options;
  let handle: StoreHandle | undefined;
  const node = await openNode(options, () => handle?.onReentered?.());
  const { context, keys, identity, setDialsCampaigns, close } = node;
  const folder = join(resolve(options.dataFolder), 'files');
  const room = options.s3 && new DiskRoom(resolve(options.dataFolder), clock);
  const spool = new LocalFileStore(folder, { clock, random, room });
  const shared = await openS3(spool, options);
  await spool.removeUnfinished().catch((error: unknown) => {
    log.warn({ err: error }, 'incomplete uploads could not be removed');
  });
  handle = {
    ...repositories(context),
    setDialsCampaigns,
    files: shared?.files ?? spool,
    spool,
    s3: shared && { bucket: shared.bucket, links: shared.files.links },
    links: new FileLinks({ keys, clock, basePath: options.filesPath ?? '/api/v1/files' }),
    tokenKeys: keys.map((key) => deriveKey(key, 'user tokens')),
    gatewayKeys: keys.map((key) => deriveKey(key, 'messages between gateways')),
    databaseIdentity: () => databaseIdentity(context.db),
    mediaKeys: mediaKeysOf(keys),
    ...identity,
    resealSecrets: async () => {
      const resealed =
        (await resealConfigurations(context)) +
        (await resealSigningSecrets(context)) +
        (await resealCredentials(context)) +
        (await resealTools(context)) +
        (await resealModelConfigurations(context)) +
        (await resealWorkflows(context));
      await noteSealingKey(context.db, keys[0]);
      return resealed;
    },
    oversizedVersions: () => oversizedVersions(context),
    storedModelConfigurations: () => storedModelConfigurations(context),
    alive: () => isAlive(context.db, clock),
    close: async () => {
      await shared?.bucket.close();
      await close();
    },
  };
  return handle;
}

/** The files in S3 over those of the disk; undefined without S3, whose modules are then not loaded. */
async function openS3(
  spool: LocalFileStore,
  { s3, clock, random, log }: OpenStoreOptions,
): Promise<{ bucket: S3Bucket; files: S3FileStore } | undefined> {
  if (s3 === undefined) return undefined;
  const [{ S3Bucket }, { S3FileStore }] = await Promise.all([
    import('./files/s3-bucket.ts'),
    import('./files/s3-file-store.ts'),
  ]);
  const bucket = new S3Bucket(s3, { clock, random, log });
  return { bucket, files: new S3FileStore(spool, bucket) };
}

type Repositories = Omit<Store, 'alive' | 'close' | 'onReentered' | 'setDialsCampaigns'>;

function repositories(context: StoreContext): Repositories {
  return {
    accounts: new AccountRepository(context),
    campaigns: campaignStore(context),
    clusterStatus: new ClusterStatusRepository(context),
    contacts: contactStore(context),
    clips: new ClipRepository(context),
    credentials: new CredentialRepository(context),
    tools: new ToolRepository(context),
    modelConfigurations: new ModelConfigurationRepository(context),
    serviceFaults: new ServiceFaultRepository(context),
    organizations: new OrganizationRepository(context),
    users: new UserRepository(context),
    logInAttempts: new LogInAttempts(context),
    telephony: telephonyStore(context),
    leases: new LeaseRepository(context),
    nodes: new DeathWatch(context),
    places: new Places(context),
    gateways: new GatewayRepository(context),
    webhookNonces: new WebhookNonces(context),
    trunks: new TrunkRepository(context),
    lines: new LineWatches(context),
    workflows: workflowStore(context),
    folders: new FolderRepository(context),
    runs: runStore(context),
    reports: new ReportRepository(context),
    reportedCalls: new ReportedCalls(context),
    starts: new IdempotentRunStarts(context),
    waitingCalls: new WaitingCallRepository(context),
    textChats: new TextChatRepository(context),
    afterworks: postCallJobStore(context),
    deliveries: deliveryStore(context),
    signingSecrets: signingSecretStore(context),
  };
}

/** Identifier that `initdb` gave the server, with the names of database and schema. */
async function databaseIdentity(db: Kysely<Tables>): Promise<string> {
  const { rows } = await sql<{ identity: string }>`
    select concat_ws(' ', system_identifier, current_database(), current_schema()) as identity
    from pg_control_system()`.execute(db);
  return rows[0]?.identity ?? '';
}

function mediaKeysOf([first, ...rest]: readonly [
  SecretKey,
  ...SecretKey[],
]): StoreHandle['mediaKeys'] {
  const derived = (key: SecretKey): Buffer => deriveKey(key, 'media tokens');
  return [derived(first), ...rest.map(derived)];
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
