// What an agent does when no person answers its outbound call: the setting `voicemail_detection`, with the reference's
// names (`voicemail_action`, `voicemail_message`, `screening_message`, ...) and our own for menus and queues.

import { z } from 'zod';
import type { ClipRef } from './clip.ts';

/** Who or what has answered. `no-message`: a voicemail that takes no messages. `hold`: a queue, with or without music.
 *  `unknown`: nothing was said. */
export const answerer = z.enum([
  'person',
  'voicemail',
  'no-message',
  'screening',
  'menu',
  'hold',
  'out-of-service',
  'fax',
  'unknown',
]);
export type Answerer = z.infer<typeof answerer>;

/** What a verdict rests on. */
export const answerEvidence = z.enum([
  'cadence',
  'words',
  'beep',
  'tones',
  'music',
  'provider',
  'silence',
]);
export type AnswerEvidence = z.infer<typeof answerEvidence>;

/** Steps through a menu, and keys or words of each. */
const MENU_STEPS_MAX = 5;
const MENU_STEP_LENGTH_MAX = 100;
const MESSAGE_LENGTH_MAX = 5_000;

/** A text, which may be a template, or a recording, which comes first. */
export interface AnswerMessage {
  text: string;
  recording: ClipRef | undefined;
}

export interface AnswerHandling {
  voicemail: 'hangup' | 'leave_message';
  voicemailMessage: AnswerMessage;
  /** Says who calls, and why, to a call screening. */
  screeningMessage: AnswerMessage;
  /** Time for a person to take the call after it. */
  screeningWaitMs: number;
  /** How often it is said at most. */
  screeningsMax: number;
  menu: 'hangup' | 'navigate';
  /** Keys (`0-9*#` and `w` for half a second) or words toward a person, one for each menu. */
  menuSteps: readonly string[];
  /** Time in a queue. */
  holdWaitMs: number;
}

/** Range of each number, and its default; as stored. */
const number = (min: number, max: number, otherwise: number) =>
  z.number().min(min).max(max).catch(otherwise).default(otherwise);
const message = z
  .looseObject({
    text: z.string().max(MESSAGE_LENGTH_MAX).catch(''),
    recording_id: z.string().min(1).nullish().catch(null),
    recording_pk: z.number().int().positive().nullish().catch(null),
  })
  .partial()
  .catch({})
  .default({});

const stored = z.looseObject({
  enabled: z.literal(true),
  voicemail_action: z.enum(['hangup', 'leave_message']).catch('hangup').default('hangup'),
  voicemail_message: message,
  screening_message: message,
  screening_wait_ms: number(1, 60_000, 30_000),
  max_screening_rearms: number(0, 2, 2),
  menu_action: z.enum(['hangup', 'navigate']).catch('hangup').default('hangup'),
  menu_steps: z
    .array(z.string().trim().min(1).max(MENU_STEP_LENGTH_MAX))
    .max(MENU_STEPS_MAX)
    .catch([])
    .default([]),
  hold_wait_ms: number(1_000, 600_000, 120_000),
});

/** The setting as stored; undefined if it is off. A value out of range counts as not set. */
export function answerHandlingOf(setting: unknown): AnswerHandling | undefined {
  const read = stored.safeParse(setting);
  if (!read.success) return undefined;
  const { data } = read;
  return {
    voicemail: data.voicemail_action,
    voicemailMessage: messageOf(data.voicemail_message),
    screeningMessage: messageOf(data.screening_message),
    screeningWaitMs: data.screening_wait_ms,
    screeningsMax: data.max_screening_rearms,
    menu: data.menu_action,
    menuSteps: data.menu_steps,
    holdWaitMs: data.hold_wait_ms,
  };
}

/** Recordings of the messages. */
export function answerClipRefs(setting: unknown): ClipRef[] {
  const handling = answerHandlingOf(setting);
  if (handling === undefined) return [];
  return [handling.voicemailMessage, handling.screeningMessage].flatMap(({ recording }) =>
    recording === undefined ? [] : [recording],
  );
}

function messageOf({
  text = '',
  recording_id,
  recording_pk,
}: z.infer<typeof message>): AnswerMessage {
  return { text, recording: recordingOf(recording_id ?? undefined, recording_pk ?? undefined) };
}

function recordingOf(name: string | undefined, key: number | undefined): ClipRef | undefined {
  if (name !== undefined) return { by: 'name', value: name };
  return key === undefined ? undefined : { by: 'id', value: String(key) };
}
