// Upload links, and the names of uploaded files. Source: contract §5.1, §6.5, §10.3.

import type { LinkedUpload } from '../../store/files/signed-links.ts';
import type { ApiDeps } from '../http/api-deps.ts';

/** The rest of a path below /files, for the API's description. */
export const FILE_KEY = {
  description: 'A storage key as the link has it; its slashes stay as they are.',
  examples: ['recordings/42.wav'],
};

/** The storage backend that clients see, always `s3` (the contract's other value is `minio`): links alone transfer
 *  files, so the real store is not shown. */
export const STORAGE_BACKEND = 's3';
/** A type under which systems send CSV files, with parameters; Windows with Excel has its own. */
export const CSV_TYPE =
  /^(?:text\/csv|application\/csv|application\/vnd\.ms-excel)(?: ?; ?[\w.-]+="?[\w.-]+"?)*$/i;
/** Longest file name: with a uuid and a dash before it, a part of a storage key has fewer than 121 characters. */
const NAME_CHARACTERS_MAX = 80;

/** Whether a file may be sent as `given` where `announced` was said: the same type, or both CSV. Parameters such as
 *  `charset` do not matter: the bytes are checked when they are read. */
export function isSameType(given: string, announced: string): boolean {
  const type = (text: string): string => text.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (CSV_TYPE.test(type(announced))) return CSV_TYPE.test(type(given));
  return type(given) === type(announced);
}

/** A client's file name as a part of a storage key; its extension is kept. */
export function safeFileName(name: string): string {
  const plain = name.replace(/[^a-zA-Z0-9._-]/g, '_').slice(-NAME_CHARACTERS_MAX);
  // No hidden files.
  return plain.replace(/^\./, '_');
}

/** An absolute URL that accepts the file by PUT, with that content type, for `expiresInS` seconds. At S3 itself, where
 *  clients reach it: the size is then checked when the file is used. */
export async function uploadUrl(
  { directLinks, publicUrl, links }: ApiDeps,
  upload: LinkedUpload & { expiresInS: number },
): Promise<string> {
  const { key, contentType, expiresInS } = upload;
  const direct = await directLinks?.write(key, contentType, expiresInS);
  return direct ?? publicUrl + links.signUpload(upload);
}
