// Call control objects (NCCO) of the gateway. Vonage ends the call without a message for a document with an unknown
// action. No action hangs up or plays a busy tone: a document has at least one action, and the call ends with the last
// one. Source: developer.vonage.com/en/voice/voice-api/ncco-reference

import type { AnswerRequest, WaitRequest } from '../provider/provider.ts';

/** Samples per second of the media socket, both ways, as on a telephone line. */
const RATE_HZ = 8_000;

export type Ncco = readonly Record<string, unknown>[];

/** Connects the call to our media socket. The socket's first message contains `callId`: the socket is a leg of its own,
 *  with another id. When the media end, Vonage asks at `resumeUrl`, whose answer may be a further document. `callS`:
 *  Vonage's longest call in seconds. */
export function mediaDocument(
  { mediaUrl, callId, resumeUrl }: Pick<AnswerRequest, 'mediaUrl' | 'callId' | 'resumeUrl'>,
  callS: number,
): Ncco {
  const endpoint = {
    type: 'websocket',
    uri: mediaUrl,
    'content-type': `audio/l16;rate=${RATE_HZ}`,
    headers: { call_uuid: callId },
  };
  const connect = { action: 'connect', limit: callS, endpoint: [endpoint] };
  if (resumeUrl === undefined) return [connect];
  const ask = { action: 'notify', payload: { call_uuid: callId }, eventUrl: [resumeUrl] };
  return [connect, { ...ask, eventMethod: 'POST' }];
}

/** Lets the caller wait: plays the announcement and the audio, then asks again. */
export function waitDocument({
  callId,
  announcement,
  waitingAudio,
  askUrl,
}: Pick<WaitRequest, 'callId' | 'announcement' | 'waitingAudio' | 'askUrl'>): Ncco {
  const said =
    announcement === undefined
      ? []
      : announcement.audio === null
        ? sayDocument(announcement.words)
        : [{ action: 'stream', streamUrl: [announcement.audio] }];
  const ask = { action: 'notify', payload: { call_uuid: callId }, eventUrl: [askUrl] };
  return [
    ...said,
    { action: 'stream', streamUrl: [waitingAudio] },
    { ...ask, eventMethod: 'POST' },
  ];
}

export function sayDocument(sentence: string): Ncco {
  return [{ action: 'talk', text: sentence }];
}

/** Transfers the caller to `to`, digits or a `sip:` URI; the call ends with that leg. */
export function dialDocument(target: {
  to: string;
  callerId: string;
  ringS: number;
  /** Keys to press after the answer; `w` is half a second. For a number only. */
  digits?: string | undefined;
  /** URL for events of the new leg. Default: that of the call. */
  resultUrl?: string | undefined;
}): Ncco {
  const { to, callerId, ringS, digits, resultUrl } = target;
  // `p` is Vonage's pause of half a second.
  const keys = digits !== undefined && { dtmfAnswer: digits.replaceAll('w', 'p') };
  const endpoint = isSip(to) ? { type: 'sip', uri: to } : { type: 'phone', number: to, ...keys };
  const report = resultUrl !== undefined && { eventUrl: [resultUrl], eventMethod: 'POST' };
  return [{ action: 'connect', from: callerId, timeout: ringS, endpoint: [endpoint], ...report }];
}

/** Puts the call into the conversation `name`. The first party who leaves ends it. */
export function conversationDocument(name: string): Ncco {
  return [{ action: 'conversation', name, startOnEnter: true, endOnExit: true }];
}

export function isSip(address: string): boolean {
  return /^sips?:/i.test(address);
}
