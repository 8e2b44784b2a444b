// Masks API keys inside workflows (in nodes with their own model, in settings): masked in replies, and a mask that is
// sent back keeps the stored key. Source: contract §2.

import { maskServices } from '../../model/speech-services/service-masks.ts';
import {
  isSecretName,
  NODE_OVERRIDES,
  SERVICE_OVERRIDES,
  type WorkflowDefinition,
} from '../../model/workflow.ts';
import { isObject } from '../../std/json.ts';
import { maskSecret } from '../../telephony/registry/configuration.ts';

/** A copy with masked keys. */
export function maskKeys(value: unknown): unknown {
  return mapSecrets(value, undefined, maskSecret);
}

/** A copy of `workflow_configurations` with masked keys; masks of its services have one length. */
export function maskSettings(settings: Record<string, unknown>): Record<string, unknown> {
  const masked = maskKeys(settings);
  const services = SERVICE_OVERRIDES.filter((name) => Object.hasOwn(settings, name));
  return {
    ...(isObject(masked) ? masked : {}),
    ...Object.fromEntries(services.map((name) => [name, maskServices(settings[name])])),
  };
}

/** A copy of a definition with masked keys, also in the services of nodes. */
export function maskDefinition(definition: WorkflowDefinition): Record<string, unknown> {
  const nodes = definition.nodes.map((node) => {
    const { [NODE_OVERRIDES]: services, ...data } = node.data;
    const own = services === undefined ? {} : { [NODE_OVERRIDES]: maskServices(services) };
    return { ...node, data: { ...maskedRecord(data), ...own } };
  });
  return { ...maskedRecord({ ...definition, nodes: [] }), nodes };
}

function maskedRecord(value: unknown): Record<string, unknown> {
  const copy = maskKeys(value);
  return isObject(copy) ? copy : {};
}

/** A copy of `incoming` in which every key mask is replaced by the key at the same place in `stored`. */
export function restoreKeys(incoming: unknown, stored: unknown): unknown {
  return mapSecrets(incoming, stored, (given, known) =>
    known !== undefined && given === maskSecret(known) ? known : given,
  );
}

/** A copy of a definition with restored keys; nodes are matched by their ids. Keys of node services are excluded,
 *  because they belong to an account (model-configurations/node-overrides). */
export function restoreNodeKeys(
  incoming: WorkflowDefinition,
  stored: WorkflowDefinition | undefined,
): WorkflowDefinition {
  const byId = new Map(stored?.nodes.map((node) => [node.id, node.data]));
  const nodes = incoming.nodes.map((node) => {
    const { [NODE_OVERRIDES]: services, ...sent } = node.data;
    const data = restoreKeys(sent, byId.get(node.id));
    const own = services === undefined ? {} : { [NODE_OVERRIDES]: services };
    return isObject(data) ? { ...node, data: { ...data, ...own } } : node;
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
