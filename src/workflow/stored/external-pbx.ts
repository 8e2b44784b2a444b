// Settings of an agent for an external PBX, which an organization switches on in its preferences. While
// they are off they stay as they are stored: a form that hides them leaves them out, and no one else may
// change them. Source: contract §5.1 and §5.5.

import { isDeepStrictEqual } from 'node:util';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Store } from '../../store/store.ts';

type Settings = Record<string, unknown>;

const EXTERNAL = ['external_pbx_field_mappings', 'external_pbx_lead_headers'] as const;

/** `sent` with what is stored of them, if they are off. Throws EXTERNAL_PBX_DISABLED for a change. */
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
