// The registry of recognisers by the names of settings. The settings are values: config and stored keys are read
// elsewhere.

import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import { openPocketSphinx } from './pocketsphinx/pocketsphinx.ts';
import type { SpeechToText } from './stt.ts';

export interface SpeechToTextSettings {
  service: 'pocketsphinx';
  /** Threads. */
  workers?: number;
}

/** Undefined if the service is not installed: callers use the keypad then. */
export function openSpeechToText(
  settings: SpeechToTextSettings,
  means: { clock: Clock; log: Log },
): Promise<SpeechToText | undefined> {
  return open[settings.service]({ ...settings, ...means });
}

const open = { pocketsphinx: openPocketSphinx };
