// The same speech services for every call.

import type {
  LanguageModelSource,
  SpeechSource,
} from '../../src/call/start/setup/call-services.ts';
import type { LanguageModel } from '../../src/speech/llm/llm.ts';
import type { SpeechPlan } from '../../src/speech/speech-plan.ts';

export function gatewaySpeech(plan: SpeechPlan): SpeechSource {
  return {
    languageModelOf: () => Promise.resolve(plan.llm),
    modelsOf: () => Promise.resolve(plan),
    planOf: () => Promise.resolve({ plan, faults: [] }),
  };
}

/** For a process without calls. */
export function gatewayModel(llm: LanguageModel | undefined): LanguageModelSource {
  return {
    languageModelOf: () => Promise.resolve(llm),
    modelsOf: () => Promise.resolve({ llm }),
  };
}
