// A Twilio account: its state and balance, and its phone numbers, each with a URL of its own for inbound calls. Source:
// twilio-oai, twilio_api_v2010, Accounts, Balance and IncomingPhoneNumbers.

import { z } from 'zod';
import {
  type InboundNumbers,
  inboundNumbers,
  type NumberLook,
} from '../provider/inbound-numbers.ts';
import {
  type AccountReport,
  balanceOf,
  money,
  type ProviderInspection,
} from '../provider/inspection.ts';
import { answerOf, type TwilioClient } from './client.ts';

const account = z.looseObject({ status: z.string(), type: z.string().nullish() });
const balance = z.looseObject({ balance: money, currency: z.string().nullish() });

export function createTwilioInspection(client: TwilioClient): ProviderInspection {
  return {
    async account(credentials, signal) {
      const wanted = { action: 'get-account', path: '.json', form: null, repeatable: true };
      const answer = await client.send(credentials, wanted, signal);
      const standing = standingOf(answerOf(answer, wanted, account));
      const money = { ...wanted, action: 'get-balance', path: 'Balance.json' };
      const told = await client.send(credentials, money, signal);
      // Subaccounts have no balance.
      const found = told.status === 200 ? answerOf(told, money, balance) : undefined;
      const dateMs = answer.dateMs ?? null;
      return { standing, balance: balanceOf(found?.balance, found?.currency), dateMs };
    },

    application: null,

    movesNumbers: true,

    targets: createTwilioNumbers(client).targets,
  };
}

function standingOf({ status, type }: z.infer<typeof account>): AccountReport['standing'] {
  if (status !== 'active') return 'suspended';
  return type?.toLowerCase() === 'trial' ? 'trial' : 'active';
}

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

export function createTwilioNumbers(client: TwilioClient): InboundNumbers {
  return inboundNumbers<OwnedNumber>({
    label: 'Twilio',
    form: /^\+/,

    async find({ credentials, address, signal }) {
      const query = new URLSearchParams([
        ['PhoneNumber', address],
        ['PageSize', String(PAGE_SIZE)],
      ]);
      const path = `IncomingPhoneNumbers.json?${query}`;
      const wanted = { action: 'find-number', path, form: null, repeatable: true };
      const answer = answerOf(await client.send(credentials, wanted, signal), wanted, page);
      // The filter matches parts of numbers too.
      return answer.incoming_phone_numbers.find((each) => each.phone_number === address);
    },

    targetOf(number) {
      const service = serviceOf(number);
      if (service !== undefined) return { kind: 'blocked', by: service };
      return number.voice_url ? { kind: 'url', url: number.voice_url } : { kind: 'none' };
    },

    async point(number, look) {
      const service = serviceOf(number);
      if (service !== undefined) {
        return `The number belongs to ${service} at Twilio, which receives its calls.`;
      }
      await setUrl(client, look, { sid: number.sid, url: look.url });
      return undefined;
    },

    isPointed: async ({ voice_url }, { url }) => voice_url === url,

    async detach({ sid }, look) {
      await setUrl(client, look, { sid, url: '' });
      return undefined;
    },
  });
}

/** The service because of which Twilio ignores the number's own URL; it is reported, never cleared. */
function serviceOf({ voice_application_sid, trunk_sid }: OwnedNumber): string | undefined {
  if (trunk_sid) return 'a SIP trunk';
  return voice_application_sid ? 'a TwiML application' : undefined;
}

async function setUrl(
  client: TwilioClient,
  { credentials, signal }: NumberLook,
  { sid, url }: { sid: string; url: string },
): Promise<void> {
  const form = new URLSearchParams([
    ['VoiceUrl', url],
    ['VoiceMethod', 'POST'],
  ]);
  const path = `IncomingPhoneNumbers/${encodeURIComponent(sid)}.json`;
  const wanted = { action: 'configure-inbound', path, form, repeatable: true };
  answerOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
}
