// The rows of all services by job and provider: check, defaults, secret fields. Except for a service's own client, all
// code reads the properties of a service from its row.

import { z } from 'zod';
import { isObject } from '../../std/json.ts';
import { isSecretName } from '../workflow.ts';
import { isKeyLike } from './description-secrets.ts';
import type { ConfiguredService } from './model-configuration.ts';
import { services } from './services.ts';

export const SPEECH_JOBS = ['stt', 'tts', 'llm'] as const;
export type SpeechJob = (typeof SPEECH_JOBS)[number];
export type ServiceRows<Settings = unknown> = Readonly<Record<string, z.ZodType<Settings>>>;

const ROWS: Readonly<Record<SpeechJob, ServiceRows>> = services;

/** Keys of one service, one of which each call uses. */
const KEYS_MAX = 32;
const keyList = z.array(z.string().min(1)).min(1).max(KEYS_MAX);

/** The settings for the service's client, or their problem, without secrets. */
export function checkedService<Settings>(
  rows: ServiceRows<Settings>,
  service: ConfiguredService,
): { settings: Settings } | { problem: string } {
  const { provider } = service;
  const row = Object.hasOwn(rows, provider) ? rows[provider] : undefined;
  if (row === undefined) return { problem: missingService(provider, Object.keys(rows)) };
  const { success, data, error } = row.safeParse(withoutNulls(service));
  if (success) return { settings: data };
  const [issue] = error.issues;
  const field = issue?.path.join('.') ?? '';
  const words = issue === undefined ? 'is invalid' : wordsOf(issue);
  return { problem: `${field === '' ? provider : field}: ${words}` };
}

/** Services that clients know from the reference's configuration API or other platforms and that this version does not
 *  have, with the reason as the end of a sentence. The tables of docs/services.md list the same. */
const NOT_BUILT: Readonly<Record<string, string>> = {
  google_vertex: 'it requires tokens of a service account; google accepts a key of the Gemini API',
  aws_bedrock: 'it requires signed requests; anthropic and openrouter accept a key',
  aws_transcribe: 'it requires signed URLs and event streams',
  aws_polly: 'it requires signed requests',
  // Reason for the recogniser: Google's language model and voice are built.
  google: 'its recogniser accepts gRPC only',
  riva: 'it accepts gRPC only',
  kyutai: 'its messages are MessagePack',
  sherpa_onnx: 'it accepts audio of 32-bit floats only',
  hume: 'its speech service ended on 13 November 2026',
  dograh: 'it is the hosted service of another platform',
};

/** Why a service is not built; undefined for an unknown name. A service that this version has for another job is
 *  included only if its own service for this one is not built. */
export function whyNotBuilt(provider: string): string | undefined {
  return Object.hasOwn(NOT_BUILT, provider) ? NOT_BUILT[provider] : undefined;
}

/** Names of the services that are not built. */
export const servicesNotBuilt: readonly string[] = Object.keys(NOT_BUILT);

function wordsOf({ code, message }: z.core.$ZodIssue): string {
  const isMissing = code === 'invalid_type' && message.endsWith('received undefined');
  return isMissing ? 'is missing' : message;
}

function missingService(provider: string, known: readonly string[]): string {
  const reason = whyNotBuilt(provider);
  if (reason === undefined) {
    return `Unknown provider: ${provider}. There are: ${known.join(', ')}`;
  }
  return `This gateway does not have the provider ${provider}: ${reason}`;
}

/** Checks a service as a client sent it, which may have a list of keys. Returns it in the stored form, with defaults
 *  and without unknown fields. */
export function storableService(
  job: SpeechJob,
  service: ConfiguredService,
): { service: ConfiguredService } | { problem: string } {
  const keys = service['api_key'];
  if (Array.isArray(keys) && !keyList.safeParse(keys).success) {
    return { problem: `api_key: must be a key, or a list of 1 to ${KEYS_MAX} keys` };
  }
  const first = ([key = '']: readonly string[]): string => key;
  const checked = checkedService(ROWS[job], withOneKey(service, first));
  if ('problem' in checked) return checked;
  for (const key of Array.isArray(keys) ? keys.slice(1) : []) {
    const other = checkedService(ROWS[job], { ...service, api_key: key });
    if ('problem' in other) return other;
  }
  const { provider } = service;
  const known = isObject(checked.settings) ? withoutNulls(checked.settings) : {};
  const place = keyInside(known);
  if (place !== undefined) {
    return { problem: `${place}: must have no key: it is shown as it is. Put it into api_key` };
  }
  return { service: { ...known, provider, ...(Array.isArray(keys) ? { api_key: keys } : {}) } };
}

/** Path of a key in a field with fields of its own, such as `extra_body`. A description is checked by its row. A list
 *  of a row has words, such as "basic plan" in a vocabulary. */
