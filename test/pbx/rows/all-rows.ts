// The rows of the table, in the order in which they are tried.

import { conversations } from './conversations.ts';
import { doctorRows } from './doctor.ts';
import { holds } from './holds.ts';
import { logRows } from './logs.ts';
import { outages } from './outages.ts';
import { outcomeRows } from './outcomes.ts';
import type { Row } from './row.ts';
import { transfers } from './transfers.ts';

export const ROWS: readonly Row[] = [
  ...conversations,
  ...holds,
  ...transfers,
  ...outages,
  ...outcomeRows,
  ...doctorRows,
  // What the gateway has logged of all these.
  ...logRows,
];
