// Why a channel is hung up, in Asterisk's words. Source: asterisk §4.1.

import type { RejectReason } from '../../provider/terms.ts';

/** How a call is turned away: `reason` of a DELETE. Source: asterisk §4.1. */
export const rejectReasons: Readonly<Record<RejectReason, string>> = {
  'not-configured': 'unallocated',
  'no-workflow': 'congestion',
  signature: 'rejected',
  busy: 'busy',
  draining: 'congestion',
  error: 'failure',
};

/** What a far end that is heard is left for: its tones would go on. */
export const unreachableReason: Readonly<Record<string, string>> = {
  BUSY: 'busy',
  CONGESTION: 'congestion',
};