function keyInside(fields: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, value] of Object.entries(fields)) {
    const isFree = name !== 'description' && !isServiceSecret(name) && isObject(value);
    const place = isFree ? keyPlace(value, name) : undefined;
    if (place !== undefined) return place;
  }
  return undefined;
}

function keyPlace(value: unknown, path: string): string | undefined {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  for (const [name, each] of entries) {
    const place = `${path}.${name}`;
    if (typeof each === 'string') {
      if (isKeyLike(each) || (each !== '' && isServiceSecret(name))) return place;
      continue;
    }
    const inside = keyPlace(each, place);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

/** The problem of a service, which may have a list of keys; undefined if there is none. */
export function serviceProblemOf(job: SpeechJob, service: ConfiguredService): string | undefined {
  const stored = storableService(job, service);
  return 'problem' in stored ? stored.problem : undefined;
}

/** The service with one key of its list, if it has a list. `pickKey` gets the service with each of them. */
export function withOneKey(
  service: ConfiguredService,
  pickKey: (keys: readonly string[], withKey: (key: string) => ConfiguredService) => string,
): ConfiguredService {
  const keys = keyList.safeParse(service['api_key']);
  if (!keys.success) return service;
  const withKey = (key: string): ConfiguredService => ({ ...service, api_key: key });
  return withKey(pickKey(keys.data, withKey));
}

/** Names of fields with an address to which a service's key is sent. */
const ADDRESS_NAME = /(^|_)(url|uri|endpoint|host)$/;

/** A service and its job. */
export interface ServiceOfJob {
  job: SpeechJob;
  service: ConfiguredService;
}

/** Whether both services have one provider and the same addresses. A key is for one account: it must not reach another
 *  address because a user who does not know it changed the address. */
export function isSameAccount(one: ServiceOfJob, other: ServiceOfJob): boolean {
  if (one.service.provider !== other.service.provider) return false;
  const [first, second] = [addressesOf(one), addressesOf(other)];
  return [...first, ...second].every(([name]) => first.get(name) === second.get(name));
}

function addressesOf({ job, service }: ServiceOfJob): Map<string, unknown> {
  const all = { ...defaultsOf(job, service.provider), ...withoutNulls(service) };
  return new Map(Object.entries(all).filter(([name]) => ADDRESS_NAME.test(name)));
}

/** The addresses of a service, by their field. */
export function addressesIn(service: ConfiguredService): [field: string, address: string][] {
  return Object.entries(service).flatMap(([name, value]): [string, string][] =>
    ADDRESS_NAME.test(name) && typeof value === 'string' ? [[name, value]] : [],
  );
}

/** Fields besides keys and addresses that distinguish accounts: services fail for one model only, and a description may
 *  have another path. */
const ACCOUNT_FIELDS: readonly string[] = ['provider', 'model', 'region', 'description'];

/** The settings that identify the account, without those of its use. */
export function accountIn(settings: object): Record<string, unknown> {
  const fields = Object.entries(settings).filter(
    ([name]) => ACCOUNT_FIELDS.includes(name) || ADDRESS_NAME.test(name) || isServiceSecret(name),
  );
  return Object.fromEntries(fields);
}

/** The schema of a service's fields; undefined if this version does not have it. */
export function serviceRow(job: SpeechJob, provider: string): z.ZodObject | undefined {
  const row = Object.hasOwn(ROWS[job], provider) ? ROWS[job][provider] : undefined;
  return row instanceof z.ZodObject ? row : undefined;
}

function defaultsOf(job: SpeechJob, provider: string): Record<string, unknown> {
  const row = serviceRow(job, provider);
  if (row === undefined) return {};
  const fields = Object.entries(row.shape).map(([name, field]) => [
    name,
    field instanceof z.ZodType ? field.safeParse(undefined).data : undefined,
  ]);
  return withoutNulls(Object.fromEntries(fields));
}

/** Secret fields of the reference's services, whether or not this version has them. */
const REFERENCE_SECRETS = ['api_key', 'credentials', 'aws_access_key', 'aws_secret_key'];

/** Names of the fields that a row marks by `.meta({ secret: true })`. */
const secretNames: ReadonlySet<string> = new Set([
  ...REFERENCE_SECRETS,
  ...Object.values(ROWS).flatMap((rows) => Object.values(rows).flatMap(secretsOfRow)),
]);

/** Whether a service's field with that name is a secret: sealed when stored, masked in answers. */
export function isServiceSecret(name: string): boolean {
  return secretNames.has(name) || isSecretName(name);
}

function secretsOfRow(row: z.ZodType): string[] {
  const { properties = {} } = z.toJSONSchema(row, { io: 'input', unrepresentable: 'any' });
  return Object.entries(properties).flatMap(([name, field]) => (isMarked(field) ? [name] : []));
}

function isMarked(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(isMarked);
  if (!isObject(schema)) return false;
  return schema['secret'] === true || Object.values(schema).some(isMarked);
}

/** The fields without null, which clients send for a field that is not set. */
export function withoutNulls(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const set = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(set);
}
