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
import type { StoreContext } from './db/store-context.ts';
import type { Tables } from './db/tables.ts';
import { postCallJobStore } from './deliveries/post-call-jobs.ts';
import { resealSigningSecrets, signingSecretStore } from './deliveries/signing-secrets.ts';
import { deliveryStore } from './deliveries/webhook-deliveries.ts';
import type { FileStore } from './files/file-store.ts';
import { LocalFileStore } from './files/local-file-store.ts';
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
import { noteSealingKey } from './secrets/key-check.ts';
import { deriveKey } from './secrets/secret-keys.ts';
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

export interface OpenStoreOptions extends OpenNodeOptions {
  /** The API's path for files. Default `/api/v1/files`. */
  filesPath?: string | undefined;
}

export interface StoreHandle extends Store {
  readonly files: FileStore;
  readonly links: FileLinks;
  /** Keys that sign users' tokens, the newest first; the same at every start. */
  readonly tokenKeys: readonly Buffer[];
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
  const { context, keys, identity, close } = await openNode(options, () => handle?.onReentered?.());
  const files = new LocalFileStore(join(resolve(options.dataFolder), 'files'), { clock, random });
  await files.removeUnfinished().catch((error: unknown) => {
    log.warn({ err: error }, 'incomplete uploads could not be removed');
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
      await noteSealingKey(context.db, keys[0]);
      return resealed;
    },
    oversizedVersions: () => oversizedVersions(context),
    storedModelConfigurations: () => storedModelConfigurations(context),
    alive: () => isAlive(context.db, clock),
    close,
  };
  return handle;
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
    logInAttempts: new LogInAttempts(context),
    telephony: telephonyStore(context),
    leases: new LeaseRepository(context),
    webhookNonces: new WebhookNonces(context),
    trunks: new TrunkRepository(context),
    workflows: workflowStore(context),
    folders: new FolderRepository(context),
    runs: runStore(context),
    reports: new ReportRepository(context),
    reportedCalls: new ReportedCalls(context),
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
