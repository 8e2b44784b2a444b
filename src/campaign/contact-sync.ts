// Reads the contact files of started campaigns into the store. A file is read twice: first as a whole, for its faults,
// then row by row into the store, so that no campaign has half a list. If the process is killed in between, another one
// starts again. Source: contract §9.2, §9.3.

import { codeOf } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import type { Campaign } from '../model/campaign.ts';
import type { Clock } from '../std/clock.ts';
import { inShare, organizationShare } from '../std/work-share.ts';
import type { NewContact } from '../store/campaigns/dial-attempts.ts';
import type { FileStore } from '../store/files/file-store.ts';
import type { Store } from '../store/store.ts';
import { checkSource, checkSourceKey, contactsOf } from './contact-file.ts';

/** Rows of one statement: about 10 ms of the embedded engine, for which calls wait. */
const BATCH_ROWS = 200;
/** Rules of a file. The agent's required columns were checked when the campaign was created. */
const RULES = { requiredColumns: [] };

export interface SyncDeps {
  store: Pick<Store, 'campaigns' | 'contacts'>;
  files: FileStore;
  /** Whether files may be on the disks of other nodes. Default: no. */
  hasOtherNodes?: boolean;
  /** Whether all nodes see the same files. Default: no. */
  areFilesShared?: boolean;
  clock: Clock;
  log: Log;
}

/** Reads the file of one waiting campaign; returns false if none waits. Several processes each take another
 *  campaign. Ends early, with the campaign still waiting, when `signal` is aborted. Throws STORE_UNAVAILABLE: the
 *  campaign is read again after half a minute. */
export async function syncNext(deps: SyncDeps, signal: AbortSignal): Promise<boolean> {
  const campaign = await deps.store.campaigns.claimSync();
  if (campaign === undefined) return false;
  const { id, organizationId, sourceId } = campaign;
  try {
    checkSourceKey(organizationId, sourceId);
    await checkSource(deps, sourceId, RULES);
    await inShare(organizationShare(organizationId), () => storeContacts(deps, campaign, signal));
  } catch (error) {
    if (codeOf(causeOf(error)) === 'FILE_NOT_FOUND' && (await waitsForFile(deps, campaign))) {
      return true;
    }
    if (!isOfFile(error)) throw error;
    const failed = await deps.store.campaigns.failSync(id, error.message);
    if (failed !== undefined) deps.log.warn({ campaignId: id }, 'a contact file is unusable');
  }
  return true;
}

/** Waits for a file that may be on the disk of another node. Returns false if there is no other node, or the wait
 *  has taken too long. */
async function waitsForFile(
  { store, hasOtherNodes = false, areFilesShared = false, log }: SyncDeps,
  { id }: Campaign,
): Promise<boolean> {
  if (!hasOtherNodes) return false;
  const waits = await store.campaigns.waitForFile(id, { isMissedByAll: areFilesShared });
  if (!waits) return false;
  log.warn({ campaignId: id }, 'the contact file was not found, the campaign waits for it');
  return true;
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

/** Whether the fault is in the file, so that reading it again cannot help. */
function isOfFile(error: unknown): error is Error {
  const code = codeOf(error);
  return (
    code === 'CAMPAIGN_SOURCE_INVALID' ||
    code === 'CAMPAIGN_SOURCE_KEY_INVALID' ||
    code === 'FILE_KEY_INVALID' ||
    code === 'FILE_FORBIDDEN'
  );
}

async function storeContacts(
  { store, files, log }: SyncDeps,
  { id, sourceId }: Campaign,
  signal: AbortSignal,
): Promise<void> {
  let batch: NewContact[] = [];
  for await (const contact of contactsOf(files, sourceId, RULES)) {
    batch.push(contact);
    if (batch.length < BATCH_ROWS) continue;
    if (signal.aborted || !(await store.campaigns.renewSync(id))) return;
    await store.contacts.add(id, batch);
    batch = [];
  }
  if (signal.aborted || !(await store.campaigns.renewSync(id))) return;
  if (batch.length > 0) await store.contacts.add(id, batch);
  const synced = await store.campaigns.finishSync(id);
  if (synced !== undefined) {
    log.info({ campaignId: id, contacts: synced.totalRows }, 'contact file read');
  }
}
