// Every preset of a voice against its service's own messages, which the fake has from the vendor's reference.

import { ttsServices } from '../../../../src/model/speech-services/services.ts';
import { createTtsService } from '../../../../src/speech/vendors/tts-registry.ts';
import { type TtsPreset, ttsPresets } from '../../../fakes/described/presets.ts';
import { startVoiceServer } from '../../../fakes/described/tts-servers.ts';
import { streamingContract } from '../streaming-contract.ts';

for (const preset of Object.keys(ttsPresets) as TtsPreset[]) {
  streamingContract({
    service: preset,
    start: (options) => startVoiceServer(preset, options),
    create: ({ url, key, means }) => {
      const settings = ttsServices[preset].parse({
        provider: preset,
        api_key: key,
        base_url: url.replace(/^http/, 'ws'),
      });
      return createTtsService(settings, means);
    },
    hasWords: ttsPresets[preset].words !== undefined,
    connectionsMax: 90,
  });
}
