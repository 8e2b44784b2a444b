// The fake providers, one row each: for the provider contract and the demo.

import { cloudonixRow } from '../cloudonix/row.ts';
import { plivoRow } from '../plivo/row.ts';
import { telnyxRow } from '../telnyx/row.ts';
import { twilioRow } from '../twilio/row.ts';
import { vobizRow } from '../vobiz/row.ts';
import { vonageRow } from '../vonage/row.ts';
import type { HostedRow } from './hosted-fake.ts';

export const hostedRows: readonly HostedRow[] = [
  cloudonixRow,
  telnyxRow,
  vobizRow,
  plivoRow,
  twilioRow,
  vonageRow,
];

/** Throws for a provider without a row. */
export function hostedRow(name: string): HostedRow {
  const row = hostedRows.find((each) => each.name === name);
  if (row !== undefined) return row;
  throw new Error(`${name} is not played: ${hostedRows.map((each) => each.name).join(', ')} are`);
}
