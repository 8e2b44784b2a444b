// Masks of services' secrets: the text that clients see of a stored key, and the stored key that a returned mask stands
// for. Source: contract §10.4.

import { isObject } from '../../std/json.ts';
import type { ConfiguredSection, ConfiguredService } from './model-configuration.ts';
import { servicesIn } from './model-configuration.ts';
import { isSameAccount, isServiceSecret, type SpeechJob, withoutNulls } from './service-rows.ts';

/** Text that marks a secret field's value as a mask. */
const MASK_MARKER = '***';
/** Length of all masks, so that none shows the length of its secret. */
const MASK_CHARACTERS = 16;
const SHOWN_CHARACTERS = 4;
/** Shortest secret of which four characters are shown. */
const SHOWN_FROM_CHARACTERS = 12;

export function maskOf(secret: string): string {
  const characters = [...secret];
  const isLong = characters.length >= SHOWN_FROM_CHARACTERS;
  const shown = isLong ? characters.slice(-SHOWN_CHARACTERS).join('') : '';
  return shown.padStart(MASK_CHARACTERS, '*');
}

/** Mask in the reference's form, as long as the secret, which clients may have kept. */
function referenceMaskOf(secret: string): string {
  const characters = [...secret];
  const shown = characters.length > SHOWN_CHARACTERS ? characters.slice(-SHOWN_CHARACTERS) : [];
  return '*'.repeat(characters.length - shown.length) + shown.join('');
}

function isMaskOf(text: string, secret: string): boolean {
  return text === maskOf(secret) || text === referenceMaskOf(secret);
}

/** A copy of the value with every secret in it masked. */
export function maskServices(value: unknown): unknown {
  return mapSecrets(value, (secret) => mapTexts(secret, maskOf));
}

/** Name of the first secret field with a mask. */
export function maskedField(value: unknown): string | undefined {
  let found: string | undefined;
  mapSecrets(value, (secret, name) =>
    mapTexts(secret, (text) => {
      if (text.includes(MASK_MARKER)) found ??= name;
      return text;
    }),
  );
  return found;
}

/** `sent` with the secrets of the stored services of the same account, for absent ones and for masks. Secrets for
 *  another provider or another address are not used. */
export function withStoredSecrets(
  job: SpeechJob,
  sent: ConfiguredSection,
  stored: readonly ConfiguredSection[],
): ConfiguredSection {
  const known = stored.flatMap(servicesIn);
  const [primary, ...fallbacks] = servicesIn(sent).map((service, nth) => {
    const inOrder = [...new Set([...known.slice(nth, nth + 1), ...known])];
    const same = inOrder.filter((each) => isSameAccount({ job, service }, { job, service: each }));
    return restored(service, same);
  });
  return {
    ...(primary ?? sent),
    ...(fallbacks.length === 0 ? {} : { fallbacks }),
  };
}

function restored(
  service: ConfiguredService,
  stored: readonly ConfiguredService[],
): ConfiguredService {
  const given = withoutNulls(service);
  const merged: ConfiguredService = { ...given, provider: service.provider };
  const names = stored.flatMap((each) => Object.keys(each)).filter(isServiceSecret);
  for (const name of new Set(names)) {
    const values = stored.map((each) => each[name]).filter((value) => value !== undefined);
    merged[name] = name in given ? unmasked(given[name], values.flatMap(textsIn)) : values[0];
  }
  return merged;
}

/** The value with every mask replaced by its secret; each secret is used once. */
function unmasked(value: unknown, secrets: readonly string[]): unknown {
  const left = [...secrets];
  return mapTexts(value, (text) => {
    const nth = left.findIndex((secret) => isMaskOf(text, secret));
    return nth < 0 ? text : (left.splice(nth, 1)[0] ?? text);
  });
}

function textsIn(value: unknown): string[] {
  const texts: string[] = [];
  mapTexts(value, (text) => {
    texts.push(text);
    return text;
  });
  return texts;
}

/** A copy of a secret with `by` applied to every text: one text, a list, or an object of texts. */
function mapTexts(value: unknown, by: (text: string) => string): unknown {
  if (typeof value === 'string') return value === '' ? value : by(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, by));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapTexts(each, by)]));
}

function mapSecrets(value: unknown, by: (secret: unknown, name: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => mapSecrets(each, by));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, each]) => {
    // A service's description names its keys (`api_key: '{key}'`) and contains none.
    if (name === 'description') return [name, each];
    return [name, isServiceSecret(name) ? by(each, name) : mapSecrets(each, by)];
  });
  return Object.fromEntries(entries);
}
