// Speech plan of one call, fixed when the call is planned: recogniser, language model and voice for every node of its
// agent. Each may be several services behind one interface, in order of preference.

import type { GatewayError } from '../errors/gateway-error.ts';
import type { LanguageModel } from './llm/llm.ts';
import type { ServiceFault } from './service/service-fault.ts';
import type { ServiceChange } from './service/service-reports.ts';
import type { SpeechToText } from './stt/stt.ts';
import type { TextToSpeech } from './tts/tts.ts';

/** Services that a node of the agent uses. */
export interface NodeSpeech {
  /** Number of the recogniser's list for this node (`Recognizer.switchTo`). Default: 0. */
  sttList?: number;
  tts: TextToSpeech;
  /** Undefined: the service's default voice. */
  voice: string | undefined;
  /** Undefined: the scripted policy leads the conversation. */
  llm: LanguageModel | undefined;
  /** Language tag (BCP 47) that the node sets. Undefined: the agent's. */
  language?: string | undefined;
  /** Language tag (BCP 47) of the words: the node's, else that in the first recogniser's settings. Undefined if none or
   *  several are set. */
  wordsLanguage?: string | undefined;
}

/** Its own fields are the services of the first node. */
export interface SpeechPlan extends NodeSpeech {
  /** Undefined: no recognition, only the caller's keypad. */
  stt: SpeechToText | undefined;
  /** Places with other services, by `placeKey`. */
  nodes?: ReadonlyMap<string, NodeSpeech>;
  /** Called for a permanent fault that a fallback hid from the caller: the owner must change a key, an account or a
   *  setting. The session sets it and writes the faults into the call's log. Setting it reports earlier faults at
   *  once. */
  onPermanentFault?: ((fault: ServiceFault) => void) | undefined;
  /** Called when the call uses another service because of a temporary fault in this call or in others. Set like
   *  `onPermanentFault`. At most `CHANGES_MAX` of a call. */
  onServiceChanged?: ((change: ServiceChange) => void) | undefined;
  /** Releases the sessions of keys that the call holds, at its end. */
  release?: () => void;
}

export interface PlannedSpeech {
  plan: SpeechPlan;
  /** Settings that cannot be used, for the call's log. */
  faults: readonly GatewayError[];
  /** Languages to which tools may switch, by agent of the call (empty text: the first one). Default: all that the tools
   *  name. */
  languages?: ReadonlyMap<string, readonly string[]>;
}

/** Where a conversation stands, as far as services depend on it. */
export interface SpeechPlace {
  /** Null before the first node. */
  nodeId: string | null;
  /** Another agent of the call; undefined: the one with which it began. */
  agent?: string | undefined;
  /** Language tag (BCP 47) to which a tool has switched; undefined: none has. */
  language?: string | undefined;
}

/** Key of a place among the services of a call: a node of the first agent has its id. */
export function placeKey({ nodeId, agent, language }: SpeechPlace): string {
  if (agent === undefined && language === undefined) return nodeId ?? '';
  return JSON.stringify([agent ?? null, language ?? null, nodeId]);
}

/** Services of a place. Places with equal services share one object. */
export function speechAt(plan: SpeechPlan, place: SpeechPlace): NodeSpeech {
  return (place.nodeId === null ? undefined : plan.nodes?.get(placeKey(place))) ?? plan;
}

/** Opens connections for the first node while the phone rings. Returns at once and never throws. */
export function prepareSpeech({ stt, tts, llm }: SpeechPlan): void {
  stt?.prepare?.();
  tts.prepare?.();
  llm?.prepare();
}
