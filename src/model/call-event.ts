// Events of a call, as the run's append-only log stores them. Transcript, usage, latency, state and live monitoring are
// projections of these events; no other record of the call's course is stored.

import { z } from 'zod';
import { answerEvidence } from './answer-handling.ts';
import { endReason } from './end-reason.ts';
import { engineInputBodies, inputMark, turnSource } from './engine-input.ts';
import { waitOutcome } from './overflow.ts';
import { callStatus, direction, providerName } from './provider.ts';

/** Why the agent speaks. */
export const utteranceKind = z.enum([
  'greeting',
  'reply',
  'transition',
  'reprompt',
  'idle',
  'fallback',
  'goodbye',
  'notice',
  'voicemail-message',
  'screening-message',
]);
export type UtteranceKind = z.infer<typeof utteranceKind>;

/** The progress of a transfer's destination, in its order; those from `busy` on are final. `joined`: the gateway has
 *  joined it with the caller. `completed`: it was answered and is over. */
export const transferOutcome = z.enum([
  'ringing',
  'answered',
  'answering-machine',
  'joined',
  'busy',
  'no-answer',
  'failed',
  'canceled',
  'completed',
]);
export type TransferOutcome = z.infer<typeof transferOutcome>;

/** Milliseconds from the end of the caller's speech to the agent's first sample on the wire, by part. */
export const turnLatency = z.object({
  /** Time from the end of speech to the decision that the turn is over (endpointing). */
  endpointingMs: z.number(),
  /** Time from that decision to the final transcript. */
  recognitionMs: z.number(),
  /** Time from the final transcript to the first sentence to say (0 for the scripted policy). */
  modelMs: z.number(),
  /** Time from the first sentence to its first samples. */
  speechMs: z.number(),
  /** Time from the end of the caller's speech to the agent's first frame on the socket. */
  totalMs: z.number(),
  /** The gateway's own share: total without endpointing, recognition, model and synthesis. */
  gatewayMs: z.number(),
});
export type TurnLatency = z.infer<typeof turnLatency>;

