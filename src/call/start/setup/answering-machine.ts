// Answering machine detection (AMD): whether a machine has answered, by the provider's report or by the call's audio,
// and what then happens to the call. Source: contract §8.8.

import type { CallEvent } from '../../../model/call-event.ts';
import type { AnsweringMachineTuning } from '../../../pipeline/listen/answering-machine-detector.ts';
import { isObject } from '../../../std/json.ts';
import type { CallPlan } from './call-plan.ts';

/** Speech after which a greeting counts as a machine's: those of people are shorter; those of machines mostly go on,
 *  or end in a beep. */
const LONG_SPEECH_MS = 5_000;
/** Range of the setting, in seconds. */
const LONG_SPEECH_S = { min: 1, max: 60 };

/** Whether the agent must not speak, because a machine has answered the call. */
export function isMachineBehaviour(plan: CallPlan, events: readonly CallEvent[]): boolean {
  const noted = events.findLast(({ body }) => body.type === 'call.answered-by')?.body;
  return noted?.type === 'call.answered-by' && isUnwantedMachine(plan, noted.answeredBy);
}

/** Whether the call ends after this result. */
export function isUnwantedMachine(plan: CallPlan, answeredBy: string): boolean {
  return isMachine(answeredBy) && hangsUpOnMachines(plan);
}

/** The agent's own setting, as stored. */
export function hangsUpOnMachines({ storedSettings }: CallPlan): boolean {
  const detection = storedSettings['voicemail_detection'];
  return isObject(detection) && detection['enabled'] === true;
}

function isMachine(answeredBy: string): boolean {
  return /^(machine|fax)/.test(answeredBy);
}

/** Tuning of the detection in the audio; undefined where the provider detects machines, or the call is inbound. */
export function machineDetectionOf({
  run,
  provider,
  storedSettings,
}: CallPlan): AnsweringMachineTuning | undefined {
  if (run.callType !== 'outbound' || provider.capabilities.answeringMachine) return undefined;
  return { longSpeechMs: longSpeechMs(storedSettings['voicemail_detection']) };
}

function longSpeechMs(detection: unknown): number {
  const seconds = isObject(detection) ? detection['long_speech_timeout'] : undefined;
  if (typeof seconds !== 'number' || Number.isNaN(seconds)) return LONG_SPEECH_MS;
  const { min, max } = LONG_SPEECH_S;
  return Math.min(max, Math.max(min, seconds)) * 1_000;
}
