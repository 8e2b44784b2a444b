// The account's phone numbers: ownership, and the application that receives their calls. Source: providers §2.7.

import { z } from 'zod';
import type { NumberTarget } from '../provider/inspection.ts';
import type { ProviderControl } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { applicationFault, readApplication } from './application.ts';
import { checkedCredentials, dataOf, type TelnyxClient } from './client.ts';

/** The filter has one number, so more than a few cannot match. */
const PAGE_SIZE = 20;

const numbers = z.array(
  z.object({
    id: z.coerce.string().min(1),
    phone_number: z.string(),
    connection_id: z.coerce.string().nullish(),
    connection_name: z.string().nullish(),
  }),
);
type OwnedNumber = z.infer<typeof numbers>[number];

interface Asking {
  credentials: ProviderCredentials;
  signal: AbortSignal;
}

/** Destination of a number's calls; undefined if the account does not own it. */
export async function targetOf(
  client: TelnyxClient,
  address: string,
  asking: Asking,
): Promise<NumberTarget | undefined> {
  const number = await find(client, address, asking);
  if (number === undefined) return undefined;
  return number.connection_id
    ? { kind: 'application', id: number.connection_id }
    : { kind: 'none' };
}

export function createTelnyxNumbers(
  client: TelnyxClient,
): Pick<ProviderControl, 'ownsNumber' | 'configureInbound' | 'detachInbound'> {
  return {
    async ownsNumber(credentials, address, signal) {
      if (!address.startsWith('+')) return undefined;
      return (await find(client, address, { credentials, signal })) !== undefined;
    },

    async configureInbound(credentials, address, url, signal) {
      const asking = { credentials, signal };
      const found = await findWithOurs(client, address, asking);
      return 'ok' in found ? found : attach(client, { ...found, url, ...asking });
    },

    async detachInbound(credentials, address, url, signal) {
      const asking = { credentials, signal };
      const found = await findWithOurs(client, address, asking);
      return 'ok' in found ? found : detach(client, { ...found, url, ...asking });
    },
  };
}

const DONE = { ok: true, message: null } as const;

/** A number, and the id of the configuration's application. */
interface NumberWithOurs {
  number: OwnedNumber;
  ours: string;
}

async function findWithOurs(
  client: TelnyxClient,
  address: string,
  asking: Asking,
): Promise<NumberWithOurs | ReturnType<typeof refusal>> {
  if (!address.startsWith('+')) return refusal('Telnyx routes phone numbers here, not SIP.');
  const ours = checkedCredentials(asking.credentials).connection_id;
  if (!ours) return refusal('The configuration names no call control application.');
  const number = await find(client, address, asking);
  if (number === undefined) return refusal('The Telnyx account does not own this number.');
  return { number, ours };
}

/** Takes the number from the application, whose URL stays for its other numbers. A number whose application is another
 *  system's is not changed. */
async function detach(
  client: TelnyxClient,
  { number, ours, url, ...asking }: Asking & NumberWithOurs & { url: string },
): Promise<{ ok: boolean; message: string | null }> {
  if (number.connection_id !== ours) return DONE;
  const application = await readApplication(client, ours, asking);
  if (application?.webhook_event_url !== url) return DONE;
  await assign(client, { number, ours: '', ...asking });
  return DONE;
}

async function attach(
  client: TelnyxClient,
  { number, ours, url, ...asking }: Asking & NumberWithOurs & { url: string },
): Promise<{ ok: boolean; message: string | null }> {
  const current = number.connection_id || null;
  if (current !== null && current !== ours) {
    const name = number.connection_name ?? current;
    return refusal(
      `The number belongs to ${name} at Telnyx, which gets its calls. Remove it there.`,
    );
  }
  const application = await readApplication(client, ours, asking);
  if (application === undefined) {
    return refusal(`The Telnyx account has no call control application ${ours}.`);
  }
  const fault = applicationFault(application, url);
  if (fault !== undefined) return refusal(fault);
  if (current !== ours) await assign(client, { number, ours, ...asking });
  return DONE;
}

function refusal(message: string): { ok: false; message: string } {
  return { ok: false, message };
}

async function find(
  client: TelnyxClient,
  address: string,
  { credentials, signal }: Asking,
): Promise<OwnedNumber | undefined> {
  const query = new URLSearchParams([
    ['filter[phone_number]', address],
    ['page[size]', String(PAGE_SIZE)],
  ]);
  const path = `phone_numbers?${query}`;
  const wanted = { action: 'find-number', method: 'GET', path, repeatable: true } as const;
  const answer = dataOf(await client.send(credentials, wanted, signal), wanted, numbers);
  // The filter matches parts of numbers too.
  return answer.find(({ phone_number }) => phone_number === address);
}

/** Assigns the number to the application `ours`; an empty one takes it from its application. */
async function assign(
  client: TelnyxClient,
  { number, ours, credentials, signal }: Asking & NumberWithOurs,
): Promise<void> {
  const path = `phone_numbers/${encodeURIComponent(number.id)}`;
  const body = { connection_id: ours };
  const wanted = {
    action: 'configure-inbound',
    method: 'PATCH',
    path,
    body,
    repeatable: true,
  } as const;
  dataOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
}
