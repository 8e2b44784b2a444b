// Reads a Telnyx account for the doctor: its balance, its call control application, and the destination of its numbers'
// calls. Source: team-telnyx/openapi (balance, call_control_applications); providers §2.7.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { balanceOf, inTurn, money, type ProviderInspection } from '../provider/inspection.ts';
import { readApplication } from './application.ts';
import { checkedCredentials, dataOf, type TelnyxClient, type TelnyxRequest } from './client.ts';
import { targetOf } from './numbers.ts';

const balance = z.looseObject({ available_credit: money, balance: money, currency: z.string() });

export function createTelnyxInspection(client: TelnyxClient): ProviderInspection {
  return {
    async account(credentials, signal) {
      const wanted = {
        action: 'get-account',
        method: 'GET',
        path: 'balance',
        repeatable: true,
      } as const;
      const answer = await client.send(credentials, wanted, signal);
      const found = dataOf(answer, wanted, balance);
      return {
        standing: 'unknown',
        balance: balanceOf(found.available_credit ?? found.balance, found.currency),
        dateMs: answer.dateMs ?? null,
      };
    },

    application: {
      async read(credentials, signal) {
        const id = checkedCredentials(credentials).connection_id;
        if (!id) return undefined;
        const found = await readApplication(client, id, { credentials, signal });
        if (found === undefined) return undefined;
        const { application_name: name, webhook_event_url: url } = found;
        // Webhooks of version 1 have another form.
        return { id, name, inboundUrl: found.webhook_api_version === '2' ? (url ?? null) : null };
      },

      async point(credentials, inboundUrl, signal) {
        const id = checkedCredentials(credentials).connection_id ?? '';
        const found = await readApplication(client, id, { credentials, signal });
        if (found === undefined) {
          const reason = 'the account has no such call control application';
          throw new GatewayError('PROVIDER_REFUSED', { provider: 'telnyx', reason });
        }
        const wanted: TelnyxRequest = {
          action: 'point-application',
          method: 'PATCH',
          repeatable: true,
          path: `call_control_applications/${encodeURIComponent(id)}`,
          body: {
            application_name: found.application_name,
            webhook_event_url: inboundUrl,
            webhook_api_version: '2',
          },
        };
        dataOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
      },
    },

    movesNumbers: false,

    targets: (credentials, addresses, signal) =>
      inTurn(addresses, (address) => targetOf(client, address, { credentials, signal })),
  };
}
