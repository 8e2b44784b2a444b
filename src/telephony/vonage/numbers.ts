// The account's numbers, and the application that receives their calls: all linked numbers share its answer URL. Vonage
// replaces an application as a whole, so its other settings are sent back. Source: developer.vonage.com, Numbers API
// and Application API v2.

import { z } from 'zod';
import { isObject } from '../../std/json.ts';
import type { NumberTarget } from '../provider/inspection.ts';
import type { ProviderControl } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { answerOf, checkedCredentials, type VonageClient, type VonageRequest } from './client.ts';

/** Numbers in one answer. The filter has a whole number, so more than a few cannot match. */
const PAGE_SIZE = 20;
const INBOUND_PATH = '/telephony/inbound/run';
const EVENTS_PATH = '/telephony/vonage/events';
const FALLBACK_PATH = '/telephony/inbound/fallback';

const page = z.looseObject({
  numbers: z
    .array(
      z.looseObject({ country: z.string(), msisdn: z.string(), app_id: z.string().optional() }),
    )
    .default([]),
});
type OwnedNumber = z.infer<typeof page>['numbers'][number];
const updated = z.looseObject({
  'error-code': z.string().optional(),
  'error-code-label': z.string().optional(),
});
const address = z.looseObject({ address: z.string().optional() });
const application = z.looseObject({
  name: z.string(),
  keys: z.looseObject({ public_key: z.string().optional() }).optional(),
  capabilities: z
    .looseObject({
      voice: z
        .looseObject({ webhooks: z.looseObject({ answer_url: address.optional() }).optional() })
        .optional(),
    })
    .optional(),
});
type Application = z.infer<typeof application>;

export interface Asking {
  client: VonageClient;
  credentials: ProviderCredentials;
  signal: AbortSignal;
}

export function createVonageNumbers(
  client: VonageClient,
): Pick<ProviderControl, 'ownsNumber' | 'configureInbound' | 'detachInbound'> {
  return {
    async ownsNumber(credentials, number, signal) {
      if (!/^\d+$/.test(number)) return undefined;
      return (await find({ client, credentials, signal }, number)) !== undefined;
    },

    async configureInbound(credentials, number, url, signal) {
      const asking = { client, credentials, signal };
      const owned = await findOwned(asking, number);
      if (typeof owned === 'string') return refusal(owned);
      const { application_id: ours } = checkedCredentials(credentials);
      const refused = await pointUnused(asking, ours, url);
      if (refused !== undefined) return refusal(refused);
      return owned.app_id === ours ? done() : link(asking, owned, ours);
    },

    /** Takes the number from the application, whose URL stays for its other numbers. A number whose application is
     *  another system's is not changed. */
    async detachInbound(credentials, number, url, signal) {
      const asking = { client, credentials, signal };
      const owned = await findOwned(asking, number);
      if (typeof owned === 'string') return refusal(owned);
      const { application_id: ours } = checkedCredentials(credentials);
      if (owned.app_id !== ours) return done();
      const isHere = answerUrlOf(await readApplication(asking, ours)) === url;
      return isHere ? link(asking, owned, null) : done();
    },
  };
}

/** The number, or the reason why the account has no such number. */
async function findOwned(asking: Asking, number: string): Promise<OwnedNumber | string> {
  if (!/^\d+$/.test(number)) return 'Vonage routes phone numbers here, not SIP.';
  return (await find(asking, number)) ?? 'The Vonage account does not own this number.';
}

function done(): { ok: true; message: null } {
  return { ok: true, message: null };
}

function refusal(message: string): { ok: false; message: string } {
  return { ok: false, message };
}

async function find(asking: Asking, number: string): Promise<OwnedNumber | undefined> {
  const query = new URLSearchParams([
    ['pattern', number],
    ['search_pattern', '0'],
    ['size', String(PAGE_SIZE)],
  ]);
  const { numbers } = await send(
    asking,
    {
      action: 'find-number',
      method: 'GET',
      api: 'numbers',

      path: `/account/numbers?${query}`,
      repeatable: true,
    },
    page,
  );
  // The filter matches prefixes too.
  return numbers.find(({ msisdn }) => msisdn === number);
}

