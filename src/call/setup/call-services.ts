// What the calls of a process share: the clock of their media, the model of their VAD, and the source of their speech
// services.

import type { GatewayError } from '../../errors/gateway-error.ts';
import type { CallAudioOptions } from '../../pipeline/call-audio-options.ts';
import type { LanguageModel } from '../../speech/llm/llm.ts';
import type { SpeechPlan } from '../../speech/speech-plan.ts';

/** Whose services they are: an organization's, unless the agent's version names its own. */
export interface SpeechOwner {
  organizationId: string;
  /** Of the workflow's version. */
  configurations: Record<string, unknown>;
}

/** Never rejects: what cannot be used is replaced by the gateway's own. */
export interface LanguageModelSource {
  /** Undefined: the scripted policy leads the conversation. */
  languageModelOf(owner: SpeechOwner): Promise<LanguageModel | undefined>;
}

export interface SpeechSource extends LanguageModelSource {
  planOf(owner: SpeechOwner): Promise<PlannedSpeech>;
}

export interface PlannedSpeech {
  plan: SpeechPlan;
  /** What of the settings cannot be used, for the call's log. */
  faults: readonly GatewayError[];
}

export interface CallServices extends Pick<CallAudioOptions, 'mediaClock' | 'vad'> {
  speech: SpeechSource;
}
