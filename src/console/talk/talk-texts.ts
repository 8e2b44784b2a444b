// What the panel of a call says about its state, its faults and its end.

import type { CallNotice, WebCallState } from '../audio/web-call.ts';
import { words } from '../format.ts';
import type { Tone } from '../parts/notice.tsx';

export const STATES: Readonly<Record<WebCallState, string>> = {
  idle: 'Not connected',
  opening: 'Waiting for the microphone: allow it if the browser asks',
  connecting: 'Connecting',
  talking: 'Connected',
  reconnecting: 'Connection lost, connecting again',
  ended: 'Ended',
};

/** By the codes of notices and of CallError. */
const FAULTS: Readonly<Record<string, string>> = {
  'microphone-blocked':
    'The microphone is refused. Allow it for this page in the address bar of the browser, then start again.',
  'microphone-missing': 'There is no microphone. Plug one in, then start again.',
  'microphone-busy':
    'The microphone cannot be opened: another program may have it. Close that program, then start again.',
  'microphone-unfit': 'The chosen microphone is gone. Start again with another one.',
  'microphone-unavailable':
    'Browsers give the microphone only to pages by https, or on localhost. Open the console by such an address.',
  'audio-unavailable':
    'This browser cannot play the call. Use a current Chrome, Edge, Firefox or Safari.',
  'audio-blocked':
    'The browser does not play sound. Check the loudspeaker and the sound settings of this page, then start again.',
};

const NOTICES: Readonly<Record<string, readonly [Tone, string]>> = {
  'microphone-lost': ['warn', 'The microphone is gone. Another one is being opened.'],
  'microphone-missing': [
    'bad',
    'There is no microphone: the call continues in silence. Plug one in to speak.',
  ],
  'microphone-blocked': [
    'bad',
    'The microphone is refused: the call continues in silence. Allow it for this page in the address bar of the browser.',
  ],
  'microphone-busy': [
    'bad',
    'The microphone cannot be opened: the call continues in silence. Another program may have it: close that, or plug in another microphone.',
  ],
  'microphone-restored': [
    'info',
    'The microphone has changed. The call continues with the new one.',
  ],
  'use-headphones': [
    'warn',
    'The agent is heard in the microphone, so the microphone is off while the agent speaks. Use headphones, or press Interrupt to speak.',
  ],
  'audio-interrupted': ['warn', 'The system has taken the sound. Press Play again.'],
};

/** A microphone that is refused in the middle of a call ends nothing: the call continues in silence. */
export function noticeText(notice: CallNotice): readonly [Tone, string] {
  return NOTICES[notice] ?? ['bad', FAULTS[notice] ?? words(notice)];
}

export function faultText(code: string): string | undefined {
  return FAULTS[code];
}

const ENDS: Readonly<Record<string, string>> = {
  left: 'You hung up.',
  user_hangup: 'You hung up.',
  end_call: 'The agent ended the call.',
  user_idle_max_duration_exceeded:
    'The agent ended the call, because it understood nothing for too long. Check the microphone, and speak after the greeting.',
  MEDIA_SILENT: 'The call was closed: the gateway got no sound from this page.',
  MEDIA_LOST: 'The call was closed: the connection was lost for too long.',
};

export function endText(reason: string): string {
  return ENDS[reason] ?? `The call is over: ${words(reason.toLowerCase())}.`;
}
