// Settings of an agent for an external PBX, which an organization enables in its preferences. While disabled they stay
// as stored: forms that hide them omit them, and no other client may change them. Source: contract §5.1 and §5.5.

import { isDeepStrictEqual } from 'node:util';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Store } from '../../store/store.ts';

type Settings = Record<string, unknown>;

const EXTERNAL = ['external_pbx_field_mappings', 'external_pbx_lead_headers'] as const;

/** `sent` with the stored settings, if they are disabled. Throws EXTERNAL_PBX_DISABLED for a change. */
export async function keepExternalPbx(
  { store }: { store: Pick<Store, 'organizations'> },
  organizationId: string,
  { sent, stored = {} }: { sent: Settings; stored: Settings | undefined },
): Promise<Settings> {
  const isNamed = EXTERNAL.some((name) => name in sent || name in stored);
  if (!isNamed) return sent;
  const preferences = await store.organizations.preferences(organizationId);
  if (preferences?.externalPbxIntegrationsEnabled === true) return sent;
  const kept = { ...sent };
  for (const name of EXTERNAL) {
    if (name in sent && !isDeepStrictEqual(sent[name], stored[name] ?? [])) {
      throw new GatewayError('EXTERNAL_PBX_DISABLED', { setting: name });
    }
    if (name in stored) kept[name] = stored[name];
  }
  return kept;
}
