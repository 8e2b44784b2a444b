// Sends a contact file to the gateway by a signed link.

import { client } from '../../api/client.ts';
import { toApiError } from '../../api/errors.ts';

/** The gateway's own limit for an upload. */
const UPLOAD_MS_MAX = 300_000;
const CSV = 'text/csv';
/** Paths of the gateway's links; others are those of an S3 store. */
const OWN_LINKS = '/api/v1/files/';

/** Resolves with the file's key for a campaign. Rejects with an ApiError. */
export async function uploadContacts(file: File): Promise<string> {
  const { data } = await client.POST('/api/v1/s3/presigned-upload-url', {
    body: { file_name: file.name.slice(-200), file_size: file.size, content_type: CSV },
  });
  if (data === undefined) throw new Error('The gateway gave no link for the file.');
  const link = new URL(data.upload_url);
  // The page may have another address than the gateway's public one, which its policy would refuse.
  const isOwn = link.pathname.startsWith(OWN_LINKS);
  const response = await fetch(isOwn ? link.pathname + link.search : link, {
    method: 'PUT',
    headers: { 'Content-Type': CSV },
    body: file,
    signal: AbortSignal.timeout(UPLOAD_MS_MAX),
  });
  if (!response.ok) throw await toApiError(response);
  return data.file_key;
}
