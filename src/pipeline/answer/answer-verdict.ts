// What the answer supervisor finds out about a call's far end.

import type { AnswerEvidence, Answerer } from '../../model/answer-handling.ts';

export interface AnswerVerdict {
  who: Answerer;
  by: AnswerEvidence;
  /** Whether the far end has finished for now: a voicemail has beeped or fallen silent, a menu or a screening waits. */
  isReady: boolean;
  /** Media time, in milliseconds. */
  atMs: number;
}

/** The verdict in the words of `answered_by`, which the providers' detections use too. */
export function answeredByOf({ who, by, isReady }: AnswerVerdict): string {
  switch (who) {
    case 'person':
      return 'human';
    case 'no-message':
      return 'machine_no_message';
    case 'voicemail':
      if (!isReady) return 'machine_start';
      return by === 'beep' ? 'machine_end_beep' : 'machine_end_silence';
    case 'screening':
      return 'machine_screening';
    case 'menu':
      return 'machine_menu';
    case 'hold':
      return 'machine_hold';
    case 'out-of-service':
      return 'machine_out_of_service';
    case 'fax':
      return 'fax';
    case 'unknown':
      return 'unknown';
  }
}
