// Reads a Vonage account for the doctor: both kinds of credentials, its balance, the application, and the destination
// of its numbers' calls. Source: developer.vonage.com, Account API (get-balance), Application API v2.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { balanceOf, inTurn, money, type ProviderInspection } from '../provider/inspection.ts';
import { answerOf, checkedCredentials, type VonageClient, type VonageRequest } from './client.ts';
import { answerUrlOf, pointApplication, readApplication, targetOf } from './numbers.ts';

const balance = z.looseObject({ value: money });

export function createVonageInspection(client: VonageClient): ProviderInspection {
  return {
    async account(credentials, signal) {
      const ask = (action: string, api: VonageRequest['api'], path: string): VonageRequest => ({
        action,
        method: 'GET',
        api,
        path,
        repeatable: true,
      });
      const wanted = ask('get-account', 'numbers', '/account/get-balance');
      const answer = await client.send(credentials, wanted, signal);
      const { value } = answerOf(answer, wanted, balance);
      // Key and secret are valid; application and private key are separate credentials.
      const calls = ask('find-calls', 'calls', '/v1/calls?page_size=1');
      answerOf(await client.send(credentials, calls, signal), calls, z.unknown());
      const dateMs = answer.dateMs ?? null;
      return { standing: 'unknown', balance: balanceOf(value, 'EUR'), dateMs };
    },

    application: {
      async read(credentials, signal) {
        const { application_id: id } = checkedCredentials(credentials);
        const found = await readApplication({ client, credentials, signal }, id);
        return found && { id, name: found.name, inboundUrl: answerUrlOf(found) || null };
      },

      async point(credentials, url, signal) {
        const { application_id: id } = checkedCredentials(credentials);
        const asking = { client, credentials, signal };
        const found = await readApplication(asking, id);
        if (found !== undefined) return pointApplication(asking, { id, found, url });
        const reason = 'the account has no such application';
        throw new GatewayError('PROVIDER_REFUSED', { provider: 'vonage', reason });
      },
    },

    movesNumbers: true,

    targets: (credentials, addresses, signal) =>
      inTurn(addresses, (address) => targetOf({ client, credentials, signal }, address)),
  };
}
