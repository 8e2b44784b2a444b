// The services for recognition, language model and synthesis, by job and name, with the settings of each.

import { llmServices } from './schemas/llm.ts';
import { sttServices } from './schemas/stt.ts';
import { ttsServices } from './schemas/tts.ts';

/** Every service of this version: job, name, settings. */
export const services = { llm: llmServices, stt: sttServices, tts: ttsServices } as const;

/** The service of a gateway without configured ones; null for a job that it cannot do. */
export interface SpeechServiceNames {
  llm: keyof typeof services.llm;
  stt: keyof typeof services.stt | null;
  tts: keyof typeof services.tts;
}
