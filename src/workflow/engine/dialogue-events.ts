// The engine's input and output. The engine is pure: every fact of the world (time, words, a model's answer)
// arrives as an event, every request leaves as an action.

import type { CallEventBody, TurnSource, UtteranceKind } from '../../model/call-event.ts';
import type { EndReason } from '../../model/end-reason.ts';
import type { ExpectedInput } from '../../model/expected-input.ts';
import type { LlmMessage, LlmTool, LlmToolCall } from '../../model/llm-message.ts';
import type { Direction } from '../../model/provider.ts';
import type { ToolRequest } from '../tools/tool-request-builder.ts';
import type { TransferAnnouncement } from '../tools/tool-type.ts';

/** `at` is the wall clock in milliseconds since 1970. */
export type DialogueEvent = { at: number } & (
  | { type: 'started'; direction: Direction; initialContext: Record<string, unknown> }
  | { type: 'waited'; waitId: number }
  /** The caller has finished a turn. DTMF entries come here too, as their digits. */
  | { type: 'caller-turn'; text: string; confidence: number | null; source: TurnSource }
  /** All that will be heard of an utterance has been heard. */
  | { type: 'utterance-finished'; utteranceId: number; heardText: string; interrupted: boolean }
  | {
      type: 'model-answered';
      requestId: number;
      text: string;
      toolCalls: readonly LlmToolCall[];
    }
  /** The model gave nothing usable, after the session's own retries. */
  | { type: 'model-failed'; requestId: number; code: string }
  | { type: 'extracted'; extractionId: number; values: Record<string, unknown> }
  | { type: 'extraction-failed'; extractionId: number; code: string }
  /** The reply to a `call-out`, whatever its status: the JSON of its body, or its text. */
  | { type: 'called-out'; toolRunId: number; status: number; data: unknown }
  /** Nobody replied to it; `error` is for the model, without addresses and secrets. */
  | { type: 'call-out-failed'; toolRunId: number; isLate: boolean; error: string }
  /** The caller is with somebody else; this call has no media any more. */
  | { type: 'transferred'; toolRunId: number }
  | { type: 'transfer-failed'; toolRunId: number; reason: TransferFailure; message: string }
  /** Nobody has spoken for the configured time. */
  | { type: 'idle' }
  /** The call is over or must be (hang-up, time limit): nothing more is said. What is still to be
   *  extracted is asked for, then `end` comes with this reason (or with that of a conversation which
   *  had already come to its end), within six seconds. A transfer that is under way may still succeed. */
  | { type: 'ending'; reason: EndReason }
);

/** An event whose time is set by its receiver. */
export type UntimedEvent<E> = E extends DialogueEvent ? Omit<E, 'at'> : never;

export type DialogueAction =
  /** Speak a fixed text, or play the clip of that id, of which it is the transcript. Utterances are spoken
   *  in the order in which they are asked for. */
  | {
      type: 'say';
      utteranceId: number;
      kind: UtteranceKind;
      text: string;
      clipId?: string;
      interruptible: boolean;
    }
  /** Ask the model; its text is spoken as `utteranceId` while it comes. */
  | {
      type: 'generate';
      requestId: number;
      utteranceId: number;
      kind: UtteranceKind;
      interruptible: boolean;
      messages: readonly LlmMessage[];
      tools: readonly LlmTool[];
    }
  /** Forget a request: the caller spoke on. Its utterance is finished as interrupted. */
  | { type: 'abandon'; requestId: number }
  /** Ask the model, out of band, for values as one JSON object. */
  | { type: 'extract'; extractionId: number; messages: readonly LlmMessage[] }
  /** Ask another system for a tool. */
  | { type: 'call-out'; toolRunId: number; tool: string; request: ToolRequest }
  /** Hand the caller over. `to` is as the author or a resolver wrote it. */
  | {
      type: 'transfer';
      toolRunId: number;
      to: string;
      ringS: number;
      announcement?: TransferAnnouncement;
    }
  /** The reply to a `call-out` is not wanted any more. */
  | { type: 'stop-tool'; toolRunId: number }
  | { type: 'expect'; expectation: ExpectedInput }
  | { type: 'wait'; waitId: number; delayMs: number }
  /** A fact for the run's log. */
  | { type: 'log'; body: CallEventBody }
  /** End the call now; everything to be said has been heard. */
  | { type: 'end'; reason: EndReason };

/** Why a transfer came to nothing, before or at the provider. */
export type TransferFailure =
  | 'no_destination'
  | 'provider_does_not_support_transfer'
  | 'provider_does_not_support_warm_transfer'
  | 'declined'
  | 'provider_error'
  | 'busy'
  | 'no_answer'
  | 'call_failed'
  | 'timeout'
  | 'execution_error'
  | 'textchat_not_supported';
