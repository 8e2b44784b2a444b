// Dialogue state: the position in the conversation, as plain JSON that can be stored, sent and resumed. Only the
// functions of workflow/ write to it, each time to a copy.

import type { Answerer } from '../../model/answer-handling.ts';
import type { EndReason } from '../../model/end-reason.ts';
import type { TurnSource } from '../../model/engine-input.ts';
import type { LlmToolCall, VendorPart } from '../../model/llm-message.ts';
import type { DigitCollection, TransferAnnouncement } from '../tools/tool-type.ts';

/** before: not started. delayed: the agent waits before it speaks first. closing: the last words are being played.
 *  ending: values are still being extracted. ended: no event has an effect. */
export type Phase = 'before' | 'delayed' | 'talking' | 'closing' | 'ending' | 'ended';

export type HistoryEntry =
  | { role: 'user'; text: string }
  | {
      role: 'assistant';
      utteranceId: number;
      /** Words that the caller heard, once that is known; until then the generated words; null before that. */
      text: string | null;
      heard: boolean;
      interrupted: boolean;
      /** Whether a model has answered everything before it. Absent: no. */
      isAccepted?: boolean;
      toolCalls: LlmToolCall[];
      vendor?: VendorPart;
    }
  | {
      role: 'tool';
      callId: string;
      content: string;
      /** Set while its result is awaited: `content` applies if none comes. */
      toolRunId?: number;
    };

/** Source of a gathered value, or why there is none. */
export interface ValueDetail {
  source: TurnSource | null;
  confidence: number | null;
  /** The caller's turn with the value, counted from 1. */
  turn: number | null;
  reason: 'not_extracted' | null;
}

/** A far end that is no person. */
export interface AnsweringState {
  who: Exclude<Answerer, 'person' | 'unknown'>;
  /** Wait for the end of a greeting, or for a person. */
  waitId: number | null;
  /** How often the agent has said who calls, and steps that it has taken through menus. */
  screenings: number;
  menuSteps: number;
  /** Whether a beep came after the message had begun. */
  hasBeeped: boolean;
}

export type GeneratePurpose = 'opening' | 'reply' | 'nudge' | 'closing';

/** Function calls of the model's last answer that are not finished. */
export interface PendingToolCalls {
  /** Text that the model said beside them. */
  spoken: string;
  /** Whether a tool result needs an answer from the model. */
  isAnswered: boolean;
  /** Whether every reply so far was a fault of the other system. Absent: there was no reply. */
  isFaulty?: boolean;
  /** Requests in progress. */
  pending: PendingRequest[];
  /** Next step, once nothing is pending. */
  next: NextAfterTools;
}

export interface PendingRequest extends DelayedMessage {
  toolRunId: number;
  callId: string;
  name: string;
}

export interface DelayedMessage {
  /** The wait after which the tool's message is said. Absent: it was said, or there is none. */
  messageWait?: number;
}

export type NextAfterTools =
  | { what: 'reply' }
  | { what: 'move'; edgeId: string }
  | { what: 'end'; toolUuid: string }
  | PendingTransfer
  | PendingDigits
  | { what: 'agent'; toolUuid: string; agentUuid: string; reason: string; greets: boolean };

/** Digits that the caller enters. */
export interface PendingDigits {
  what: 'digits';
  toolRunId: number;
  callId: string;
  name: string;
  toolUuid: string;
  collection: DigitCollection;
  /** waiting: for other tools. asking: the message is played. entering: the caller is to press keys. */
  stage: 'waiting' | 'asking' | 'entering';
  /** Entries that are over. */
  tried: number;
  /** The wait for the first key. Absent: none is in progress. */
  firstDigitWait?: number;
}

/** waiting: for other tools. resolving: a server is asked for the destination. announcing: the announcement is played.
 *  transferring: the provider has the request. */
export interface PendingTransfer extends DelayedMessage {
  what: 'transfer';
  toolRunId: number;
  callId: string;
  name: string;
  toolUuid: string;
  arguments: Record<string, unknown>;
  stage: 'waiting' | 'resolving' | 'announcing' | 'transferring';
  destination: string;
  /** Set if repeated faults caused the transfer, with the settings that a tool would have. `isLast`: the agent cannot
   *  continue. */
  afterFaults?: { isLast: boolean; ringS: number; announcement?: TransferAnnouncement };
}

/** A recognised value that counts only after the caller has said yes. */
export type Confirmation =
  | { what: 'slot'; slot: string; value: string | number | boolean; spoken: string }
  | { what: 'edge'; edgeId: string; phrase: string }
  | { what: 'goodbye' };

/** The scripted policy's own state, for the current node. */
export interface ScriptedState {
  /** Consecutive turns that were not understood. */
  misses: number;
  /** The last question, for callers who ask for a repetition. */
  asked: string;
  /** Slots of this node that are filled and confirmed. */
  filled: string[];
  confirming:
    | (Confirmation & {
        source: TurnSource;
        confidence: number | null;
        turn: number;
        /** The answer so far, which was doubtful: the same one again counts. Absent: none. */
        doubtedAnswer?: boolean;
      })
    | null;
  /** Utterance after which an unconditional edge is taken; null for none. */
  goOnAfter: number | null;
  /** Number of nodes entered since the caller last spoke. */
  moves: number;
}

