// Registry of recognisers by the provider in settings. Receives settings as values; config and stored keys are read
// elsewhere.

import type { Log } from '../../log.ts';
import type { SttProviderSettings, sttServices } from '../../model/speech-services/schemas/stt.ts';
import type { Clock } from '../../std/clock.ts';
import { warnOfRetirement } from '../service/retirement-warning.ts';
import type { ServiceMeans } from '../service/service-means.ts';
import { createSttPreset, createWebsocketStt } from '../stt/described/described-stt.ts';
import {
  createHuggingFaceStt,
  createOpenAiCompatibleStt,
  createOpenAiStt,
  createSpeachesStt,
  createWhisperCpp,
} from '../stt/openai-transcription/openai-transcription.ts';
import { openPocketSphinx } from '../stt/pocketsphinx/pocketsphinx.ts';
import type { SpeechToText } from '../stt/stt.ts';
import { createAssemblyAi } from './assemblyai/assemblyai.ts';
import { createAzureStt } from './azure/azure-stt.ts';
import { createDeepgram } from './deepgram/deepgram.ts';
import { createVosk } from './vosk/vosk.ts';
import { createWyomingStt } from './wyoming/wyoming-stt.ts';

export interface SpeechToTextSettings {
  service: 'pocketsphinx';
  /** Number of threads. */
  workers?: number;
}

/** Opens the embedded recogniser. Undefined if it is not installed: callers use the keypad then. */
export function openSpeechToText(
  settings: SpeechToTextSettings,
  means: { clock: Clock; log: Log },
): Promise<SpeechToText | undefined> {
  return open[settings.service]({ ...settings, ...means });
}

const open = { pocketsphinx: openPocketSphinx };

/** Creates a recogniser that uses a service. Never throws: failures appear when it is used. */
export function createSttService<P extends SttProvider>(
  settings: SttProviderSettings<P> & { provider: P },
  means: ServiceMeans,
): SpeechToText {
  warnOfRetirement(settings, means);
  return create[settings.provider](settings, means);
}

export type SttProvider = Exclude<keyof typeof sttServices, 'pocketsphinx'>;

const create: {
  [P in SttProvider]: (settings: SttProviderSettings<P>, means: ServiceMeans) => SpeechToText;
} = {
  assemblyai: createAssemblyAi,
  azure_speech: createAzureStt,
  cartesia: createSttPreset,
  deepgram: createDeepgram,
  elevenlabs: createSttPreset,
  gladia: createSttPreset,
  groq: createOpenAiStt,
  huggingface: createHuggingFaceStt,
  jambonz_stt: createSttPreset,
  openai: createOpenAiStt,
  openai_compatible: createOpenAiCompatibleStt,
  sarvam: createSttPreset,
  smallest: createSttPreset,
  soniox: createSttPreset,
  speaches: createSpeachesStt,
  speechmatics: createSttPreset,
  vapi_transcriber: createSttPreset,
  vosk: createVosk,
  websocket_stt: createWebsocketStt,
  whisper_cpp: createWhisperCpp,
  wyoming: createWyomingStt,
  xai: createSttPreset,
};
