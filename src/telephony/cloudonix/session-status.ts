// Session states, by the words of status callbacks, the REST interface and call detail records. Source: providers §5.4.

import { z } from 'zod';
import type { CallStatus } from '../../model/provider.ts';

/** A session's token, the call's id in every interface. It is not `CallSid`. */
export const TOKEN = /^[A-Za-z0-9_-]{1,64}$/;

const statuses = new Map<string, CallStatus>([
  ['new', 'initiated'],
  ['processing', 'initiated'],
  ['ringing', 'ringing'],
  ['connected', 'in-progress'],
  ['answer', 'in-progress'],
  ['noanswer', 'no-answer'],
  ['busy', 'busy'],
  ['cancel', 'canceled'],
  ['nocredit', 'failed'],
  ['congestion', 'failed'],
  ['error', 'failed'],
  ['failed', 'failed'],
  ['external', 'completed'], // The call has left Cloudonix' control.
]);

const dispositions = new Map<string, CallStatus>([
  ['ANSWER', 'completed'],
  ['BUSY', 'busy'],
  ['CANCEL', 'canceled'],
  ['FAILED', 'failed'],
  ['CONGESTION', 'failed'],
  ['NOANSWER', 'no-answer'],
]);

/** A time as milliseconds since 1970, or as a date. Anything else counts as absent. */
const moment = z
  .union([z.number(), z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))])
  .nullish()
  .catch(null);

/** Fields of a session that are read. */
export const sessionFacts = z.looseObject({
  token: z.string().regex(TOKEN),
  status: z.string(),
  callAnswerTime: moment,
  callEndTime: moment,
  createdAt: moment,
  modifiedAt: moment,
});
export type SessionFacts = z.infer<typeof sessionFacts>;

/** The normalised status of a session, or undefined if its word is unknown. */
export function statusOf({ status, callEndTime }: SessionFacts): CallStatus | undefined {
  const found = statuses.get(status.toLowerCase());
  return found === 'in-progress' && isSet(callEndTime) ? 'completed' : found;
}

/** The normalised status of a call detail record's `disposition`. */
export function statusOfDisposition(disposition: string): CallStatus | undefined {
  return dispositions.get(disposition.toUpperCase());
}

/** The status of a `CallStatus` in the request of a voice application, which has both vocabularies. */
export function statusOfApplication(word: string): CallStatus | undefined {
  const known = statuses.get(word.toLowerCase());
  if (known !== undefined) return known;
  const twilio = ['in-progress', 'completed', 'no-answer', 'canceled'] as const;
  return twilio.find((each) => each === word);
}

/** Whole seconds from the answer to the end; null if there was none, or the call goes on. */
export function durationOf({ callAnswerTime, callEndTime }: SessionFacts): number | null {
  if (!isSet(callAnswerTime) || !isSet(callEndTime)) return null;
  return Math.max(0, Math.round((callEndTime - callAnswerTime) / 1_000));
}

/** Cloudonix writes 0 for a time that has not come. */
function isSet(time: number | null | undefined): time is number {
  return typeof time === 'number' && time > 0;
}
