// A campaign's contact file in storage: its owner, its faults, and its contacts.
// Source: contract §6.5, §9.3.

import { createHash } from 'node:crypto';
import { codeOf, GatewayError } from '../errors/gateway-error.ts';
import type { FileStore } from '../store/files/file-store.ts';
import { readContacts, type SourceContact, type SourceRules } from './contact-rows.ts';
import { invalid, SOURCE_BYTES_MAX } from './csv-records.ts';

/** Length of the hash that identifies the file in its contacts' ids. */
const SOURCE_KEY_DIGITS = 8;
const KEY = /^campaigns\/(\d{1,19})\/[^/]+$/;

/** Throws FILE_KEY_INVALID for an invalid key, FILE_FORBIDDEN for a file of another organization: nothing of it
 *  is read. */
export function checkSourceKey(organizationId: string, key: string): void {
  const owner = KEY.exec(key)?.[1];
  if (owner === undefined) throw new GatewayError('FILE_KEY_INVALID');
  if (owner !== organizationId) throw new GatewayError('FILE_FORBIDDEN');
}

/** The number of contacts in the file. Throws CAMPAIGN_SOURCE_INVALID with all its faults, or if it is missing. */
export async function checkSource(
  files: FileStore,
  key: string,
  rules: SourceRules,
): Promise<number> {
  let contacts = 0;
  for await (const _ of contactsOf(files, key, rules)) contacts += 1;
  return contacts;
}

/** As readContacts. */
export async function* contactsOf(
  files: FileStore,
  key: string,
  rules: SourceRules,
): AsyncGenerator<SourceContact> {
  try {
    const file = await files.stat(key);
    if (file !== undefined && file.size > SOURCE_BYTES_MAX) {
      throw invalid(`CSV file is larger than ${SOURCE_BYTES_MAX} bytes`);
    }
    yield* readContacts(await files.read(key), rules);
  } catch (error) {
    if (codeOf(error) !== 'FILE_NOT_FOUND') throw error;
    throw invalid('Failed to access CSV file: it has not been uploaded, or is gone', error);
  }
}

/** `csv_` and eight hex digits of the storage key's MD5: an identifier, not a proof. */
export function sourceKeyOf(sourceId: string): string {
  return `csv_${createHash('md5').update(sourceId).digest('hex').slice(0, SOURCE_KEY_DIGITS)}`;
}
