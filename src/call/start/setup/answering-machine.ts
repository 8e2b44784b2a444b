// Answer supervision of a call: what is listened for, and what the agent does when no person answers. Source: contract
// §8.8.

import { type AnswerHandling, answerHandlingOf } from '../../../model/answer-handling.ts';
import type { CallEvent } from '../../../model/call-event.ts';
import type { Run } from '../../../model/run.ts';
import type { AnswerTuning } from '../../../pipeline/answer/answer-supervisor.ts';
import type { SpeechPlan } from '../../../speech/speech-plan.ts';
import { isObject } from '../../../std/json.ts';

/** Speech after which a greeting counts as a machine's: those of people are shorter; those of machines mostly go on,
 *  or end in a beep. */
const LONG_SPEECH_MS = 5_000;
/** Range of the setting, in seconds. */
const LONG_SPEECH_S = { min: 1, max: 60 };

/** Tuning of the supervision; undefined for an inbound call, whose caller is who they are. */
export function answerTuningOf({
  run,
  speech,
  storedSettings,
}: {
  run: Pick<Run, 'callType'>;
  speech: Pick<SpeechPlan, 'stt'>;
  storedSettings: Record<string, unknown>;
}): AnswerTuning | undefined {
  if (run.callType !== 'outbound') return undefined;
  return {
    longSpeechMs: longSpeechMs(storedSettings['voicemail_detection']),
    hasOpenWords: speech.stt !== undefined && speech.stt.capabilities.closedOnly !== true,
  };
}

/** The agent's own setting, as stored; undefined if it talks to whatever has answered. */
export function handlingOf(
  { callType }: Pick<Run, 'callType'>,
  stored: Record<string, unknown>,
): AnswerHandling | undefined {
  return callType === 'outbound' ? answerHandlingOf(stored['voicemail_detection']) : undefined;
}

/** The result of the provider's detection that came before the media. */
export function answeredBefore(events: readonly CallEvent[]): string | undefined {
  const noted = events.findLast(({ body }) => body.type === 'call.answered-by')?.body;
  return noted?.type === 'call.answered-by' && noted.by === undefined
    ? noted.answeredBy
    : undefined;
}

function longSpeechMs(detection: unknown): number {
  const seconds = isObject(detection) ? detection['long_speech_timeout'] : undefined;
  if (typeof seconds !== 'number' || Number.isNaN(seconds)) return LONG_SPEECH_MS;
  const { min, max } = LONG_SPEECH_S;
  return Math.min(max, Math.max(min, seconds)) * 1_000;
}
