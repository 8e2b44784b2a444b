// Every kind of value that an expectation can ask for.

import type { SlotType } from '../../../../src/model/expected-input.ts';

export const SLOTS: SlotType[] = [
  'yes_no',
  'digit',
  'digits',
  'number',
  'date',
  'time',
  'weekday',
  'money',
  'spelling',
];
