// Services whose vendor's file has a description, by job: recognisers, voices behind websockets, voices by requests.

import type {
  RecognizerDescription,
  RequestVoiceDescription,
  VoiceDescription,
} from '../../../src/model/speech-services/description.ts';
import type { DescribedStt } from '../../../src/speech/stt/described/described-stt.ts';
import type { RequestVoice } from '../../../src/speech/tts/described/described-request.ts';
import type { DescribedVoice } from '../../../src/speech/tts/described/described-voice.ts';
import type { Vendor } from '../../../src/speech/vendors/vendor.ts';
import { vendors } from '../../../src/speech/vendors/vendors.ts';

type Vendors = typeof vendors;
type Having<Client> = {
  [P in keyof Vendors]: Vendors[P] extends Client ? P : never;
}[keyof Vendors];
export type SttPreset = Having<{ stt: DescribedStt }>;
export type TtsPreset = Having<{ tts: DescribedVoice }>;
export type RequestTtsPreset = Having<{ tts: RequestVoice }>;

const entries: [string, Vendor][] = Object.entries(vendors);
const descriptions = (job: 'stt' | 'tts'): [string, object][] =>
  entries.flatMap(([name, { [job]: client }]) =>
    client !== undefined && 'description' in client && typeof client.description === 'object'
      ? [[name, client.description ?? {}]]
      : [],
  );

export const sttPresets = Object.fromEntries(descriptions('stt')) as Record<
  SttPreset,
  RecognizerDescription
>;
export const ttsPresets = Object.fromEntries(
  descriptions('tts').filter(([, description]) => 'format' in description),
) as Record<TtsPreset, VoiceDescription>;
export const requestTtsPresets = Object.fromEntries(
  descriptions('tts').filter(([, description]) => !('format' in description)),
) as Record<RequestTtsPreset, RequestVoiceDescription>;
