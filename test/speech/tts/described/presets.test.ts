// Every preset of a voice against its service's own messages, which the fake has from the vendor's reference.

import {
  type TtsPreset,
  ttsPresetServices,
} from '../../../../src/model/speech-services/schemas/described-tts.ts';
import { createTtsService } from '../../../../src/speech/vendors/tts-registry.ts';
import { startVoiceServer } from '../../../fakes/described/tts-servers.ts';
import { streamingContract } from '../streaming-contract.ts';

const WITHOUT_WORDS = new Set<TtsPreset>(['sarvam', 'xai']);

for (const preset of Object.keys(ttsPresetServices) as TtsPreset[]) {
  streamingContract({
    service: preset,
    start: (options) => startVoiceServer(preset, options),
    create: ({ url, key, means }) => {
      const settings = ttsPresetServices[preset].parse({
        provider: preset,
        api_key: key,
        base_url: url.replace(/^http/, 'ws'),
      });
      return createTtsService(settings, means);
    },
    hasWords: !WITHOUT_WORDS.has(preset),
    connectionsMax: 90,
  });
}
