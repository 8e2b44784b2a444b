// The contacts of campaigns as rows. Dialling: dial-queue.ts; counts: contact-counts.ts.

import { jsonText } from '../db/column-values.ts';
import { readTime } from '../db/database-time.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { NewContact } from './dial-attempts.ts';

/** A statement allows 65,535 values. */
const ADD_MAX = 1_000;

/** Existing rows are unchanged. At most a thousand at a time. */
export async function addContacts(
  context: StoreContext,
  campaignId: string,
  contacts: readonly NewContact[],
): Promise<void> {
  if (contacts.length === 0) return;
  if (contacts.length > ADD_MAX) throw new RangeError(`at most ${ADD_MAX} contacts at a time`);
  const dueAt = await readTime(context);
  await context.db
    .insertInto('campaign_contacts')
    .values(
      contacts.map(({ rowNumber, phoneNumber, variables }) => ({
        campaign_id: campaignId,
        row_number: rowNumber,
        phone_number: phoneNumber,
        variables: jsonText(variables),
        due_at: dueAt,
      })),
    )
    .onConflict((conflict) => conflict.columns(['campaign_id', 'row_number']).doNothing())
    .execute();
}
