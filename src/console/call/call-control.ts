// What the API does to a live call: hang-up, and DTMF digits.

import { client } from '../api/client.ts';
import type { RunAddress } from './event-log.ts';

/** Keys of a telephone, row by row. */
export const KEYPAD = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#'] as const;
/** Digits that the API sends in one request; `w` is a pause of half a second. */
export const DIGITS = '[0-9*#A-Dw]{1,64}';
export const DIGITS_HINT = '0 to 9, *, #, A to D; w is a pause of half a second.';

/** Rejects with an ApiError. */
export async function hangUpCall(call: RunAddress): Promise<void> {
  await client.POST('/api/v1/workflow/{workflow_id}/runs/{run_id}/hang-up', {
    params: pathOf(call),
  });
}

/** Rejects with an ApiError. */
export async function sendDigits(call: RunAddress, digits: string): Promise<void> {
  await client.POST('/api/v1/workflow/{workflow_id}/runs/{run_id}/digits', {
    params: pathOf(call),
    body: { digits },
  });
}

function pathOf({ workflow_id, run_id }: RunAddress) {
  return { path: { workflow_id, run_id } };
}
