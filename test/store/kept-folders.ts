// Around a whole test run: the folder in which its workers keep their databases. The workers are ended
// without a word, so what they leave is removed here.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where `kept-database.ts` of each worker finds the folder. No PATCHBAY_ setting: a gateway refuses those
 *  that it does not know. */
export const KEPT_FOLDER = 'TEST_KEPT_DATABASES';

export function setup(): void {
  process.env[KEPT_FOLDER] = mkdtempSync(join(tmpdir(), 'patchbay-kept-'));
}

export function teardown(): void {
  const folder = process.env[KEPT_FOLDER];
  if (folder === undefined) return;
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
