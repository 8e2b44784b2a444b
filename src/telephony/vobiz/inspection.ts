// Reads a Vobiz account for the doctor: its wallet, its application, and the destination of its numbers' calls. Source:
// docs.vobiz.ai (applications, phone numbers); the wallet's fields from Vobiz' MCP server, read leniently.

import { z } from 'zod';
import { parseJson } from '../../std/json.ts';
import type { AccountClient, AccountRequest } from '../plivo-xml/account-client.ts';
import { applicationInspection } from '../plivo-xml/applications.ts';
import { targetOf } from '../plivo-xml/numbers.ts';
import { balanceOf, inTurn, money, type ProviderInspection } from '../provider/inspection.ts';
import type { VobizConfig } from './config.ts';
import { vobizNumbers } from './numbers.ts';

const wallet = z.looseObject({
  available_balance: money,
  balance: money,
  currency: z.string().nullish(),
  status: z.string().nullish(),
});

export function createVobizInspection(client: AccountClient<VobizConfig>): ProviderInspection {
  return {
    /** Reads the account. A list of one number proves the credentials. The wallet is not documented. */
    async account(credentials, signal) {
      const ask = (action: string, path: string): AccountRequest => ({
        action,
        method: 'GET',
        path,
        body: null,
        repeatable: true,
      });
      const wanted = ask('get-account', 'numbers?per_page=1');
      const answer = await client.send(credentials, wanted, signal);
      client.contentOf(answer, wanted, z.unknown());
      const told = await client.send(credentials, ask('get-balance', 'balance'), signal);
      const found = told.status === 200 ? wallet.safeParse(parseJson(told.body)).data : undefined;
      const isActive = found?.status?.toLowerCase() === 'active';
      return {
        standing: isActive ? 'active' : 'unknown',
        balance: balanceOf(found?.available_balance ?? found?.balance, found?.currency),
        dateMs: answer.dateMs ?? null,
      };
    },

    application: applicationInspection(client),

    movesNumbers: true,

    targets: (credentials, addresses, signal) =>
      inTurn(addresses, (address) =>
        targetOf(client, vobizNumbers, { credentials, address, signal }),
      ),
  };
}