/** Links the number to an application; null unlinks it. */
async function link(
  asking: Asking,
  { country, msisdn }: OwnedNumber,
  applicationId: string | null,
): Promise<{ ok: boolean; message: string | null }> {
  const form = new URLSearchParams([
    ['country', country],
    ['msisdn', msisdn],
    ...(applicationId === null ? [] : [['app_id', applicationId] as [string, string]]),
  ]);
  const { 'error-code': code = '200', 'error-code-label': words = '' } = await send(
    asking,
    {
      action: 'configure-inbound',
      method: 'POST',
      api: 'numbers',

      path: '/number/update',
      form,
      repeatable: true,
    },
    updated,
  );
  if (code === '200') return done();
  return refusal(`Vonage did not link the number: ${code} ${words}`.trim());
}

/** Points the application's voice webhooks at us. Returns the reason why not, if they belong to another system. */
async function pointUnused(asking: Asking, id: string, url: string): Promise<string | undefined> {
  const found = await readApplication(asking, id);
  const before = answerUrlOf(found) ?? '';
  if (found === undefined) return 'The account has no such Vonage application.';
  if (before !== url && !isUnused(before)) {
    return `The application sends its calls elsewhere (${before}). If they are to come here: patchbay providers sync, or its answer URL in the Vonage dashboard; if not, use another application.`;
  }
  await pointApplication(asking, { id, found, url });
  return undefined;
}

/** The application; undefined if it does not exist. */
export async function readApplication(
  { client, credentials, signal }: Asking,
  id: string,
): Promise<Application | undefined> {
  const wanted: VonageRequest = {
    action: 'get-application',
    method: 'GET',
    api: 'applications',
    repeatable: true,
    path: applicationPath(id),
  };
  const answer = await client.send(credentials, wanted, signal);
  return answer.status === 404 ? undefined : answerOf(answer, wanted, application);
}

export function answerUrlOf(found: Application | undefined): string | undefined {
  return found?.capabilities?.voice?.webhooks?.answer_url?.address;
}

function applicationPath(id: string): string {
  return `/v2/applications/${encodeURIComponent(id)}`;
}

/** Points the application at us, regardless of its present URLs. */
export async function pointApplication(
  asking: Asking,
  { id, found, url }: { id: string; found: Application; url: string },
): Promise<void> {
  const body = pointed(found, url);
  if (isSame(body.capabilities, found.capabilities)) return;
  const path = applicationPath(id);
  const write = { action: 'configure-inbound', method: 'PUT', api: 'applications', path } as const;
  await send(asking, { ...write, body, repeatable: true }, z.unknown());
}

/** Destination of a number's calls; undefined if the account does not own it. */
export async function targetOf(asking: Asking, number: string): Promise<NumberTarget | undefined> {
  const owned = await find(asking, number);
  if (owned === undefined) return undefined;
  return owned.app_id ? { kind: 'application', id: owned.app_id } : { kind: 'none' };
}

/** Host names that are reserved for examples (RFC 2606): the dashboard requires URLs when an application is created. */
const RESERVED = /(^|\.)(example(\.(com|net|org))?|invalid|test)$/i;

function isUnused(address: string): boolean {
  return address === '' || RESERVED.test(URL.parse(address)?.hostname ?? '');
}

/** The application with our webhooks and its other settings, without those that Vonage adds itself. */
function pointed(found: Application, url: string) {
  const { id: _id, ['_links']: _links, keys, capabilities, ...more } = found;
  const post = (address: string) => ({ address, http_method: 'POST' });
  const voice = {
    ...capabilities?.voice,
    signed_callbacks: true,
    webhooks: {
      ...capabilities?.voice?.webhooks,
      answer_url: post(url),
      event_url: post(url.replace(INBOUND_PATH, EVENTS_PATH)),
      fallback_answer_url: post(url.replace(INBOUND_PATH, FALLBACK_PATH)),
    },
  };
  const publicKey = keys?.public_key;
  return {
    ...more,
    ...(publicKey !== undefined && { keys: { public_key: publicKey } }),
    capabilities: { ...capabilities, voice },
  };
}

/** Whether everything in `wanted` is in `there`, which may have more. */
function isSame(wanted: unknown, there: unknown): boolean {
  if (!isObject(wanted)) return JSON.stringify(wanted) === JSON.stringify(there);
  return (
    isObject(there) && Object.entries(wanted).every(([name, value]) => isSame(value, there[name]))
  );
}

async function send<T>(
  { client, credentials, signal }: Asking,
  wanted: VonageRequest,
  schema: z.ZodType<T>,
): Promise<T> {
  return answerOf(await client.send(credentials, wanted, signal), wanted, schema);
}
