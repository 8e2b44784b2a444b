// The speech services of the gateway's settings, for every call.

import type { LanguageModel } from '../../speech/llm/llm.ts';
import type { SpeechPlan } from '../../speech/speech-plan.ts';
import type { LanguageModelSource, SpeechSource } from './call-services.ts';

export function gatewaySpeech(plan: SpeechPlan): SpeechSource {
  return { ...gatewayModel(plan.llm), planOf: () => Promise.resolve(plan) };
}

/** For a process without calls. */
export function gatewayModel(llm: LanguageModel | undefined): LanguageModelSource {
  return { languageModelOf: () => Promise.resolve(llm) };
}
