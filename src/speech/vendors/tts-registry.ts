// Registry of synthesisers by the provider in settings. Receives settings as values; config and stored keys are read
// elsewhere.

import type { Log } from '../../log.ts';
import type { TtsProviderSettings, ttsServices } from '../../model/speech-services/schemas/tts.ts';
import type { Clock } from '../../std/clock.ts';
import { warnOfRetirement } from '../service/retirement-warning.ts';
import type { ServiceMeans } from '../service/service-means.ts';
import { createHttpTts, createRequestTtsPreset } from '../tts/described/described-request.ts';
import { createTtsPreset, createWebsocketTts } from '../tts/described/described-voice.ts';
import { createFlite, type FliteVoice } from '../tts/flite/flite.ts';
import {
  createOpenAiCompatibleTts,
  createOpenAiTts,
  createSpeachesTts,
} from '../tts/openai-speech/openai-speech.ts';
import type { TextToSpeech } from '../tts/tts.ts';
import { createAzureTts } from './azure/azure-voice.ts';
import { createCartesia } from './cartesia.ts';
import { createDeepgramVoice } from './deepgram/deepgram-voice.ts';
import { createElevenLabs } from './elevenlabs/elevenlabs.ts';
import { WyomingTts } from './wyoming/wyoming-voice.ts';

export interface TextToSpeechSettings {
  service: 'flite';
  voice?: FliteVoice;
  /** Number of threads. */
  workers?: number;
}

/** Opens the embedded synthesiser. Rejects with TTS_* if it cannot start. */
export function openTextToSpeech(
  settings: TextToSpeechSettings,
  means: { clock: Clock; log: Log },
): Promise<TextToSpeech> {
  return open[settings.service]({ ...settings, ...means });
}

const open = { flite: createFlite };

/** Creates a synthesiser that uses a service. Never throws: failures appear when it is used. */
export function createTtsService<P extends TtsProvider>(
  settings: TtsProviderSettings<P> & { provider: P },
  means: ServiceMeans,
): TextToSpeech {
  warnOfRetirement(settings, means);
  return create[settings.provider](settings, means);
}

export type TtsProvider = Exclude<keyof typeof ttsServices, 'flite'>;

const create: {
  [P in TtsProvider]: (settings: TtsProviderSettings<P>, means: ServiceMeans) => TextToSpeech;
} = {
  azure_speech: createAzureTts,
  camb: createRequestTtsPreset,
  cartesia: createCartesia,
  deepgram: createDeepgramVoice,
  elevenlabs: createElevenLabs,
  google: createRequestTtsPreset,
  http_tts: createHttpTts,
  inworld: createTtsPreset,
  lmnt: createTtsPreset,
  minimax: createRequestTtsPreset,
  openai: createOpenAiTts,
  openai_compatible: createOpenAiCompatibleTts,
  piper_http: createRequestTtsPreset,
  rime: createTtsPreset,
  sarvam: createTtsPreset,
  smallest: createTtsPreset,
  speaches: createSpeachesTts,
  speechmatics: createRequestTtsPreset,
  websocket_tts: createWebsocketTts,
  wyoming: (settings, means) => new WyomingTts(settings, means),
  xai: createTtsPreset,
};
