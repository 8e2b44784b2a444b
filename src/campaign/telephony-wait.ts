// Log entries of a campaign whose telephony configuration is inactive: one when it begins to wait, one when it goes on.

import type { Campaign, CampaignLogEntry } from '../model/campaign.ts';
import type { Store } from '../store/store.ts';

const BEGAN = 'telephony_wait_began';
const ENDED = 'telephony_wait_ended';

type Contacts = Pick<Store, 'contacts'>;

/** Logs that the campaign waits. Throws STORE_UNAVAILABLE. */
export async function noteTelephonyAway(
  { contacts }: Contacts,
  campaign: Campaign,
  error: unknown,
): Promise<void> {
  if (isWaiting(campaign)) return;
  const reason = error instanceof Error ? error.message : 'The configuration is inactive.';
  await contacts.note(campaign.id, {
    level: 'warning',
    event: BEGAN,
    message: `The campaign waits and goes on by itself: ${reason}`,
    details: { reason },
  });
}

/** Logs that the campaign goes on. Throws STORE_UNAVAILABLE. */
export async function noteTelephonyBack({ contacts }: Contacts, campaign: Campaign): Promise<void> {
  if (!isWaiting(campaign)) return;
  const message = 'Calls can go out again: the campaign goes on';
  await contacts.note(campaign.id, { level: 'info', event: ENDED, message, details: null });
}

function isWaiting(campaign: Campaign): boolean {
  return telephonyWait(campaign) !== undefined;
}

/** The entry with which the campaign began to wait; undefined if it does not wait. */
export function telephonyWait({ logs }: Campaign): CampaignLogEntry | undefined {
  const last = logs.findLast(({ event }) => event === BEGAN || event === ENDED);
  return last?.event === BEGAN ? last : undefined;
}
