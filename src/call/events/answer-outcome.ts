// Who has answered a call, in the run's gathered context: the last verdict, every verdict in the reference's words, and what
// became of a message. Source: contract §8.8.

import type { CallEvent, CallEventBody } from '../../model/call-event.ts';

type AnsweredBy = Extract<CallEventBody, { type: 'call.answered-by' }>;
type Said = Extract<CallEventBody, { type: 'agent.said' }>;

/** Verdicts that are kept: a call has a few. */
const VERDICTS_MAX = 20;

/** The reference's names of the far ends, and what it does then. */
const SUBTYPES: Readonly<Record<string, { subtype: string; action: string }>> = {
  human: { subtype: 'CONVERSATION', action: 'release' },
  unknown: { subtype: 'UNKNOWN', action: 'release' },
  machine_start: { subtype: 'VOICEMAIL', action: 'drop' },
  machine_end_beep: { subtype: 'VOICEMAIL', action: 'drop' },
  machine_end_silence: { subtype: 'VOICEMAIL', action: 'drop' },
  machine_no_message: { subtype: 'NO_MESSAGE', action: 'drop' },
  machine_screening: { subtype: 'SCREENER', action: 'drop' },
  machine_hold: { subtype: 'SCREENING_WAIT', action: 'wait_for_screening' },
  machine_menu: { subtype: 'IVR', action: 'drop' },
  machine_out_of_service: { subtype: 'NO_MESSAGE', action: 'drop' },
  fax: { subtype: 'NO_MESSAGE', action: 'drop' },
};

/** Keys of the gathered context; none if nothing is known. */
export function answerOutcomeOf(events: readonly CallEvent[]): Record<string, unknown> {
  const verdicts = events.flatMap(({ body, mediaMs }) =>
    body.type === 'call.answered-by' ? [{ body, mediaMs }] : [],
  );
  const last = verdicts.at(-1)?.body.answeredBy;
  if (last === undefined) return {};
  const said = events.flatMap(({ body }) => (body.type === 'agent.said' ? [body] : []));
  const own = verdicts.filter(({ body }) => body.by !== undefined).slice(-VERDICTS_MAX);
  const message = said.findLast(({ kind }) => kind === 'voicemail-message');
  return {
    answered_by: last,
    ...(own.length > 0 && {
      answer_supervisor: own.map(({ body, mediaMs }) => decision(body, mediaMs, said)),
    }),
    ...(message && { voicemail_message: message.interrupted ? 'cut_off' : 'left' }),
  };
}

function decision(
  { answeredBy, by }: AnsweredBy,
  mediaMs: number,
  said: readonly Said[],
): Record<string, unknown> {
  const { subtype, action } = SUBTYPES[answeredBy] ?? { subtype: 'UNKNOWN', action: 'release' };
  const has = (kind: Said['kind']): boolean => said.some((each) => each.kind === kind);
  const isMessage = subtype === 'VOICEMAIL' && has('voicemail-message');
  const isScreened = subtype === 'SCREENER' && has('screening-message');
  return {
    action: isMessage ? 'leave_message' : isScreened ? 'screen_then_rearm' : action,
    reason: answeredBy,
    subtype,
    strategy: by,
    elapsed_ms: Math.round(mediaMs),
  };
}
