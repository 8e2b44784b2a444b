// What the workflow engine gets in a call, as the run's log stores it: each input once. Content that another event of
// the log has is left out here, and `call/events/state-rebuild` puts it in again.

import { z } from 'zod';
import { answerEvidence, answerer } from './answer-handling.ts';
import { endReason } from './end-reason.ts';
import { direction } from './provider.ts';

/** Source of the caller's turn. */
export const turnSource = z.enum(['speech', 'dtmf', 'chat']);
export type TurnSource = z.infer<typeof turnSource>;

/** Whether digits count that the caller has entered. none: no key was pressed, or the terminator alone. invalid: not what
 *  they must be. */
export const digitsVerdict = z.enum(['ok', 'none', 'too_few', 'too_many', 'invalid']);
export type DigitsVerdict = z.infer<typeof digitsVerdict>;

/** Why a transfer failed, before or at the provider. */
export const transferFailure = z.enum([
  'no_destination',
  'provider_does_not_support_transfer',
  'provider_does_not_support_warm_transfer',
  'declined',
  'provider_error',
  'busy',
  'no_answer',
  'queue_timeout',
  'provider_does_not_support_digits',
  'answering_machine',
  'call_failed',
  'timeout',
  'execution_error',
  'textchat_not_supported',
]);
export type TransferFailure = z.infer<typeof transferFailure>;

const vendor = z
  .object({ service: z.string(), family: z.string(), data: z.unknown() })
  .exactOptional();
const values = z.record(z.string(), z.unknown());
const toolRunId = z.number();

const input = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('started'),
    direction,
    /** With null for each name in `ofRun`, whose value the run's initial context has. */
    initialContext: values,
    ofRun: z.array(z.string()).exactOptional(),
  }),
  z.object({ type: z.literal('waited'), waitId: z.number() }),
  z.object({
    type: z.literal('answered'),
    who: answerer,
    by: answerEvidence,
    isReady: z.boolean(),
  }),
  /** A turn that is no `user.turn`: nothing was recognised. */
  z.object({
    type: z.literal('caller-turn'),
    text: z.string(),
    confidence: z.number().nullable(),
    source: turnSource,
  }),
  /** An utterance without an `agent.said`: nothing of it was heard. */
  z.object({
    type: z.literal('utterance-finished'),
    utteranceId: z.number(),
    heardText: z.string(),
    interrupted: z.boolean(),
  }),
  z.object({
    type: z.literal('model-answered'),
    requestId: z.number(),
    text: z.string(),
    /** The calls that were carried out: each has the next `function.called`. Absent: none. */
    calls: z.array(z.object({ vendor })).exactOptional(),
    vendor,
  }),
  z.object({
    type: z.literal('model-failed'),
    requestId: z.number(),
    code: z.string(),
    refused: z.enum(['content', 'request']).exactOptional(),
  }),
  /** Its values are those of the next `variables.extracted`. */
  z.object({ type: z.literal('extracted'), extractionId: z.number() }),
  z.object({ type: z.literal('extraction-failed'), extractionId: z.number(), code: z.string() }),
  /** Without `data`, the next `function.returned` of the call has the result. */
  z.object({
    type: z.literal('called-out'),
    toolRunId,
    status: z.number(),
    data: z.unknown().exactOptional(),
  }),
  /** The next `function.returned` of the call has the text. */
  z.object({ type: z.literal('call-out-failed'), toolRunId, isLate: z.boolean() }),
  z.object({ type: z.literal('transferred'), toolRunId }),
  z.object({ type: z.literal('transfer-failed'), toolRunId, reason: transferFailure }),
  z.object({ type: z.literal('ending-soon'), text: z.string() }),
  z.object({
    type: z.literal('ending'),
    reason: endReason,
    lastWordsFollow: z.boolean().exactOptional(),
  }),
  z.object({ type: z.literal('waiting') }),
  z.object({ type: z.literal('line-restored') }),
  z.object({ type: z.literal('keys-only') }),
  z.object({ type: z.literal('recognition-restored') }),
  z.object({ type: z.literal('resumed') }),
  z.object({ type: z.literal('idle') }),
  z.object({ type: z.literal('last-words-complete') }),
]);
export type StoredInput = z.infer<typeof input>;

/** Whether the caller was in the middle of a turn, by voice or keys. Absent: no. */
const isCallerSpeaking = z.literal(true).exactOptional();

/** The mark of an event of the log that is an input of the engine too. */
export const inputMark = z
  .object({
    isCallerSpeaking,
    /** Of keys that are hidden: whether they count. */
    digits: digitsVerdict.exactOptional(),
  })
  .exactOptional();

/** The limit that an input exceeded: characters of one, inputs of a run, characters of all inputs of a run. */
export const inputBound = z.enum(['input-characters', 'run-inputs', 'run-characters']);
export type InputBound = z.infer<typeof inputBound>;

export const engineInputBodies = [
  z.object({ type: z.literal('engine.input'), input, isCallerSpeaking }),
  /** An input was not stored, and none after it: the state can be rebuilt up to here. */
  z.object({
    type: z.literal('engine.input-lost'),
    /** Type of the input. */
    input: z.string(),
    bound: inputBound,
    max: z.number(),
  }),
] as const;
