// The engine's input and output. The engine is pure: every fact from outside (time, words, a model's answer) is an
// event, every request to the outside is an action.

import type { AnswerEvidence, Answerer } from '../../model/answer-handling.ts';
import type { CallEventBody, UtteranceKind } from '../../model/call-event.ts';
import type { EndReason } from '../../model/end-reason.ts';
import type { DigitsVerdict, TransferFailure, TurnSource } from '../../model/engine-input.ts';
import type { ExpectedInput } from '../../model/expected-input.ts';
import type { LlmMessage, LlmTool, LlmToolCall, VendorPart } from '../../model/llm-message.ts';
import type { Direction } from '../../model/provider.ts';
import type { ToolRequest } from '../tools/tool-request-builder.ts';
import type { TransferAnnouncement } from '../tools/tool-type.ts';

/** `at` is the wall clock in milliseconds since 1970. `isCallerSpeaking`: the caller is in the middle of a turn, by
 *  voice or keys; default: no. */
export type DialogueEvent = { at: number; isCallerSpeaking?: boolean } & (
  | { type: 'started'; direction: Direction; initialContext: Record<string, unknown> }
  | { type: 'waited'; waitId: number }
  /** Who has answered the outbound call, as far as is known; may follow again with another verdict. */
  | { type: 'answered'; who: Answerer; by: AnswerEvidence; isReady: boolean }
  /** The caller has finished a turn. DTMF entries arrive here too, as their digits. `digits`: set in a replay, for keys
   *  that the log does not have: whether they count. */
  | {
      type: 'caller-turn';
      text: string;
      confidence: number | null;
      source: TurnSource;
      digits?: DigitsVerdict;
    }
  /** An utterance is over: no more of it will be heard. */
  | { type: 'utterance-finished'; utteranceId: number; heardText: string; interrupted: boolean }
  | {
      type: 'model-answered';
      requestId: number;
      text: string;
      toolCalls: readonly LlmToolCall[];
      vendor?: VendorPart;
    }
  /** The model returned nothing usable, after the session's own retries. `refused`: it refused what the conversation
   *  contains (`content`), or the request without that reason (`request`). */
  | { type: 'model-failed'; requestId: number; code: string; refused?: 'content' | 'request' }
  | { type: 'extracted'; extractionId: number; values: Record<string, unknown> }
  | { type: 'extraction-failed'; extractionId: number; code: string }
  /** The reply to a `call-out`, with any status: the JSON of its body, or its text. */
  | ({ type: 'called-out'; toolRunId: number; status: number; data: unknown } & Logged)
  /** No reply came. `error` is for the model, without addresses and secrets. */
  | ({ type: 'call-out-failed'; toolRunId: number; isLate: boolean; error: string } & Logged)
  /** The caller is connected with the destination; this call has no media any more. */
  | { type: 'transferred'; toolRunId: number }
  | ({
      type: 'transfer-failed';
      toolRunId: number;
      reason: TransferFailure;
      message: string;
    } & Logged)
  /** The caller has waited in silence for the agent's next words: a model, a tool or a voice is slow. */
  | { type: 'waiting' }
  /** The parties were disconnected for a while, and are connected again. */
  | { type: 'line-restored' }
  /** Speech recognition has failed: the caller has the keypad only. */
  | { type: 'keys-only' }
  /** The recogniser of another node understands the caller. */
  | { type: 'recognition-restored' }
  /** The call goes on in another process than before: what was in progress is lost. */
  | { type: 'resumed' }
  /** Neither side has spoken for the configured time. */
  | { type: 'idle' }
  /** The call is about to reach its longest duration. `text`: the author's words for it; may be empty. */
  | { type: 'ending-soon'; text: string }
  /** The call is over or must end (hang-up, time limit): nothing more is said. Values still to be extracted are
   *  requested; then `end` follows with this reason (or with that of a conversation that had ended before), within six
   *  seconds of the caller's last words. A transfer in progress may still succeed. `lastWordsFollow`: the recogniser may
   *  still return words, as `caller-turn`; then `last-words-complete` follows. */
  | { type: 'ending'; reason: EndReason; lastWordsFollow?: boolean }
  /** The recogniser has returned all words of a caller who has left. */
  | { type: 'last-words-complete' }
);

/** Set in a replay: the function's result as the run's log has it, from which the log leaves out what it was made of. */
interface Logged {
  result?: string;
}

/** An event whose time, and whether the caller speaks, are set by its receiver. */
export type UntimedEvent<E> = E extends DialogueEvent ? Omit<E, 'at'> : never;

export type DialogueAction =
  /** Speak a fixed text, or play the clip with that id, whose transcript is the text. Utterances are spoken in
   *  the order of these actions. */
  | {
      type: 'say';
      utteranceId: number;
      kind: UtteranceKind;
      text: string;
      clipId?: string;
      interruptible: boolean;
      /** Set if it is spoken before everything that is queued, or not at all. */
      isInterjection?: true;
    }
  /** Send a request to the model; its text is spoken as `utteranceId` as it arrives. */
  | {
      type: 'generate';
      requestId: number;
      utteranceId: number;
      kind: UtteranceKind;
      interruptible: boolean;
      messages: readonly LlmMessage[];
      tools: readonly LlmTool[];
    }
  /** Drop a request because the caller continued to speak. Its utterance is finished as interrupted. */
  | { type: 'abandon'; requestId: number }
  /** Request values from the model as one JSON object, without speech. */
  | { type: 'extract'; extractionId: number; messages: readonly LlmMessage[] }
  /** Send a tool's request to another system. */
  | { type: 'call-out'; toolRunId: number; tool: string; request: ToolRequest }
  /** Transfer the caller. `to` is as the author or a resolver wrote it. */
  | {
      type: 'transfer';
      toolRunId: number;
      to: string;
      ringS: number;
      announcement?: TransferAnnouncement;
    }
  /** Abort a `call-out` whose reply is not needed any more. */
  | { type: 'stop-tool'; toolRunId: number }
  /** Stop what is being said, and drop what is queued. */
  | { type: 'hush' }
  /** Send keys (as in `dtmfTones`) to the far end. */
  | { type: 'press'; digits: string }
  | { type: 'expect'; expectation: ExpectedInput }
  | { type: 'wait'; waitId: number; delayMs: number }
  /** A fact for the run's log. */
  | { type: 'log'; body: CallEventBody }
  /** End the call now; all utterances were played. */
  | { type: 'end'; reason: EndReason };
