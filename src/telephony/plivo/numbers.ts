// The account's phone numbers at Plivo: whether it owns one, and the application of its inbound calls.
// Source: plivo.com/docs/numbers/api/account-phone-number

import { z } from 'zod';
import type { AccountClient, AccountRequest } from '../plivo-xml/account-client.ts';
import { answerUrlOf, ensureApplication } from '../plivo-xml/applications.ts';
import { lookUp } from '../plivo-xml/calls.ts';
import type { NumberTarget } from '../provider/inspection.ts';
import type { ProviderControl } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import type { PlivoConfig } from './config.ts';

const DIGITS = /^\d{5,15}$/;
/** `application` is the address of a resource, whose last part is the id. */
const owned = z.looseObject({ application: z.string().nullish(), app_id: z.string().nullish() });

interface Wish {
  credentials: ProviderCredentials;
  address: string;
  signal: AbortSignal;
}

export function createPlivoNumbers(
  client: AccountClient<PlivoConfig>,
): Pick<ProviderControl, 'ownsNumber' | 'configureInbound' | 'ensureApplication'> {
  return {
    async ownsNumber(credentials, address, signal) {
      if (!DIGITS.test(address)) return undefined;
      return (await find(client, { credentials, address, signal })) !== undefined;
    },

    async configureInbound(credentials, address, url, signal) {
      const wish = { credentials, address, signal };
      if (!DIGITS.test(address)) return refusal('Plivo routes phone numbers here, not SIP.');
      const number = await find(client, wish);
      if (number === undefined) return refusal('The Plivo account does not own this number.');
      const ours = client.account(credentials).application_id ?? '';
      return url === null
        ? detach(client, wish, { number, ours })
        : attach(client, wish, { ours, url });
    },

    ensureApplication: (credentials, wanted, signal) =>
      ensureApplication(client, { credentials, wanted, signal }),
  };
}

function refusal(message: string): { ok: false; message: string } {
  return { ok: false, message };
}

function find(client: AccountClient<PlivoConfig>, { credentials, address, signal }: Wish) {
  const path = `Number/${address}/`;
  return lookUp(client, { credentials, action: 'find-number', path, schema: owned, signal });
}

/** An application with another answer URL may belong to another system: it is reported, never changed. */
async function attach(
  client: AccountClient<PlivoConfig>,
  wish: Wish,
  { ours, url }: { ours: string; url: string },
): Promise<{ ok: boolean; message: string | null }> {
  if (ours === '') return refusal('The configuration has no Plivo application; save it again.');
  const { credentials, signal } = wish;
  const answerUrl = await answerUrlOf(client, { credentials, applicationId: ours, signal });
  if (answerUrl === undefined) return refusal('The Plivo application does not exist.');
  if (answerUrl !== url) {
    return refusal(
      `The Plivo application answers at another address; its answer URL must be ${url}`,
    );
  }
  await assign(client, wish, ours);
  return { ok: true, message: null };
}

/** Where a number's calls go. Undefined if the account does not own it. */
export async function targetOf(
  client: AccountClient<PlivoConfig>,
  wish: Wish,
): Promise<NumberTarget | undefined> {
  const number = await find(client, wish);
  const id = number && applicationOf(number);
  if (number === undefined) return undefined;
  return id ? { kind: 'application', id } : { kind: 'none' };
}

function applicationOf({ app_id: id, application }: z.infer<typeof owned>): string | undefined {
  return id ?? /\/Application\/([^/]+)\/?$/.exec(application ?? '')?.[1];
}

/** The application stays as it is: other numbers share it. */
async function detach(
  client: AccountClient<PlivoConfig>,
  wish: Wish,
  { number, ours }: { number: z.infer<typeof owned>; ours: string },
): Promise<{ ok: boolean; message: string | null }> {
  if (ours !== '' && applicationOf(number) === ours) await assign(client, wish, null);
  return { ok: true, message: null };
}

async function assign(
  client: AccountClient<PlivoConfig>,
  { credentials, address, signal }: Wish,
  applicationId: string | null,
): Promise<void> {
  const wanted: AccountRequest = {
    action: 'configure-inbound',
    method: 'POST',
    path: `Number/${address}/`,
    body: { app_id: applicationId ?? '' },
    repeatable: true,
  };
  client.contentOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
}
