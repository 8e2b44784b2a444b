// The account's phone numbers: whether it owns one, and the destination of its inbound calls.
// Source: twilio-oai, twilio_api_v2010, IncomingPhoneNumbers.

import { z } from 'zod';
import type { NumberTarget } from '../provider/inspection.ts';
import type { ProviderControl } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { answerOf, type TwilioClient } from './client.ts';

/** Numbers in one answer. The filter has one number, so more than a few cannot match. */
const PAGE_SIZE = 20;

const page = z.object({
  incoming_phone_numbers: z.array(
    z.object({
      sid: z.string(),
      phone_number: z.string(),
      voice_url: z.string().nullish(),
      voice_application_sid: z.string().nullish(),
      trunk_sid: z.string().nullish(),
    }),
  ),
});
type OwnedNumber = z.infer<typeof page>['incoming_phone_numbers'][number];

/** Destination of a number's calls; undefined if the account does not own it. */
export async function targetOf(
  client: TwilioClient,
  options: { credentials: ProviderCredentials; address: string; signal: AbortSignal },
): Promise<NumberTarget | undefined> {
  const number = await find(client, options);
  if (number === undefined) return undefined;
  if (number.trunk_sid) return { kind: 'blocked', by: 'a SIP trunk' };
  if (number.voice_application_sid) return { kind: 'blocked', by: 'a TwiML application' };
  return number.voice_url ? { kind: 'url', url: number.voice_url } : { kind: 'none' };
}

export function createTwilioNumbers(
  client: TwilioClient,
): Pick<ProviderControl, 'ownsNumber' | 'configureInbound' | 'detachInbound'> {
  return {
    async ownsNumber(credentials, address, signal) {
      if (!address.startsWith('+')) return undefined;
      return (await find(client, { credentials, address, signal })) !== undefined;
    },

    async configureInbound(credentials, address, url, signal) {
      const number = await findOwned(client, { credentials, address, signal });
      if ('ok' in number) return number;
      const elsewhere = takenBy(number);
      if (elsewhere !== null) return refusal(elsewhere);
      await point(client, { credentials, number, url, signal });
      return { ok: true, message: null };
    },

    async detachInbound(credentials, address, url, signal) {
      const number = await findOwned(client, { credentials, address, signal });
      if ('ok' in number) return number;
      if (number.voice_url === url) await point(client, { credentials, number, url: '', signal });
      return { ok: true, message: null };
    },
  };
}

/** Points the number at `url`; an empty one takes it from its destination. */
async function point(
  client: TwilioClient,
  options: {
    credentials: ProviderCredentials;
    number: OwnedNumber;
    url: string;
    signal: AbortSignal;
  },
): Promise<void> {
  const { credentials, number, url, signal } = options;
  const form = new URLSearchParams([
    ['VoiceUrl', url],
    ['VoiceMethod', 'POST'],
  ]);
  const path = `IncomingPhoneNumbers/${encodeURIComponent(number.sid)}.json`;
  const wanted = { action: 'configure-inbound', path, form, repeatable: true };
  answerOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
}

async function findOwned(
  client: TwilioClient,
  options: { credentials: ProviderCredentials; address: string; signal: AbortSignal },
): Promise<OwnedNumber | ReturnType<typeof refusal>> {
  const isNumber = options.address.startsWith('+');
  if (!isNumber) return refusal('Twilio routes phone numbers here, not SIP.');
  const number = await find(client, options);
  return number ?? refusal('The Twilio account does not own this number.');
}

function refusal(message: string): { ok: false; message: string } {
  return { ok: false, message };
}

async function find(
  client: TwilioClient,
  options: { credentials: ProviderCredentials; address: string; signal: AbortSignal },
): Promise<OwnedNumber | undefined> {
  const { credentials, address, signal } = options;
  const query = new URLSearchParams([
    ['PhoneNumber', address],
    ['PageSize', String(PAGE_SIZE)],
  ]);
  const path = `IncomingPhoneNumbers.json?${query}`;
  const wanted = { action: 'find-number', path, form: null, repeatable: true };
  const answer = answerOf(await client.send(credentials, wanted, signal), wanted, page);
  // The filter matches parts of numbers too.
  return answer.incoming_phone_numbers.find((each) => each.phone_number === address);
}

/** The setting because of which Twilio ignores the number's own URL; null for none. It is reported, never cleared. */
function takenBy({ voice_application_sid, trunk_sid }: OwnedNumber): string | null {
  if (trunk_sid) return 'The number belongs to a SIP trunk at Twilio, which receives its calls.';
  if (voice_application_sid) {
    return 'The number belongs to a TwiML application at Twilio, which receives its calls.';
  }
  return null;
}
