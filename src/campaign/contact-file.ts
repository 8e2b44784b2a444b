// A campaign's contact file in storage: its owner, its faults, and its contacts. Source: contract §6.5, §9.3.

import { createHash } from 'node:crypto';
import { codeOf, GatewayError } from '../errors/gateway-error.ts';
import type { Clock } from '../std/clock.ts';
import type { FileStore } from '../store/files/file-store.ts';
import { checkContacts } from './contact-check-thread.ts';
import type { ContactReport } from './contact-report.ts';
import { readContacts, type SourceContact, type SourceRules } from './contact-rows.ts';
import { invalid, SOURCE_BYTES_MAX } from './csv-records.ts';

/** Length of the hash that identifies the file in its contacts' ids. */
const SOURCE_KEY_DIGITS = 8;
const KEY = /^campaigns\/(\d{1,19})\/[^/]+$/;

/** Checks a storage key before the file is read. Throws CAMPAIGN_SOURCE_KEY_INVALID for an invalid key,
 *  FILE_FORBIDDEN for a file of another organization. */
export function checkSourceKey(organizationId: string, key: string): void {
  const owner = KEY.exec(key)?.[1];
  if (owner === undefined) throw new GatewayError('CAMPAIGN_SOURCE_KEY_INVALID');
  if (owner !== organizationId) throw new GatewayError('FILE_FORBIDDEN');
}

/** Checks a file. Throws CAMPAIGN_SOURCE_INVALID with all its faults, or if it is missing, and API_BUSY. */
export async function checkSource(
  deps: { files: FileStore; clock: Clock },
  key: string,
  rules: SourceRules,
): Promise<void> {
  const { problems } = await reportOfSource(deps, key, rules);
  if (problems !== undefined) throw invalid(problems);
}

/** What the file has, and its faults. Throws CAMPAIGN_SOURCE_INVALID if it is missing or too large, and API_BUSY. */
export async function reportOfSource(
  { files, clock }: { files: FileStore; clock: Clock },
  key: string,
  rules: SourceRules,
): Promise<ContactReport> {
  const bytes = await opened(files, key, () => files.readAll(key));
  return checkContacts(bytes, rules, { clock });
}

/** The contacts of a file, as from `readContacts`. */
export async function* contactsOf(
  files: FileStore,
  key: string,
  rules: SourceRules,
): AsyncGenerator<SourceContact> {
  yield* readContacts(await opened(files, key, () => files.read(key)), rules);
}

/** The result of `open`. Throws CAMPAIGN_SOURCE_INVALID for a file that is too large or missing. */
async function opened<T>(files: FileStore, key: string, open: () => Promise<T>): Promise<T> {
  try {
    const file = await files.stat(key);
    if (file !== undefined && file.size > SOURCE_BYTES_MAX) {
      throw invalid(`CSV file is larger than ${SOURCE_BYTES_MAX} bytes`);
    }
    return await open();
  } catch (error) {
    if (codeOf(error) !== 'FILE_NOT_FOUND') throw error;
    throw invalid('Failed to access CSV file: it has not been uploaded, or is gone', error);
  }
}

/** Key of the file in its contacts' ids: `csv_` and eight hex digits of the storage key's MD5. An identifier, not a
 *  proof. */
export function sourceKeyOf(sourceId: string): string {
  return `csv_${createHash('md5').update(sourceId).digest('hex').slice(0, SOURCE_KEY_DIGITS)}`;
}