const body = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('call.created'),
    direction,
    provider: providerName,
    from: z.string().nullable(),
    to: z.string().nullable(),
  }),
  z.object({
    type: z.literal('call.status'),
    status: callStatus,
    providerStatus: z.string(),
    callId: z.string(),
    durationS: z.number().nullable(),
    /** Fields of the provider, without secrets. */
    raw: z.record(z.string(), z.unknown()),
  }),
  /** All places were taken: the caller waits for one, before the agent has the call. */
  z.object({ type: z.literal('wait.began') }),
  z.object({ type: z.literal('wait.ended'), outcome: waitOutcome, waitedMs: z.number() }),
  /** `by`: what the verdict rests on; absent if it is the provider's own. */
  z.object({
    type: z.literal('call.answered-by'),
    answeredBy: z.string(),
    by: answerEvidence.exactOptional(),
  }),
  /** Progress of a transfer's destination, as its provider reports it; also after the end of the run. */
  z.object({
    type: z.literal('transfer.result'),
    transferId: z.string(),
    outcome: transferOutcome,
    /** Status in the provider's word, and its id of the destination's leg. */
    providerStatus: z.string(),
    callId: z.string(),
    durationS: z.number().nullable(),
  }),
  z.object({ type: z.literal('media.started'), codec: z.string(), rateHz: z.number() }),
  /** The media's connection was lost, or came back. */
  z.object({ type: z.literal('media.interrupted') }),
  z.object({ type: z.literal('media.restored'), outageMs: z.number() }),
  /** The far end has put the call on hold, or has ended the hold. */
  z.object({ type: z.literal('call.held') }),
  z.object({ type: z.literal('call.unheld'), heldMs: z.number() }),
  z.object({
    type: z.literal('node.entered'),
    nodeId: z.string(),
    nodeName: z.string(),
    previousNodeId: z.string().nullable(),
    previousNodeName: z.string().nullable(),
    allowInterrupt: z.boolean(),
  }),
  /** Another agent has taken the call over; its first node follows. `agentId`: its uuid, or null for the agent with which
   *  the call began. `language`: the one that the caller has chosen, if this agent has it too. */
  z.object({
    type: z.literal('agent.entered'),
    agentId: z.string().nullable(),
    agentName: z.string(),
    previousAgentName: z.string(),
    workflowId: z.string(),
    definitionId: z.string(),
    reason: z.string().exactOptional(),
    language: z.string().exactOptional(),
  }),
  /** A tool has switched the call to another language (BCP 47). */
  z.object({
    type: z.literal('language.switched'),
    language: z.string(),
    previous: z.string().nullable(),
  }),
  z.object({
    type: z.literal('user.turn'),
    text: z.string(),
    source: turnSource,
    confidence: z.number().nullable(),
    nodeId: z.string().nullable(),
    nodeName: z.string().nullable(),
    /** Media time of the first and last speech of the turn. */
    startMs: z.number(),
    endMs: z.number(),
    /** Set if the engine got the turn. */
    input: inputMark,
  }),
  z.object({
    type: z.literal('user.backchannel'),
    text: z.string(),
    /** Set for words that were certainly recognised, and spoken while the agent could not be interrupted: part of the
     *  transcript. */
    muted: z.object({ startMs: z.number(), endMs: z.number() }).optional(),
  }),
  z.object({
    type: z.literal('agent.said'),
    utteranceId: z.number(),
    kind: utteranceKind,
    /** Words that the caller has certainly heard. */
    text: z.string(),
    /** What was to be said and was not heard, if the caller interrupted it. */
    unheard: z.string().optional(),
    interrupted: z.boolean(),
    nodeId: z.string().nullable(),
    nodeName: z.string().nullable(),
    startMs: z.number(),
    endMs: z.number(),
    /** Set if the engine got the report. */
    input: inputMark,
  }),
  z.object({
    type: z.literal('interruption'),
    cause: z.enum(['speech', 'dtmf']),
    /** Milliseconds from the caller's real onset of speech to the decision, and to silence on the wire. */
    decisionMs: z.number(),
    silenceMs: z.number(),
  }),
  z.object({ type: z.literal('dtmf'), digit: z.string() }),
  /** A client had DTMF digits sent to the far end; tones wait for the end of what is being said. */
  z.object({ type: z.literal('digits.sent'), digits: z.string() }),
  z.object({ type: z.literal('turn.latency'), parts: turnLatency }),
  z.object({
    type: z.literal('model.usage'),
    service: z.string(),
    model: z.string(),
    firstTokenMs: z.number(),
    totalMs: z.number(),
    promptTokens: z.number(),
    completionTokens: z.number(),
    cachedTokens: z.number(),
    /** Absent in events of older versions. */
    cacheWriteTokens: z.number().optional(),
    reasoningTokens: z.number().optional(),
    /** Whether the request was aborted, so that the tokens are the gateway's estimate. */
    isEstimated: z.boolean().optional(),
  }),
  z.object({
    type: z.literal('speech.usage'),
    service: z.string(),
    model: z.string(),
    characters: z.number(),
  }),
  z.object({
    type: z.literal('recognition.usage'),
    service: z.string(),
    model: z.string(),
    seconds: z.number(),
  }),
  z.object({
    type: z.literal('function.called'),
    callId: z.string(),
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()),
  }),
  z.object({
    type: z.literal('function.returned'),
    callId: z.string(),
    name: z.string(),
    result: z.string(),
  }),
  /** The result of the call in the model's words, when it ended the call by a tool. */
  z.object({ type: z.literal('disposition.given'), disposition: z.string() }),
  z.object({
    type: z.literal('variables.extracted'),
    nodeId: z.string(),
    values: z.record(z.string(), z.unknown()),
    /** Source of each value without a model, or why there is none. */
    details: z
      .record(
        z.string(),
        z.object({
          source: turnSource.nullable(),
          confidence: z.number().nullable(),
          /** Number of the caller's turn with the value, counted from 1. */
          turn: z.number().nullable(),
          reason: z.literal('not_extracted').nullable(),
        }),
      )
      .optional(),
  }),
  z.object({
    type: z.literal('fault'),
    code: z.string(),
    message: z.string(),
    fatal: z.boolean(),
    /** The speech service whose owner must change a key, an account or a setting. */
    service: z
      .object({
        job: z.enum(['llm', 'tts', 'stt']),
        name: z.string(),
        kind: z.string(),
        detail: z.string(),
      })
      .optional(),
    /** The speech service that failed, whether the fault lasts or not; `kind` as in `service`. Absent in events of older
     *  versions, and for faults of no service or of one without a classified error. */
    origin: z
      .object({ job: z.enum(['llm', 'tts', 'stt']), name: z.string(), kind: z.string() })
      .optional(),
    /** Set if the call continued with another speech service, or skipped one that failed in other calls; the fault may
     *  pass. */
    change: z
      .object({
        job: z.enum(['llm', 'tts', 'stt']),
        /** Kind as in `service`, or the error's code. */
        kind: z.string(),
        from: z.string(),
        fromModel: z.string(),
        to: z.string(),
        toModel: z.string(),
      })
      .optional(),
  }),
  ...engineInputBodies,
  /** The call goes on in another process than before. What the engine had got after `afterSeq` does not count: parts of it
   *  were lost. `gapMs`: media time since the last sign of the former process. `recordingGapMs`: silence of the recording
   *  before this moment, which is all of it so far if the former part is on another machine. */
  z.object({
    type: z.literal('call.resumed'),
    afterSeq: z.number(),
    gapMs: z.number(),
    recordingGapMs: z.number(),
  }),
  /** A text chat was rewound: the events between `toSeq` and this one no longer count. */
  z.object({ type: z.literal('chat.rewound'), toSeq: z.number() }),
  z.object({ type: z.literal('recording.finished'), seconds: z.number(), bytes: z.number() }),
  z.object({
    type: z.literal('call.ended'),
    reason: endReason,
    /** The party that ended the call. */
    by: z.enum(['caller', 'agent', 'provider', 'gateway']),
    durationS: z.number(),
  }),
]);
export type CallEventBody = z.infer<typeof body>;

/** One row of a run's log. `seq` counts from 1 without gaps within a run. */
export interface CallEvent {
  runId: string;
  seq: number;
  /** Wall clock, milliseconds since 1970. */
  at: number;
  /** Milliseconds of media since the media socket opened; 0 before. */
  mediaMs: number;
  body: CallEventBody;
}
