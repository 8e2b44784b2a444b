// Registry of recognisers by the provider in settings. Receives settings as values; config and stored keys are read
// elsewhere.

import type { Log } from '../../log.ts';
import type { SttProvider, SttServiceSettings } from '../../model/speech-services/services.ts';
import type { Clock } from '../../std/clock.ts';
import { warnOfRetirement } from '../service/retirement-warning.ts';
import type { ServiceMeans } from '../service/service-means.ts';
import { openPocketSphinx } from '../stt/pocketsphinx/pocketsphinx.ts';
import type { SpeechToText } from '../stt/stt.ts';
import type { SttVendors } from './vendor.ts';
import { vendors } from './vendors.ts';

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
  settings: SttServiceSettings<P> & { provider: P },
  means: ServiceMeans,
): SpeechToText {
  warnOfRetirement(settings, means);
  return recognizers[settings.provider].stt(settings, means);
}

const recognizers: SttVendors = vendors;
