// Reads a Twilio account for the doctor: its state and balance, and the destination of its numbers' calls. Source:
// twilio-oai, twilio_api_v2010, Accounts and Balance.

import { z } from 'zod';
import {
  type AccountReport,
  balanceOf,
  inTurn,
  money,
  type ProviderInspection,
} from '../provider/inspection.ts';
import { answerOf, type TwilioClient } from './client.ts';
import { targetOf } from './numbers.ts';

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

    targets: (credentials, addresses, signal) =>
      inTurn(addresses, (address) => targetOf(client, { credentials, address, signal })),
  };
}

function standingOf({ status, type }: z.infer<typeof account>): AccountReport['standing'] {
  if (status !== 'active') return 'suspended';
  return type?.toLowerCase() === 'trial' ? 'trial' : 'active';
}
