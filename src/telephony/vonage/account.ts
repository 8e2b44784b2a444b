// A Vonage account: both kinds of credentials, its balance, its numbers, and the application that receives their calls:
// all linked numbers share its answer URL. Vonage replaces an application as a whole, so its other settings are sent
// back. Source: developer.vonage.com, Account API (get-balance), Numbers API and Application API v2.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { isObject } from '../../std/json.ts';
import {
  type InboundNumbers,
  inboundNumbers,
  type NumberLook,
} from '../provider/inbound-numbers.ts';
import { balanceOf, money, type ProviderInspection } from '../provider/inspection.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { answerOf, checkedCredentials, type VonageClient, type VonageRequest } from './client.ts';

const balance = z.looseObject({ value: money });

export function createVonageInspection(client: VonageClient): ProviderInspection {
  return {
    async account(credentials, signal) {
      const ask = (action: string, api: VonageRequest['api'], path: string): VonageRequest => ({
        action,
        method: 'GET',
        api,
        path,
        repeatable: true,
      });
      const wanted = ask('get-account', 'numbers', '/account/get-balance');
      const answer = await client.send(credentials, wanted, signal);
      const { value } = answerOf(answer, wanted, balance);
      // Key and secret are valid; application and private key are separate credentials.
      const calls = ask('find-calls', 'calls', '/v1/calls?page_size=1');
      answerOf(await client.send(credentials, calls, signal), calls, z.unknown());
      const dateMs = answer.dateMs ?? null;
      return { standing: 'unknown', balance: balanceOf(value, 'EUR'), dateMs };
    },

    application: {
      async read(credentials, signal) {
        const { application_id: id } = checkedCredentials(credentials);
        const found = await readApplication({ client, credentials, signal }, id);
        return found && { id, name: found.name, inboundUrl: answerUrlOf(found) || null };
      },

      async point(credentials, url, signal) {
        const { application_id: id } = checkedCredentials(credentials);
        const asking = { client, credentials, signal };
        const found = await readApplication(asking, id);
        if (found !== undefined) return pointApplication(asking, { id, found, url });
        const reason = 'the account has no such application';
        throw new GatewayError('PROVIDER_REFUSED', { provider: 'vonage', reason });
      },
    },

    movesNumbers: true,

    targets: createVonageNumbers(client).targets,
  };
}

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

interface Asking {
  client: VonageClient;
  credentials: ProviderCredentials;
  signal: AbortSignal;
}

export function createVonageNumbers(client: VonageClient): InboundNumbers {
  const oursOf = ({ credentials }: NumberLook): string =>
    checkedCredentials(credentials).application_id;
  return inboundNumbers<OwnedNumber>({
    label: 'Vonage',
    form: /^\d+$/,

    async find({ credentials, address: number, signal }) {
      const query = new URLSearchParams([
        ['pattern', number],
        ['search_pattern', '0'],
        ['size', String(PAGE_SIZE)],
      ]);
      const path = `/account/numbers?${query}`;
      const wanted = { action: 'find-number', method: 'GET', api: 'numbers', path } as const;
      const asking = { client, credentials, signal };
      const { numbers } = await send(asking, { ...wanted, repeatable: true }, page);
      // The filter matches prefixes too.
      return numbers.find(({ msisdn }) => msisdn === number);
    },

    targetOf: ({ app_id: id }) => (id ? { kind: 'application', id } : { kind: 'none' }),

    async point(number, look) {
      const asking = { client, ...look };
      const ours = oursOf(look);
      const refusal = await pointUnused(asking, ours, look.url);
      if (refusal !== undefined || number.app_id === ours) return refusal;
      return link(asking, number, ours);
    },

    async isPointed({ app_id }, look) {
      const ours = oursOf(look);
      if (app_id !== ours) return false;
      return answerUrlOf(await readApplication({ client, ...look }, ours)) === look.url;
    },

    /** The application's URL stays for its other numbers. */
    detach: (number, look) => link({ client, ...look }, number, null),
  });
}

/** Links the number to an application; null unlinks it. Returns the reason why not. */
async function link(
  asking: Asking,
  { country, msisdn }: OwnedNumber,
  applicationId: string | null,
): Promise<string | undefined> {
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
  return code === '200' ? undefined : `Vonage did not link the number: ${code} ${words}`.trim();
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
async function readApplication(
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

function answerUrlOf(found: Application | undefined): string | undefined {
  return found?.capabilities?.voice?.webhooks?.answer_url?.address;
}

function applicationPath(id: string): string {
  return `/v2/applications/${encodeURIComponent(id)}`;
}

/** Points the application at us, regardless of its present URLs. */
async function pointApplication(
  asking: Asking,
  { id, found, url }: { id: string; found: Application; url: string },
): Promise<void> {
  const body = pointed(found, url);
  if (isSame(body.capabilities, found.capabilities)) return;
  const path = applicationPath(id);
  const write = { action: 'configure-inbound', method: 'PUT', api: 'applications', path } as const;
  await send(asking, { ...write, body, repeatable: true }, z.unknown());
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
