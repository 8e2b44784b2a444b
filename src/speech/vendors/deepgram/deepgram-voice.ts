// Deepgram Aura text to speech over its websocket, µ-law at 8 kHz. A connection has one voice and one utterance at a
// time. Source: Deepgram API reference, v1/speak (November 2026).

import type { TtsProviderSettings } from '../../../model/speech-services/schemas/tts.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { VoicePools } from '../../tts/streaming/voice-pools.ts';
import type { TextToSpeech } from '../../tts/tts.ts';
import { AuraConnection } from './aura-connection.ts';

const service = 'deepgram';
const vendor = {
  host: 'https://api.deepgram.com',
  /** A session ends after an hour. */
  ageMsMax: 3_000_000,
  /** Not documented; shorter than the idle timeouts of load balancers. */
  idleMsMax: 290_000,
  readyMsMax: 2_000,
};

/** Creates the synthesiser of one account and settings. Its calls share connections. */
export function createDeepgramVoice(
  settings: TtsProviderSettings<'deepgram'>,
  means: ServiceMeans,
): TextToSpeech {
  const { api_key: apiKey, voice: own, speed } = settings;
  const baseUrl = (settings.base_url ?? vendor.host).replace(/\/+$/, '').replace(/^http/, 'ws');
  const pools = new VoicePools<AuraConnection>({
    service,
    model: own.startsWith('aura-2') ? 'aura-2' : 'aura-1',
    format: 'ulaw8',
    means,
    idleMsMax: vendor.idleMsMax,
    ageMsMax: vendor.ageMsMax,
    voiceOf: (voice) => voice ?? own,
    urlOf: (voice) => {
      const query = new URLSearchParams({
        model: voice,
        encoding: 'mulaw',
        sample_rate: '8000',
        container: 'none',
        ...(speed !== undefined && { speed: String(speed) }),
      });
      return `${baseUrl}/v1/speak?${query}`;
    },
    connect: (url, listener) =>
      new AuraConnection({
        clock: means.clock,
        listener,
        socket: {
          job: 'tts',
          service,
          url,
          headers: { authorization: `Token ${apiKey}` },
          secrets: [apiKey],
          egress: means.egress,
          warm: means.warm,
          readyMsMax: vendor.readyMsMax,
        },
      }),
  });
  return pools.textToSpeech();
}
