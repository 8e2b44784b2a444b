// Reads a Plivo account for the doctor: its kind and credits, its application, and the destination of its numbers'
// calls. Source: plivo.com/docs/account/api/account

import { z } from 'zod';
import type { AccountClient, AccountRequest } from '../plivo-xml/account-client.ts';
import { applicationInspection } from '../plivo-xml/applications.ts';
import { targetOf } from '../plivo-xml/numbers.ts';
import { balanceOf, inTurn, money, type ProviderInspection } from '../provider/inspection.ts';
import type { PlivoConfig } from './config.ts';
import { plivoNumbers } from './numbers.ts';

const account = z.looseObject({ account_type: z.string().nullish(), cash_credits: money });

export function createPlivoInspection(client: AccountClient<PlivoConfig>): ProviderInspection {
  return {
    async account(credentials, signal) {
      const wanted: AccountRequest = {
        action: 'get-account',
        method: 'GET',
        path: '',
        body: null,
        repeatable: true,
      };
      const answer = await client.send(credentials, wanted, signal);
      const found = client.contentOf(answer, wanted, account);
      const isTrial = /trial|free/i.test(found.account_type ?? '');
      return {
        standing: isTrial ? 'trial' : 'unknown',
        balance: balanceOf(found.cash_credits, null),
        dateMs: answer.dateMs ?? null,
      };
    },

    application: applicationInspection(client),

    movesNumbers: true,

    targets: (credentials, addresses, signal) =>
      inTurn(addresses, (address) =>
        targetOf(client, plivoNumbers, { credentials, address, signal }),
      ),
  };
}
