// Secrets inside a configuration's credentials, named by dotted paths (`external_pbx.agent.password`; `*` for every key
// at one level). A sealed value may be of any JSON type. The sealed places are stored beside the credentials, so that a
// client's value is never taken for sealed text.

import { z } from 'zod';
import { isObject } from '../../std/json.ts';
import type { SecretBox } from './secret-box.ts';

type Fields = Record<string, unknown>;
/** Keys from the top level down. */
type Path = readonly string[];

const storedPath = z.array(z.string()).min(1);

/** Seals the fields. Returns the stored credentials, and the places in them that are sealed. */
export function sealFields(
  credentials: Fields,
  secretFields: readonly string[],
  organizationId: string,
  secrets: SecretBox,
): { credentials: Fields; sealedFields: string[] } {
  const paths = secretFields.flatMap((field) => pathsTo(credentials, field.split('.')));
  const outermost = paths.filter((path) => !paths.some((other) => isAbove(other, path)));
  const sealedFields = [...new Set(outermost.map((path) => JSON.stringify(path)))];
  return sealPlaces(credentials, sealedFields, organizationId, secrets);
}

/** Seals places that were sealed before. Result as in `sealFields`. */
export function sealPlaces(
  credentials: Fields,
  places: readonly string[],
  organizationId: string,
  secrets: SecretBox,
): { credentials: Fields; sealedFields: string[] } {
  const sealed = structuredClone(credentials);
  const sealedFields: string[] = [];
  for (const field of places) {
    replace(sealed, storedPath.parse(JSON.parse(field)), (value) => {
      sealedFields.push(field);
      return secrets.seal(JSON.stringify(value), { organizationId, field });
    });
  }
  return { credentials: sealed, sealedFields };
}

/** The credentials in clear. Throws SECRET_KEY_MISSING, SECRET_UNREADABLE. */
export function openFields(
  credentials: Fields,
  sealedFields: readonly string[],
  organizationId: string,
  secrets: SecretBox,
): Fields {
  const opened = structuredClone(credentials);
  for (const field of sealedFields) {
    replace(opened, storedPath.parse(JSON.parse(field)), (value) =>
      JSON.parse(secrets.open(String(value), { organizationId, field })),
    );
  }
  return opened;
}

/** Whether every sealed field was sealed by the newest key. */
export function isFreshlySealed(
  credentials: Fields,
  sealedFields: readonly string[],
  secrets: SecretBox,
): boolean {
  let isFresh = true;
  const copy = structuredClone(credentials);
  for (const field of sealedFields) {
    replace(copy, storedPath.parse(JSON.parse(field)), (value) => {
      if (!secrets.isNewest(String(value))) isFresh = false;
      return value;
    });
  }
  return isFresh;
}

/** Every place with a value that matches the parts of a dotted path. */
function pathsTo(value: unknown, parts: Path): string[][] {
  const [part, ...rest] = parts;
  if (part === undefined) return value === undefined || value === null ? [] : [[]];
  if (!isObject(value)) return [];
  const keys = part === '*' ? Object.keys(value) : [part];
  return keys
    .filter((key) => Object.hasOwn(value, key))
    .flatMap((key) => pathsTo(value[key], rest).map((path) => [key, ...path]));
}

/** Whether sealing `path` includes `below`. */
function isAbove(path: Path, below: Path): boolean {
  return path.length < below.length && path.every((key, depth) => key === below[depth]);
}

function replace(fields: Fields, path: Path, by: (value: unknown) => unknown): void {
  const [key = '', ...rest] = path;
  if (!Object.hasOwn(fields, key)) return;
  const value = fields[key];
  if (rest.length === 0) fields[key] = by(value);
  else if (isObject(value)) replace(value, rest, by);
}
