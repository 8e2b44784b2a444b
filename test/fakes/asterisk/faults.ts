// What can be made to go wrong with the simulated PBX: the list of asterisk §2.9, and what a dying or
// stuck machine does. Tests set a field and take it back.

import type { AudioFault } from './media/audio-faults.ts';
import type { RestAnswer, RestRequest } from './rest/rest.ts';

export interface Faults {
  /** Looked at before every REST request. `hang`: never answered. An answer: given instead. */
  rest: (request: RestRequest) => RestAnswer | 'hang' | undefined;
  /** StasisStart (and MEDIA_START) come before the answer to the POST that caused them. */
  eventsBeforeAnswer: boolean;
  /** The media socket's first messages are audio, then MEDIA_START. */
  audioBeforeStart: boolean;
  /** The upgrade of media and event sockets: never answered, or refused with a status. */
  upgrade: 'hang' | number | undefined;
  /** So many 20 ms beats are lost by every chan_websocket: its queue grows. */
  lostBeats: number;
  /** Each so many-th beat is lost by every chan_websocket, for good: a machine short of processor time. */
  lostBeatEvery: number;
  /** A client connection's `v()` are those of the call before. */
  crossedVariables: boolean;
  /** RTP has another address outside than the one that it announces: packets reach it only after its own first one. */
  rtpBehindNat: boolean;
  /** Of the audio between the two channels of a call, by who receives it. */
  audio: { toCaller?: AudioFault; toCallee?: AudioFault };
  /** Keys do not pass from one channel of a call to the other. */
  losesKeys: boolean;
}

export function noFaults(): Faults {
  return {
    rest: () => undefined,
    eventsBeforeAnswer: false,
    audioBeforeStart: false,
    upgrade: undefined,
    lostBeats: 0,
    lostBeatEvery: Number.POSITIVE_INFINITY,
    crossedVariables: false,
    rtpBehindNat: false,
    audio: {},
    losesKeys: false,
  };
}
