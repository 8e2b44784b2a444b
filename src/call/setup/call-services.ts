// Speech and language services that all calls of a process share.

import type { CallAudioOptions } from '../../pipeline/call-audio-options.ts';
import type { LanguageModel } from '../../speech/llm/llm.ts';

export interface CallServices
  extends Pick<CallAudioOptions, 'mediaClock' | 'vad' | 'stt' | 'tts' | 'voice'> {
  /** Undefined: the scripted policy leads the conversation. */
  llm: LanguageModel | undefined;
}