export interface PendingExtraction {
  extractionId: number;
  nodeId: string;
  /** The agent of the node. Absent: that with which the call began. */
  agentId?: string;
  /** Variables whose values a later extraction has given already. Absent: none. */
  replaced?: string[];
}

export interface DialogueState {
  phase: Phase;
  /** Next id: utterances, requests, extractions and waits share one numbering, from 1. */
  nextId: number;
  initialContext: Record<string, unknown>;
  /** Values by variable name. */
  extracted: Record<string, unknown>;
  details: Record<string, ValueDetail>;
  nodeId: string | null;
  /** The agent that has taken the call over. `id`: null for the one with which the call began. `brief`: what its model has
   *  to know. Absent: the first agent, which was never left. */
  agent?: { id: string | null; brief: string };
  /** Number of transfers between agents. Absent: none. */
  agentTransfers?: number;
  /** Language tag (BCP 47) to which a tool has switched. Absent: that of each node. */
  language?: string;
  /** Node names in the order of their first entry. */
  visited: string[];
  history: HistoryEntry[];
  /** Ids of utterances requested and not yet reported as finished. */
  speaking: number[];
  request: { requestId: number; utteranceId: number; purpose: GeneratePurpose } | null;
  tools: PendingToolCalls | null;
  extractions: PendingExtraction[];
  waits: {
    opening: number | null;
    closing: number | null;
    extraction: number | null;
    announcement: number | null;
  };
  /** Whether words of a caller who has left are awaited for the values. Absent: no. */
  awaitsLastWords?: boolean;
  /** Reason of the end, set as soon as the end is certain. */
  endReason: EndReason | null;
  /** Whether words of the caller withdraw the goodbye. Absent: it is final. */
  isWithdrawable?: boolean;
  /** Number of times that the end was put off because the caller spoke. Absent: none. */
  closingChecks?: number;
  /** The model's reason when it ended the call by a tool; null without one. */
  disposition: string | null;
  /** Number of consecutive silences. */
  idles: number;
  /** Number of consecutive model failures. */
  failures: number;
  /** Number of consecutive requests that the model refused because of their content. Absent: none. */
  refusals?: number;
  /** Number of faults of any kind in the whole call. Absent: none. */
  faults?: number;
  /** Whether repeated faults led to a person who was not reached. Absent: no. */
  hasFailedHandOver?: boolean;
  /** Number of consecutive rounds of tools in which every request failed. Absent: none. */
  toolFaults?: number;
  /** Number of model requests since the caller last spoke. */
  generations: number;
  /** Number of the caller's turns. */
  turns: number;
  /** Number of lines since the caller last spoke that explain a wait. Absent: none. */
  waitLines?: number;
  /** Number of consecutive utterances without a sound. Absent: none. */
  unsaid?: number;
  /** The answer of the model without words ("..."): the caller is asked again unless it has a sound. Absent: none. */
  wordless?: { utteranceId: number; purpose: GeneratePurpose };
  /** Words that count only after the caller has said yes (with a model). Absent: none. */
  doubted?: string;
  /** The doubtful answer to the question about them: the same one again counts. Absent: none. */
  doubtedAnswer?: boolean;
  /** Number of consecutive turns that were not understood (with a model). Absent: none. */
  misheard?: number;
  /** Number of silences for which the caller has asked the agent to wait. Absent: none. */
  patience?: number;
  /** Variables without a value that are in the run's log as faults. Absent: none. */
  missing?: string[];
  /** Set while the far end is no person. Absent: it is one, or not known. */
  answering?: AnsweringState;
  /** Whether a person has just taken the call, and is greeted. Absent: no. */
  isTakenOver?: boolean;
  /** Digits that the caller has entered and only tools get, by name. A rebuilt state does not have them. Absent: none. */
  hiddenDigits?: Record<string, string>;
  /** Whether the caller has the keypad only. Absent: false. */
  keysOnly?: boolean;
  scripted: ScriptedState;
}

export const SCRIPTED_INITIAL: ScriptedState = {
  misses: 0,
  asked: '',
  filled: [],
  confirming: null,
  goOnAfter: null,
  moves: 0,
};

export const INITIAL_STATE: DialogueState = {
  phase: 'before',
  nextId: 1,
  initialContext: {},
  extracted: {},
  details: {},
  nodeId: null,
  visited: [],
  history: [],
  speaking: [],
  request: null,
  tools: null,
  extractions: [],
  waits: { opening: null, closing: null, extraction: null, announcement: null },
  endReason: null,
  disposition: null,
  idles: 0,
  failures: 0,
  generations: 0,
  turns: 0,
  scripted: SCRIPTED_INITIAL,
};
