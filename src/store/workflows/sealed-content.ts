// Secrets in an agent's content (keys in nodes and settings with a model of their own): sealed in the stored JSON,
// where names mark secrets. The sealed places are stored beside it, so that a client's value is never taken for sealed
// text. Sealed text can be unsealed in any version of any agent of the organization, at the same place.

import { z } from 'zod';
import { isServiceSecret } from '../../model/speech-services/service-rows.ts';
import { isSecretName, NODE_OVERRIDES, SERVICE_OVERRIDES } from '../../model/workflow.ts';
import { isObject } from '../../std/json.ts';
import { jsonText } from '../db/column-values.ts';
import type { SecretBox } from '../secrets/secret-box.ts';

export type ContentColumn = 'definition' | 'configurations';
type Step = string | number;

const storedPlace = z.array(z.union([z.string(), z.number()])).min(1);

interface Sealing {
  column: ContentColumn;
  organizationId: string;
  secrets: SecretBox;
}

/** The content as JSON text, and the sealed places in it. */
export function sealContent(
  content: object,
  { column, organizationId, secrets }: Sealing,
): { text: string; sealedFields: string[] } {
  const text = jsonText(content);
  // The stored form: the places must name the keys that exist afterwards.
  const stored: unknown = JSON.parse(text);
  const sealedFields: string[] = [];
  for (const path of [...secretsIn(stored, []), ...serviceSecretsIn(column, stored)]) {
    const field = JSON.stringify([column, ...path]);
    sealedFields.push(field);
    replaceAt(stored, path, (value) => secrets.seal(String(value), { organizationId, field }));
  }
  return sealedFields.length === 0
    ? { text, sealedFields }
    : { text: JSON.stringify(stored), sealedFields };
}

/** The content in clear; a copy if something was sealed. Throws SECRET_KEY_MISSING, SECRET_UNREADABLE. */
export function openContent<Content extends object>(
  content: Content,
  sealedFields: readonly string[],
  { column, organizationId, secrets }: Sealing,
): Content {
  const own = fieldsOf(column, sealedFields);
  if (own.length === 0) return content;
  const opened = structuredClone(content);
  for (const field of own) {
    const [, ...path] = placeOf(field);
    replaceAt(opened, path, (value) => secrets.open(String(value), { organizationId, field }));
  }
  return opened;
}

/** The sealed fields of a column. */
export function fieldsOf(column: ContentColumn, sealedFields: readonly string[]): string[] {
  return sealedFields.filter((field) => placeOf(field)[0] === column);
}

/** Whether all its secrets were sealed by the newest key. */
export function isFresh(
  content: object,
  sealedFields: readonly string[],
  { column, secrets }: Pick<Sealing, 'column' | 'secrets'>,
): boolean {
  let fresh = true;
  const copy = structuredClone(content);
  for (const field of fieldsOf(column, sealedFields)) {
    const [, ...path] = placeOf(field);
    replaceAt(copy, path, (value) => {
      fresh &&= secrets.isNewest(String(value));
      return value;
    });
  }
  return fresh;
}

function placeOf(field: string): Step[] {
  return storedPlace.parse(JSON.parse(field));
}

/** Paths of services' secrets in the settings or the nodes, besides texts under a secret's name: lists of keys,
 *  objects. */
function serviceSecretsIn(column: ContentColumn, content: unknown): Step[][] {
  if (!isObject(content)) return [];
  const known = new Set(secretsIn(content, []).map((path) => JSON.stringify(path)));
  const found = servicesIn(column, content).flatMap(({ value, path }) =>
    textsOfSecrets(value, path, { isSecret: false }),
  );
  return found.filter((path) => !known.has(JSON.stringify(path)));
}

function servicesIn(
  column: ContentColumn,
  content: Readonly<Record<string, unknown>>,
): { value: unknown; path: Step[] }[] {
  if (column === 'configurations') {
    return SERVICE_OVERRIDES.map((name) => ({ value: content[name], path: [name] }));
  }
  const { nodes } = content;
  return (Array.isArray(nodes) ? nodes : []).flatMap((node: unknown, nth) => {
    const data = isObject(node) ? node['data'] : undefined;
    if (!isObject(data)) return [];
    return [{ value: data[NODE_OVERRIDES], path: ['nodes', nth, 'data', NODE_OVERRIDES] }];
  });
}

function textsOfSecrets(
  value: unknown,
  path: readonly Step[],
  { isSecret }: { isSecret: boolean },
): Step[][] {
  if (typeof value === 'string') return isSecret && value !== '' ? [[...path]] : [];
  if (Array.isArray(value)) {
    return value.flatMap((each, nth) => textsOfSecrets(each, [...path, nth], { isSecret }));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    textsOfSecrets(each, [...path, key], { isSecret: isSecret || isServiceSecret(key) }),
  );
}

/** Paths of all texts under a secret's name. Empty texts are not sealed. */
function secretsIn(value: unknown, path: readonly Step[]): Step[][] {
  if (Array.isArray(value)) {
    return value.flatMap((each, index) => secretsIn(each, [...path, index]));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, each]) => {
    const isSecret = typeof each === 'string' && each !== '' && isSecretName(key);
    return isSecret ? [[...path, key]] : secretsIn(each, [...path, key]);
  });
}

function replaceAt(value: unknown, path: readonly Step[], by: (value: unknown) => unknown): void {
  const [key = '', ...rest] = path;
  if (Array.isArray(value) && typeof key === 'number') {
    if (rest.length === 0) value[key] = by(value[key]);
    else replaceAt(value[key], rest, by);
  } else if (isObject(value) && typeof key === 'string' && Object.hasOwn(value, key)) {
    if (rest.length === 0) value[key] = by(value[key]);
    else replaceAt(value[key], rest, by);
  }
}
