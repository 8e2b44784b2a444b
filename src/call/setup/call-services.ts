// What the calls of a process share: the clock of their media, the model of their VAD, and the source of their speech
// services.

import type { CallAudioOptions } from '../../pipeline/call-audio-options.ts';
import type { LanguageModel } from '../../speech/llm/llm.ts';
import type { PlannedSpeech } from '../../speech/speech-plan.ts';

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

export interface CallServices extends Pick<CallAudioOptions, 'mediaClock' | 'vad'> {
  speech: SpeechSource;
}
