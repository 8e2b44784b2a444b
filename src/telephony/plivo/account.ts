// A Plivo account: its requests, its kind and credits, and its numbers. Source: plivo.com/docs/voice/api/overview,
// plivo.com/docs/account/api/account, plivo.com/docs/numbers/api/account-phone-number

import { z } from 'zod';
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
import { type PlivoConfig, plivoCredentials } from './config.ts';

export function createPlivoClient(rest: Rest): AccountClient<PlivoConfig> {
  return createAccountClient(rest, {
    provider: 'plivo',
    schema: plivoCredentials.schema,
    baseUrl: 'https://api.plivo.com',
    version: 'v1',
    headers: ({ auth_id, auth_token }) => ({
      authorization: `Basic ${Buffer.from(`${auth_id}:${auth_token}`).toString('base64')}`,
    }),
    capacityStatuses: new Set([402]),
  });
}

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

    targets: accountNumbers(client, plivoNumbers).targets,
  };
}

/** Fields of a number. `application` is a resource's URL, whose last part is the id. */
const owned = z.looseObject({ application: z.string().nullish(), app_id: z.string().nullish() });

export const plivoNumbers: NumberRequests = {
  label: 'Plivo',

  async find(client, { credentials, address, signal }) {
    const look = { credentials, action: 'find-number', schema: owned, signal };
    const found = await lookUp(client, { ...look, path: numberPath(address) });
    return found && { applicationId: applicationOf(found), obstacle: undefined };
  },

  assignment: (address, applicationId) => ({
    method: 'POST',
    path: numberPath(address),
    body: { app_id: applicationId ?? '' },
  }),
};

function numberPath(address: string): string {
  return `Number/${address}/`;
}

function applicationOf({ app_id: id, application }: z.infer<typeof owned>): string {
  return id ?? /\/Application\/([^/]+)\/?$/.exec(application ?? '')?.[1] ?? '';
}
