// Speech services of an agent's nodes: checked like those of a workflow, which they override.

import { isDeepStrictEqual } from 'node:util';
import {
  type ConfiguredSections,
  type ConfiguredService,
  servicesIn,
} from '../../model/speech-services/model-configuration.ts';
import {
  NODE_SERVICE_FIELDS,
  NODE_SERVICES_MAX,
  nodeServicesIn,
  sectionsOfNode,
} from '../../model/speech-services/node-services.ts';
import { maskServices } from '../../model/speech-services/service-masks.ts';
import { ServicesRefused } from '../../model/speech-services/services-refused.ts';
import { sectionsOf } from '../../model/speech-services/speech-settings.ts';
import { NODE_OVERRIDES, type WorkflowDefinition } from '../../model/workflow.ts';
import { isObject } from '../../std/json.ts';
import type { ServiceRouteDeps } from './model-configuration-routes.ts';
import { storableParts, type UsedServices } from './workflow-overrides.ts';

export interface NodeOverrides {
  sent: WorkflowDefinition;
  stored: WorkflowDefinition | undefined;
  /** Stored configurations of the workflow. */
  configurations: Record<string, unknown>;
  /** Services of its organization. */
  services: UsedServices;
}

/** `sent` with its nodes' services in stored form. Only changed services are asked, also about changed voices of
 *  nodes. Throws SERVICES_INVALID, SERVICE_KEY_MASKED, MODEL_MODE_UNSUPPORTED, TOO_MANY_ATTEMPTS. */
export async function storableNodeOverrides(
  deps: ServiceRouteDeps,
  organizationId: string,
  { sent, stored, configurations: workflow, services }: NodeOverrides,
): Promise<WorkflowDefinition> {
  const isAny = sent.nodes.some(({ data }) => hasServices(data[NODE_OVERRIDES]) || hasVoice(data));
  if (!isAny) return sent;
  const used = sectionsOf({ organization: undefined, ...(await services.used()), workflow }, []);
  const former = new Map(stored?.nodes.map(({ id, data }) => [id, data[NODE_OVERRIDES]]));
  /** Keyed by what is sent and what is stored: equal nodes are checked once. */
  const distinct = new Map<string, { parts: unknown; known: Record<string, unknown> }>();
  const keys = sent.nodes.map(({ id, data: { [NODE_OVERRIDES]: parts } }) => {
    if (!hasServices(parts)) return undefined;
    const known = { [NODE_OVERRIDES]: former.get(id) };
    const key = JSON.stringify([parts, known]);
    distinct.set(key, { parts, known });
    return key;
  });
  if (distinct.size > NODE_SERVICES_MAX) {
    const message = `more than ${NODE_SERVICES_MAX} different services in the nodes of one agent`;
    throw new ServicesRefused([{ model: 'all', message }]);
  }
  const storable = new Map<string | undefined, unknown>();
  // Sequential: an organization may have few checks at a time.
  for (const [key, { parts, known: stored }] of distinct) {
    const isKept = isUnchanged(parts, stored[NODE_OVERRIDES]);
    const own = isKept
      ? stored[NODE_OVERRIDES]
      : await storableParts(deps, organizationId, { parts, stored, used });
    storable.set(key, own);
  }
  const nodes = sent.nodes.map((node, nth) => {
    const key = keys[nth];
    if (key === undefined) return node;
    return { ...node, data: { ...node.data, [NODE_OVERRIDES]: storable.get(key) } };
  });
  await requireVoices(deps, organizationId, { nodes, stored, used });
  return { ...sent, nodes };
}

/** Checks the voices of nodes whose own voice, or the service that must have it, has changed. */
async function requireVoices(
  { checks }: ServiceRouteDeps,
  organizationId: string,
  of: { nodes: Nodes; stored: WorkflowDefinition | undefined; used: ConfiguredSections },
): Promise<void> {
  const former = new Map(of.stored?.nodes.map(({ id, data }) => [id, nodeServicesIn(data)]));
  const asked = new Set<string>();
  const voices = new Map<string, ConfiguredService>();
  for (const { id, data } of of.nodes) {
    const own = hasVoice(data) ? nodeServicesIn(data) : undefined;
    if (own === undefined || isDeepStrictEqual(own, former.get(id))) continue;
    const service = firstVoiceOf(sectionsOfNode(of.used, own));
    const key = JSON.stringify(service);
    if (service === undefined || asked.has(key) || asked.size >= NODE_SERVICES_MAX) continue;
    asked.add(key);
    voices.set(id, service);
  }
  await checks.requireVoices(organizationId, voices);
}

type Nodes = WorkflowDefinition['nodes'];

function firstVoiceOf({ tts }: ConfiguredSections): ConfiguredService | undefined {
  return tts ? servicesIn(tts)[0] : undefined;
}

function hasVoice(data: Nodes[number]['data']): boolean {
  return typeof data[NODE_SERVICE_FIELDS.voice] === 'string';
}

/** Whether the value has services. Any other value is stored unchanged: `validate` reports it. */
function hasServices(parts: unknown): parts is Record<string, unknown> {
  return isObject(parts) && Object.keys(parts).length > 0;
}

/** Whether the parts are the stored ones, also with masks in place of their keys. */
function isUnchanged(parts: unknown, stored: unknown): boolean {
  return isDeepStrictEqual(parts, stored) || isDeepStrictEqual(parts, maskServices(stored));
}
