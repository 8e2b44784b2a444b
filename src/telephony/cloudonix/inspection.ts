// Reads a Cloudonix domain for the doctor: whether it exists and is active, its voice application, and the destination
// of its numbers' calls. Source: providers §5.7.

import { z } from 'zod';
import type { ProviderInspection } from '../provider/inspection.ts';
import { applicationPath, findApplication } from './applications.ts';
import {
  answerOf,
  type CloudonixClient,
  type CloudonixRequest,
  checkedCredentials,
} from './client.ts';
import { targetsOf } from './numbers.ts';

const domain = z.looseObject({ active: z.boolean().nullish() });

export function createCloudonixInspection(client: CloudonixClient): ProviderInspection {
  return {
    async account(credentials, signal) {
      const wanted: CloudonixRequest = {
        action: 'get-account',
        method: 'GET',
        json: null,
        repeatable: true,
        path: '/customers/self/domains/{domain}',
      };
      const answer = await client.send(credentials, wanted, signal);
      const { active } = answerOf(answer, wanted, domain);
      const standing = active === false ? 'suspended' : active === true ? 'active' : 'unknown';
      return { standing, balance: null, dateMs: answer.dateMs ?? null };
    },

    application: {
      async read(credentials, signal) {
        const { application_name: name } = checkedCredentials(credentials);
        if (!name) return undefined;
        const found = await findApplication(client, { credentials, name, signal });
        const otherId = found?.uuid ?? undefined;
        return found && { id: found.id, otherId, name, inboundUrl: found.url || null };
      },

      async point(credentials, inboundUrl, signal) {
        const { application_name: name } = checkedCredentials(credentials);
        const wanted: CloudonixRequest = {
          action: 'point-application',
          method: 'PATCH',
          repeatable: true,
          path: applicationPath(name ?? ''),
          json: { url: inboundUrl, method: 'POST' },
        };
        answerOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
      },
    },

    movesNumbers: false,

    targets: (credentials, addresses, signal) =>
      targetsOf(client, { credentials, addresses, signal }),
  };
}
