// The registry of synthesisers by the names of settings. The settings are values: config and stored keys are read
// elsewhere.

import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import { createFlite, type FliteVoice } from './flite/flite.ts';
import type { TextToSpeech } from './tts.ts';

export interface TextToSpeechSettings {
  service: 'flite';
  voice?: FliteVoice;
  /** Threads. */
  workers?: number;
}

/** Rejects with TTS_* if the service cannot start. */
export function openTextToSpeech(
  settings: TextToSpeechSettings,
  means: { clock: Clock; log: Log },
): Promise<TextToSpeech> {
  return create[settings.service]({ ...settings, ...means });
}

const create = { flite: createFlite };
