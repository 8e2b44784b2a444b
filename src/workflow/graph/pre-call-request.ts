// Whether an agent asks for variables before its first word, and where. Source: contract §5.3, §8.1.

import { z } from 'zod';
import type { Direction } from '../../model/provider.ts';
import type { WorkflowDefinition } from '../../model/workflow.ts';

const fetchData = z.object({
  pre_call_fetch_mode: z
    .enum(['disabled', 'always', 'inbound', 'outbound'])
    .nullish()
    .catch('disabled'),
  /** The older form: `always` or `disabled`. The mode wins. */
  pre_call_fetch_enabled: z.boolean().nullish().catch(false),
  pre_call_fetch_url: z.string().trim().nullish().catch(null),
  pre_call_fetch_credential_uuid: z.string().trim().nullish().catch(null),
});

export interface PreCallRequest {
  url: string;
  credentialUuid: string | null;
}

/** Undefined if nothing is to be asked for a call of that direction. */
export function preCallRequestOf(
  { nodes }: WorkflowDefinition,
  direction: Direction,
): PreCallRequest | undefined {
  const start = nodes.find(({ type }) => type === 'startCall');
  const data = fetchData.parse(start?.data ?? {});
  const mode = data.pre_call_fetch_mode ?? (data.pre_call_fetch_enabled ? 'always' : 'disabled');
  const { pre_call_fetch_url: url, pre_call_fetch_credential_uuid: credential } = data;
  if (!url || (mode !== 'always' && mode !== direction)) return undefined;
  return { url, credentialUuid: credential || null };
}
