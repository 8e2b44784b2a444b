// The account's phone numbers at Vobiz, which are `+` and digits here: whether it owns one, and the application of its
// inbound calls. Source: docs.vobiz.ai (applications, phone numbers)

import { z } from 'zod';
import type { AccountClient, AccountRequest } from '../plivo-xml/account-client.ts';
import { answerUrlOf, ensureApplication } from '../plivo-xml/applications.ts';
import { lookUp } from '../plivo-xml/calls.ts';
import type { NumberTarget } from '../provider/inspection.ts';
import type { ProviderControl } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import type { VobizConfig } from './config.ts';

const DIGITS = /^\d{5,15}$/;
const PAGE_SIZE = 100;
const page = z.object({
  items: z.array(
    z.object({
      e164: z.string(),
      application_id: z.union([z.string(), z.int()]).nullish(),
      trunk_group_id: z.union([z.string(), z.int()]).nullish(),
    }),
  ),
});
type OwnedNumber = z.infer<typeof page>['items'][number];

interface Wish {
  credentials: ProviderCredentials;
  address: string;
  signal: AbortSignal;
}
type Outcome = { ok: boolean; message: string | null };

export function createVobizNumbers(
  client: AccountClient<VobizConfig>,
): Pick<ProviderControl, 'ownsNumber' | 'configureInbound' | 'ensureApplication'> {
  return {
    async ownsNumber(credentials, address, signal) {
      if (!DIGITS.test(address)) return undefined;
      return (await find(client, { credentials, address, signal })) !== undefined;
    },

    async configureInbound(credentials, address, url, signal) {
      const wish = { credentials, address, signal };
      if (!DIGITS.test(address)) return refusal('Vobiz routes phone numbers here, not SIP.');
      const number = await find(client, wish);
      if (number === undefined) return refusal('The Vobiz account does not own this number.');
      const ours = client.account(credentials).application_id ?? '';
      return url === null
        ? detach(client, wish, { number, ours })
        : attach(client, wish, { number, ours, url });
    },

    ensureApplication: (credentials, wanted, signal) =>
      ensureApplication(client, { credentials, wanted, signal }),
  };
}

function refusal(message: string): Outcome {
  return { ok: false, message };
}

async function find(
  client: AccountClient<VobizConfig>,
  { credentials, address, signal }: Wish,
): Promise<OwnedNumber | undefined> {
  const query = new URLSearchParams({ search: address, per_page: String(PAGE_SIZE) });
  const look = { credentials, action: 'find-number', schema: page, signal };
  const found = await lookUp(client, { ...look, path: `numbers?${query}` });
  return found?.items.find(({ e164 }) => e164.replace(/^\+/, '') === address);
}

/** An application with another answer URL may belong to another system: it is reported, never changed. */
async function attach(
  client: AccountClient<VobizConfig>,
  wish: Wish,
  { number, ours, url }: { number: OwnedNumber; ours: string; url: string },
): Promise<Outcome> {
  if (ours === '') return refusal('The configuration has no Vobiz application; save it again.');
  const trunk = number.trunk_group_id ?? '';
  if (trunk !== '') return refusal('The number belongs to a SIP trunk at Vobiz.');
  const { credentials, signal } = wish;
  const answerUrl = await answerUrlOf(client, { credentials, applicationId: ours, signal });
  if (answerUrl === undefined) return refusal('The Vobiz application does not exist.');
  if (answerUrl !== url) {
    return refusal(
      `The Vobiz application answers at another address; its answer URL must be ${url}`,
    );
  }
  await assign(client, wish, { method: 'POST', body: { application_id: ours } });
  return { ok: true, message: null };
}

/** Where a number's calls go. Undefined if the account does not own it. */
export async function targetOf(
  client: AccountClient<VobizConfig>,
  wish: Wish,
): Promise<NumberTarget | undefined> {
  const number = await find(client, wish);
  if (number === undefined) return undefined;
  if ((number.trunk_group_id ?? '') !== '') return { kind: 'blocked', by: 'a SIP trunk' };
  const id = String(number.application_id ?? '');
  return id === '' ? { kind: 'none' } : { kind: 'application', id };
}

/** The application stays as it is: other numbers share it. */
async function detach(
  client: AccountClient<VobizConfig>,
  wish: Wish,
  { number, ours }: { number: OwnedNumber; ours: string },
): Promise<Outcome> {
  const isOurs = ours !== '' && String(number.application_id ?? '') === ours;
  if (isOurs) await assign(client, wish, { method: 'DELETE', body: null });
  return { ok: true, message: null };
}

async function assign(
  client: AccountClient<VobizConfig>,
  { credentials, address, signal }: Wish,
  change: Pick<AccountRequest, 'method' | 'body'>,
): Promise<void> {
  const path = `numbers/%2B${address}/application`;
  const wanted = { ...change, action: 'configure-inbound', path, repeatable: true };
  client.contentOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
}
