// Routes for links to download and upload files, for holders of a key. Source: contract decision 2, §6.4, §6.5.

import { z } from 'zod';
import { LINK_LIFE_S_MAX } from '../../store/files/signed-links.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired, patternOf } from '../http/openapi.ts';
import { queryFlag, queryInteger } from '../http/values.ts';
import { FILES_PATH, LINK_LIFE_S, linkTo } from './run-artifacts.ts';
import { ownFile } from './stored-file.ts';
import { CSV_TYPE, safeFileName, uploadUrl } from './upload-links.ts';

const CONTACTS_BYTES_MAX = 10_485_760;
const CONTACTS_LINK_S = 900;
const CSV_NAME = /.*\.csv$/i;

const common = { tags: ['runs'], security: keyRequired };

const linkQuery = z.object({
  key: z
    .string()
    .max(4_000)
    .meta({
      description:
        'A storage key, such as `recordings/42.wav`, or the `recording_url` or `transcript_url` of a run.',
      examples: ['recordings/42.wav'],
    }),
  expires_in: queryInteger(1, LINK_LIFE_S_MAX)
    .default(LINK_LIFE_S)
    .describe('Seconds for which the link works: 1 to 604,800, a week.'),
  inline: queryFlag
    .default(false)
    .describe('True: the file is shown in the browser. False: it is saved.'),
  storage_backend: z
    .string()
    .max(50)
    .optional()
    .describe('Accepted and ignored: the gateway knows where its files are.'),
});

const metadata = z.object({
  size: z.int().describe('Bytes.'),
  created_at: z.null(),
  modified_at: z.string(),
  etag: z.null(),
  content_type: z.string(),
});

const contactsIn = z
  .object({
    file_name: z
      .string()
      .max(255)
      .regex(CSV_NAME)
      .meta({
        pattern: patternOf(CSV_NAME),
        description: 'Name of the file, at most 255 characters, which ends in `.csv`.',
        examples: ['contacts.csv'],
      }),
    file_size: z.int().gt(0).lte(CONTACTS_BYTES_MAX).meta({
      description: 'Bytes of the file, 1 to 10,485,760: as many as will be sent.',
    }),
    content_type: z
      .string()
      .max(100)
      .regex(CSV_TYPE)
      .default('text/csv')
      .meta({
        pattern: patternOf(CSV_TYPE),
        description:
          '`Content-Type` of the request that sends the file: `text/csv`, `application/csv` or `application/vnd.ms-excel`, also with parameters.',
      }),
  })
  .meta({ id: 'PresignedUploadUrlRequest' });

const contactsLink = z
  .object({
    upload_url: z.string().meta({ description: 'Takes the file by PUT, without a key.' }),
    file_key: z.string().meta({ description: "A campaign's `source_id`." }),
    expires_in: z.int().meta({ description: 'Seconds.' }),
  })
  .meta({ id: 'PresignedUploadUrlResponse', description: 'A link that takes the file.' });

export function fileRoutes(api: Api, deps: ApiDeps): void {
  linkRoutes(api, deps);

  api.post(
    '/s3/presigned-upload-url',
    {
      schema: {
        tags: ['campaigns'],
        security: keyRequired,
        operationId: 'createContactsUpload',
        summary: 'Create a contacts upload',
        description:
          "Gives a link to which a campaign's CSV file is sent by PUT, and the `file_key` that names the file as the campaign's `source_id`.",
        body: contactsIn,
        response: { 200: contactsLink, ...faults() },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { file_name: name, file_size: bytes, content_type: contentType } = request.body;
      const key = `campaigns/${organizationId}/${deps.random.uuid()}_${safeFileName(name)}`;
      const upload = { key, contentType, bytes, expiresInS: CONTACTS_LINK_S };
      return {
        upload_url: await uploadUrl(deps, upload),
        file_key: key,
        expires_in: CONTACTS_LINK_S,
      };
    },
  );
}

function linkRoutes(api: Api, deps: ApiDeps): void {
  api.get(
    '/s3/signed-url',
    {
      schema: {
        ...common,
        operationId: 'getSignedUrl',
        summary: 'Get a signed URL',
        description: 'A link to a file that works without a key, for a while.',
        querystring: linkQuery,
        response: {
          200: z
            .object({
              url: z.string().describe('Needs no key.'),
              expires_in: z.int().describe('Seconds for which it works.'),
            })
            .describe('The link.'),
          ...faults('FILE_KEY_INVALID', 'FILE_FORBIDDEN'),
        },
      },
    },
    async (request) => {
      const { key, expires_in: expiresInS, inline } = request.query;
      const file = await ownFile(deps, principalOf(request).organizationId, keyOf(deps, key));
      return { url: linkTo(deps, file.key, { inline, expiresInS }), expires_in: expiresInS };
    },
  );

  api.get(
    '/s3/file-metadata',
    {
      schema: {
        ...common,
        operationId: 'getFileMetadata',
        summary: 'Get file metadata',
        description: 'Size and time of a file.',
        querystring: linkQuery.pick({ key: true }),
        response: {
          200: z
            .object({
              key: z.string(),
              metadata: metadata.nullable().describe('Null: there is no such file.'),
            })
            .describe('Size, type and time of the file.'),
          ...faults('FILE_KEY_INVALID', 'FILE_FORBIDDEN', 'FILES_UNAVAILABLE'),
        },
      },
    },
    async (request) => {
      const file = await ownFile(
        deps,
        principalOf(request).organizationId,
        keyOf(deps, request.query.key),
      );
      const status = await deps.files.stat(file.storedKey);
      if (status === undefined) return { key: file.key, metadata: null };
      return {
        key: file.key,
        metadata: {
          size: status.size,
          created_at: null,
          modified_at: status.modifiedAt.toISOString(),
          etag: null,
          content_type: file.contentType,
        },
      };
    },
  );
}

/** The storage key in a URL of ours; any other text is a key already. */
function keyOf(deps: ApiDeps, keyOrUrl: string): string {
  const base = deps.publicUrl + FILES_PATH;
  if (!keyOrUrl.startsWith(base)) return keyOrUrl;
  return keyOrUrl.slice(base.length).split('?')[0] ?? '';
}
