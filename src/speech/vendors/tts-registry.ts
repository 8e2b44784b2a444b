// Registry of synthesisers by the provider in settings. Receives settings as values; config and stored keys are read
// elsewhere.

import type { Log } from '../../log.ts';
import type { TtsProvider, TtsServiceSettings } from '../../model/speech-services/services.ts';
import type { Clock } from '../../std/clock.ts';
import { warnOfRetirement } from '../service/retirement-warning.ts';
import type { ServiceMeans } from '../service/service-means.ts';
import { createFlite, type FliteVoice } from '../tts/flite/flite.ts';
import type { TextToSpeech } from '../tts/tts.ts';
import type { TtsVendors } from './vendor.ts';
import { vendors } from './vendors.ts';

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
  settings: TtsServiceSettings<P> & { provider: P },
  means: ServiceMeans,
): TextToSpeech {
  warnOfRetirement(settings, means);
  return synthesizers[settings.provider].tts(settings, means);
}

const synthesizers: TtsVendors = vendors;
