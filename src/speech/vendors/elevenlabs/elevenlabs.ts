// ElevenLabs text to speech over its multi-context websocket, µ-law at 8 kHz. One connection has one voice, model and
// format, and serves up to four utterances of any calls. Source: ElevenLabs API reference (November 2026).

import type { TtsProviderSettings } from '../../../model/speech-services/schemas/tts.ts';
import { voiceId } from '../../../model/speech-services/voice-id.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { ContextConnection } from '../../tts/streaming/context-connection.ts';
import { VoicePools } from '../../tts/streaming/voice-pools.ts';
import type { TextToSpeech } from '../../tts/tts.ts';
import { elevenLabsContexts } from './elevenlabs-contexts.ts';
import { QuotaProbe } from './quota-probe.ts';

type Settings = TtsProviderSettings<'elevenlabs'>;

const service = 'elevenlabs';
const vendor = {
  /** Seconds until the service closes an idle socket: the longest that it allows. */
  inactivitySeconds: 180,
  idleMsMax: 175_000,
  /** No limit is documented. Load balancers of services cut connections after an hour. */
  ageMsMax: 3_000_000,
  readyMsMax: 2_000,
  /** Slowest speed; the service refuses speeds outside its range. */
  speedMin: 0.7,
  speedMax: 1.2,
  /** Models that accept a language. Others answer it with an error. */
  languageModels: /flash_v2_5|turbo_v2_5|_v3/,
};

/** Creates the synthesiser of one account and settings. Its calls share connections. */
export function createElevenLabs(settings: Settings, means: ServiceMeans): TextToSpeech {
  const { api_key: apiKey, model } = settings;
  const baseUrl = settings.base_url.replace(/\/+$/, '');
  const probe = new QuotaProbe({ baseUrl, apiKey, model, voice: voiceId(settings.voice), means });
  const protocol = elevenLabsContexts(voiceSettings(settings), () => probe.ask());
  const pools = new VoicePools<ContextConnection>({
    service,
    model,
    format: 'ulaw8',
    means,
    idleMsMax: vendor.idleMsMax,
    ageMsMax: vendor.ageMsMax,
    urlOf: (voice) => socketUrl(settings, baseUrl, voice),
    voiceOf: (voice) => voiceId(voice ?? settings.voice),
    connect: (url, listener) =>
      new ContextConnection({
        clock: means.clock,
        protocol,
        listener,
        socket: {
          job: 'tts',
          service,
          url,
          headers: { 'xi-api-key': apiKey },
          secrets: [apiKey],
          egress: means.egress,
          warm: means.warm,
          readyMsMax: vendor.readyMsMax,
        },
      }),
  });
  return pools.textToSpeech(() => probe.close());
}

function socketUrl(settings: Settings, baseUrl: string, voice: string): string {
  const path = `/v1/text-to-speech/${encodeURIComponent(voice)}/multi-stream-input`;
  const url = new URL(`${baseUrl.replace(/^http/, 'ws')}${path}`);
  const { model, language } = settings;
  url.search = new URLSearchParams({
    model_id: model,
    output_format: 'ulaw_8000',
    auto_mode: 'true',
    sync_alignment: 'true',
    inactivity_timeout: String(vendor.inactivitySeconds),
    apply_text_normalization: 'auto',
    ...(language !== undefined && vendor.languageModels.test(model) && { language_code: language }),
  }).toString();
  return url.href;
}

function voiceSettings(settings: Settings) {
  return {
    stability: settings.stability,
    similarity_boost: settings.similarity_boost,
    style: settings.style,
    use_speaker_boost: settings.use_speaker_boost,
    speed: Math.min(vendor.speedMax, Math.max(vendor.speedMin, settings.speed)),
  };
}
