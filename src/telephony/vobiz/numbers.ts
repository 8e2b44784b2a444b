// The account's phone numbers at Vobiz, in the form `+` and digits, for plivo-xml/numbers.ts. Source: docs.vobiz.ai
// (applications, phone numbers)

import { z } from 'zod';
import { lookUp } from '../plivo-xml/calls.ts';
import type { NumberInterface } from '../plivo-xml/numbers.ts';

const PAGE_SIZE = 100;
const id = z.union([z.string(), z.int()]).nullish();
const page = z.object({
  items: z.array(z.object({ e164: z.string(), application_id: id, trunk_group_id: id })),
});

export const vobizNumbers: NumberInterface = {
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
