// Links to files for those who hold a key. Source: contract decision 2, §6.4.

import { z } from 'zod';
import { GatewayError } from '../../errors.ts';
import { LINK_LIFE_S_MAX } from '../../store/file-links.ts';
import { FILES_PATH, LINK_LIFE_S, linkTo, runFileOf } from '../artifacts.ts';
import { principalOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { keyRequired } from '../openapi.ts';
import { faults } from '../wire/faults.ts';
import { queryFlag, queryInteger } from '../wire/values.ts';

const common = { tags: ['runs'], security: keyRequired };

const linkQuery = z.object({
  key: z
    .string()
    .max(2_000)
    .meta({
      description: 'A storage key, or a URL as a run carries it.',
      examples: ['recordings/42.wav'],
    }),
  expires_in: queryInteger(1, LINK_LIFE_S_MAX).default(LINK_LIFE_S),
  inline: queryFlag.default(false),
  storage_backend: z.string().max(50).optional(),
});

const metadata = z.object({
  size: z.int(),
  created_at: z.null(),
  modified_at: z.string(),
  etag: z.null(),
  content_type: z.string(),
});

export function fileRoutes(api: Api, deps: ApiDeps): void {
  api.get(
    '/s3/signed-url',
    {
      schema: {
        ...common,
        operationId: 'getSignedUrl',
        summary: "A link to a run's file that works without a key, for a while.",
        querystring: linkQuery,
        response: {
          200: z.object({ url: z.string(), expires_in: z.int() }),
          ...faults(400, 401, 403),
        },
      },
    },
    async (request) => {
      const { key, expires_in: expiresInS, inline } = request.query;
      const file = await ownFile(deps, principalOf(request).organizationId, key);
      return { url: linkTo(deps, file.key, { inline, expiresInS }), expires_in: expiresInS };
    },
  );

  api.get(
    '/s3/file-metadata',
    {
      schema: {
        ...common,
        operationId: 'getFileMetadata',
        summary: "Size and time of a run's file.",
        querystring: linkQuery.pick({ key: true }),
        response: {
          200: z.object({ key: z.string(), metadata: metadata.nullable() }),
          ...faults(400, 401, 403),
        },
      },
    },
    async (request) => {
      const file = await ownFile(deps, principalOf(request).organizationId, request.query.key);
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

/** Throws FILE_KEY_INVALID, and FILE_FORBIDDEN for a file of a run that is not the organization's. */
async function ownFile(deps: ApiDeps, organizationId: string, keyOrUrl: string) {
  const file = runFileOf(keyOf(deps, keyOrUrl));
  const run = await deps.store.runs.get(organizationId, file.runId);
  if (run === undefined) throw new GatewayError('FILE_FORBIDDEN');
  return file;
}

/** The key in a URL of ours; anything else is a key already. */
function keyOf(deps: ApiDeps, keyOrUrl: string): string {
  const base = deps.publicUrl + FILES_PATH;
  if (!keyOrUrl.startsWith(base)) return keyOrUrl;
  return keyOrUrl.slice(base.length).split('?')[0] ?? '';
}
