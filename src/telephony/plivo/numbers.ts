// The account's phone numbers at Plivo, for plivo-xml/numbers.ts. Source: plivo.com/docs/numbers/api/account-phone-number

import { z } from 'zod';
import { lookUp } from '../plivo-xml/calls.ts';
import type { NumberInterface } from '../plivo-xml/numbers.ts';

/** Fields of a number. `application` is a resource's URL, whose last part is the id. */
const owned = z.looseObject({ application: z.string().nullish(), app_id: z.string().nullish() });

export const plivoNumbers: NumberInterface = {
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
