// The sound file behind an agent's ambient noise, when the agent is copied: a copy has a file of its own.
// Source: contract §5.1, §5.5.

import { isObject } from '../../std/json.ts';
import { safeFileName } from '../files/upload-links.ts';
import type { ApiDeps } from '../http/api-deps.ts';

/** What an upload of this kind may have, by the contract. */
const FILE_BYTES_MAX = 10_485_760;
const KEY = /^ambient_noise\/(\d{1,19})\/\d{1,19}\/([A-Za-z0-9_-][A-Za-z0-9._-]{0,120})$/;
const UUID_WITH_LINE = /^[0-9a-f-]{36}-/;

/** The settings with the key of a new file, if they name one of the organization that is there. */
export async function withOwnNoise(
  { files, random }: Pick<ApiDeps, 'files' | 'random'>,
  { organizationId, workflowId }: { organizationId: string; workflowId: string },
  configurations: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const noise = configurations['ambient_noise_configuration'];
  const key = isObject(noise) ? noise['storage_key'] : undefined;
  if (!isObject(noise) || typeof key !== 'string') return configurations;
  const [, owner, name = ''] = KEY.exec(key) ?? [];
  if (owner !== organizationId) return configurations;
  const found = await files.stat(key);
  if (found === undefined || found.size > FILE_BYTES_MAX) return configurations;
  const plainName = safeFileName(name.replace(UUID_WITH_LINE, ''));
  const copy = `ambient_noise/${organizationId}/${workflowId}/${random.uuid()}-${plainName}`;
  await files.write(copy, await files.readAll(key));
  return {
    ...configurations,
    ambient_noise_configuration: { ...noise, storage_key: copy },
  };
}
