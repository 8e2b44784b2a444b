// States of campaigns: their colours, and what can be done in each.

import type { Schema } from '../../api/client.ts';
import type { Tone } from '../../parts/notice.tsx';

export type Campaign = Schema<'CampaignResponse'>;
export type CampaignState = Campaign['state'];

export const STATE_TONES: Readonly<Record<CampaignState, Tone>> = {
  created: 'plain',
  syncing: 'info',
  running: 'info',
  paused: 'warn',
  completed: 'good',
  failed: 'bad',
  cancelled: 'plain',
};

export interface Action {
  /** Last part of the route's path; `delete` is the method. */
  name: 'start' | 'pause' | 'resume' | 'cancel' | 'delete';
  /** Name of the button. */
  label: string;
  /** What it does, for the question before it. */
  effect: string;
}

const START: Action = {
  name: 'start',
  label: 'Start',
  effect: 'The contact file is read, then the contacts are called within the hours.',
};
const PAUSE: Action = {
  name: 'pause',
  label: 'Pause',
  effect: 'No further call is placed until it is resumed. Calls in progress continue.',
};
const RESUME: Action = {
  name: 'resume',
  label: 'Resume',
  effect: 'It continues where it was paused.',
};
const CANCEL: Action = {
  name: 'cancel',
  label: 'Cancel the campaign',
  effect:
    'The campaign ends: calls in progress continue, and no further contact is called. It cannot be resumed.',
};
const DELETE: Action = {
  name: 'delete',
  label: 'Delete',
  effect: 'The campaign is removed from the list. Its runs and call reports are kept.',
};

export const ACTIONS: Readonly<Record<CampaignState, readonly Action[]>> = {
  created: [START, CANCEL],
  syncing: [PAUSE, CANCEL],
  running: [PAUSE, CANCEL],
  paused: [RESUME, CANCEL],
  completed: [DELETE],
  failed: [DELETE],
  cancelled: [DELETE],
};

export function isUnderWay({ state, in_flight_count: calls }: Campaign): boolean {
  return state === 'syncing' || state === 'running' || calls > 0;
}
