// API keys inside workflows (of nodes that bring their own model, of settings): masked on the way out,
// and a mask that comes back keeps the stored key. Source: contract §2.

import { maskServices } from '../../model/speech-services/service-masks.ts';
import { isSecretName, SERVICE_OVERRIDES, type WorkflowDefinition } from '../../model/workflow.ts';
import { isObject } from '../../std/json.ts';
import { maskSecret } from '../../telephony/registry/configuration.ts';

/** A copy. */
export function maskKeys(value: unknown): unknown {
  return mapSecrets(value, undefined, maskSecret);
}

/** The same for `workflow_configurations`, whose services have masks of one length. */
export function maskSettings(settings: Record<string, unknown>): Record<string, unknown> {
  const masked = maskKeys(settings);
  const services = SERVICE_OVERRIDES.filter((name) => Object.hasOwn(settings, name));
  return {
    ...(isObject(masked) ? masked : {}),
    ...Object.fromEntries(services.map((name) => [name, maskServices(settings[name])])),
  };
}

/** `incoming` with every mask of a key of `stored`, at the same place, replaced by that key. A copy. */
export function restoreKeys(incoming: unknown, stored: unknown): unknown {
  return mapSecrets(incoming, stored, (given, known) =>
    known !== undefined && given === maskSecret(known) ? known : given,
  );
}

/** The same for a definition, whose nodes are found by their ids. */
export function restoreNodeKeys(
  incoming: WorkflowDefinition,
  stored: WorkflowDefinition | undefined,
): WorkflowDefinition {
  const byId = new Map(stored?.nodes.map((node) => [node.id, node.data]));
  const nodes = incoming.nodes.map((node) => {
    const data = restoreKeys(node.data, byId.get(node.id));
    return isObject(data) ? { ...node, data } : node;
  });
  return { ...incoming, nodes };
}

function mapSecrets(
  value: unknown,
  beside: unknown,
  replace: (secret: string, known: string | undefined) => string,
): unknown {
  if (Array.isArray(value)) {
    const others = Array.isArray(beside) ? beside : [];
    return value.map((each, index) => mapSecrets(each, others[index], replace));
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, each]) => {
    const known = isObject(beside) ? beside[name] : undefined;
    const isSecret = typeof each === 'string' && isSecretName(name);
    if (isSecret) return [name, replace(each, typeof known === 'string' ? known : undefined)];
    return [name, mapSecrets(each, known, replace)];
  });
  return Object.fromEntries(entries);
}
