// A Vobiz account: its requests (Plivo's with other headers), its wallet, and its numbers, which have the form `+` and
// digits there. Source: docs.vobiz.ai (applications, phone numbers); the wallet's fields from Vobiz' MCP server, read
// leniently.

import { z } from 'zod';
import { parseJson } from '../../std/json.ts';
import {
  accountNumbers,
  applicationInspection,
  type NumberRequests,
} from '../plivo-xml/account.ts';
import {
  type AccountClient,
  type AccountRequest,
  createAccountClient,
} from '../plivo-xml/account-client.ts';
import { lookUp } from '../plivo-xml/calls.ts';
import { balanceOf, money, type ProviderInspection } from '../provider/inspection.ts';
import type { Rest } from '../provider/rest-client.ts';
import { type VobizConfig, vobizCredentials } from './config.ts';

export function createVobizClient(rest: Rest): AccountClient<VobizConfig> {
  return createAccountClient(rest, {
    provider: 'vobiz',
    schema: vobizCredentials.schema,
    baseUrl: 'https://api.vobiz.ai',
    version: 'api/v1',
    headers: ({ auth_id, auth_token }) => ({
      ['x-auth-id']: auth_id,
      ['x-auth-token']: auth_token,
    }),
    // Status 402 means that the balance is too low for a call.
    capacityStatuses: new Set([402]),
  });
}

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

    targets: accountNumbers(client, vobizNumbers).targets,
  };
}

const PAGE_SIZE = 100;
const id = z.union([z.string(), z.int()]).nullish();
const page = z.object({
  items: z.array(z.object({ e164: z.string(), application_id: id, trunk_group_id: id })),
});

export const vobizNumbers: NumberRequests = {
  label: 'Vobiz',

  async find(client, { credentials, address, signal }) {
    const query = new URLSearchParams({ search: address, per_page: String(PAGE_SIZE) });
    const look = { credentials, action: 'find-number', schema: page, signal };
    const found = await lookUp(client, { ...look, path: `numbers?${query}` });
    const number = found?.items.find(({ e164 }) => e164.replace(/^\+/, '') === address);
    return (
      number && {
        applicationId: String(number.application_id ?? ''),
        obstacle: (number.trunk_group_id ?? '') === '' ? undefined : 'a SIP trunk',
      }
    );
  },

  assignment(address, applicationId) {
    const path = `numbers/%2B${address}/application`;
    if (applicationId === null) return { method: 'DELETE', path, body: null };
    return { method: 'POST', path, body: { application_id: applicationId } };
  },
};
