// Links under which clients send files, and the names that the files get. Source: contract §5.1, §6.5,
// §10.3.

import type { LinkedUpload } from '../../store/files/signed-links.ts';
import type { ApiDeps } from '../http/api-deps.ts';

/** The rest of a path below /files, for the API's description. */
export const FILE_KEY = {
  description: 'A storage key as the link has it; its slashes stay as they are.',
  examples: ['recordings/42.wav'],
};

/** Clients get `s3` (the other value that the contract has is `minio`): links alone transfer
 *  files, so the true store is not shown. */
export const STORAGE_BACKEND = 's3';
/** With a uuid and a line before it, a piece of a storage key has less than 121 characters. */
const NAME_CHARACTERS_MAX = 80;

/** A client's file name as a piece of a storage key; its extension is kept. */
export function safeFileName(name: string): string {
  const plain = name.replace(/[^a-zA-Z0-9._-]/g, '_').slice(-NAME_CHARACTERS_MAX);
  // Nothing hidden.
  return plain.replace(/^\./, '_');
}

/** An absolute URL that takes the file by PUT, with that content type, for `expiresInS` seconds. */
export function uploadUrl(deps: ApiDeps, upload: LinkedUpload & { expiresInS: number }): string {
  return deps.publicUrl + deps.links.signUpload(upload);
}
