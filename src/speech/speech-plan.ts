// The speech services of one call, fixed when the call is planned: recogniser, language model and voice for every node of
// its agent. Each may be several services behind one interface, in order of preference.

import type { GatewayError } from '../errors/gateway-error.ts';
import type { LanguageModel } from './llm/llm.ts';
import type { ServiceChange } from './service/service-change.ts';
import type { ServiceFault } from './service/service-fault.ts';
import type { SpeechToText } from './stt/stt.ts';
import type { TextToSpeech } from './tts/tts.ts';

/** What a node of the agent uses. */
export interface NodeSpeech {
  /** The list of the call's recogniser (`Recognizer.switchTo`). Default: 0. */
  sttList?: number;
  tts: TextToSpeech;
  /** Undefined: the voice that the service has by default. */
  voice: string | undefined;
  /** Undefined: the scripted policy leads the conversation. */
  llm: LanguageModel | undefined;
  /** BCP 47, as the node sets it. Undefined: the agent's. */
  language?: string | undefined;
  /** BCP 47: the node's, else that of the first recogniser's settings. Undefined: none is set, or several. */
  wordsLanguage?: string | undefined;
}

/** Its own services are those of the first node. */
export interface SpeechPlan extends NodeSpeech {
  /** Undefined: no recognition, the caller has the keypad only. */
  stt: SpeechToText | undefined;
  /** Nodes whose services differ, by id. */
  nodes?: ReadonlyMap<string, NodeSpeech>;
  /** Faults that a fallback hid from the caller, and that go on until somebody changes a key, an account or a setting.
   *  The session sets it, and writes them into the call's log; setting it reports those that came before at once. */
  onPermanentFault?: ((fault: ServiceFault) => void) | undefined;
  /** The call goes on with another service because of a fault that may pass, its own or that of other calls, as
   *  `onPermanentFault`. At most
   *  `CHANGES_MAX` of a call. */
  onServiceChanged?: ((change: ServiceChange) => void) | undefined;
  /** The call is over: what it holds of its keys is free for others. */
  release?: () => void;
}

export interface PlannedSpeech {
  plan: SpeechPlan;
  /** What of the settings cannot be used, for the call's log. */
  faults: readonly GatewayError[];
}

/** Null: before the first node. The same object for all nodes that share it. */
export function nodeSpeechOf(plan: SpeechPlan, nodeId: string | null): NodeSpeech {
  return (nodeId === null ? undefined : plan.nodes?.get(nodeId)) ?? plan;
}

/** Opens connections of the first node ahead, while the phone rings. Returns at once and never throws. */
export function prepareSpeech({ stt, tts, llm }: SpeechPlan): void {
  stt?.prepare?.();
  tts.prepare?.();
  llm?.prepare();
}
