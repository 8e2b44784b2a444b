// Voices behind a websocket that are described as data, by the user or by a preset.

import type {
  TtsPresetSettings,
  WebsocketTtsSettings,
} from '../../../model/speech-services/schemas/described-tts.ts';
import type {
  DescriptionValues,
  VoiceDescription,
} from '../../../model/speech-services/schemas/description.ts';
import { parseJson } from '../../../std/json.ts';
import {
  addressOf,
  headersOf,
  meetsConditions,
  messageText,
  secretsOf,
} from '../../service/description/message-template.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { VoicePools } from '../streaming/voice-pools.ts';
import type { TextToSpeech } from '../tts.ts';
import { DescribedConnection } from './described-connection.ts';
import { ttsPresets } from './tts-presets.ts';

const READY_MS_MAX = 2_000;

export function createWebsocketTts(
  settings: WebsocketTtsSettings,
  means: ServiceMeans,
): TextToSpeech {
  return create(settings, settings.description, means);
}

export function createTtsPreset(settings: TtsPresetSettings, means: ServiceMeans): TextToSpeech {
  return create(settings, ttsPresets[settings.provider], means);
}

function create(
  settings: WebsocketTtsSettings | TtsPresetSettings,
  description: VoiceDescription,
  means: ServiceMeans,
): TextToSpeech {
  const { provider: service, model, base_url: baseUrl, api_key: key } = settings;
  const { closes, ready, keepalive } = description;
  const valuesOf = (voice: string): DescriptionValues => ({
    ...Object.fromEntries(OPTIONS.map((name) => [name, undefined])),
    ...settings,

    description: undefined,
    key,
    voice,
    secret: 'api_secret' in settings ? settings.api_secret : undefined,
  });
  // The voice is a part of the address or of the first message, so that a connection has a single voice.
  const pools = new VoicePools<DescribedConnection>({
    service,
    model,
    means,
    format: description.format,
    idleMsMax: description.idle_ms_max,
    ageMsMax: description.age_ms_max,
    voiceOf: (voice) => voice ?? settings.voice,
    urlOf: (voice) => {
      const base = baseUrl.replace(/^http/, 'ws');
      // The fragment only distinguishes pools and is not sent.
      return `${addressOf(base, description, valuesOf(voice))}#${encodeURIComponent(voice)}`;
    },
    connect: (url, listener) => {
      const values = valuesOf(decodeURIComponent(url.slice(url.indexOf('#') + 1)));
      return new DescribedConnection({
        clock: means.clock,
        description,
        values,
        listener,
        socket: {
          job: 'tts',
          service,
          egress: means.egress,
          warm: means.warm,
          url: url.slice(0, url.indexOf('#')),
          headers: headersOf(description.headers, values),
          secrets: secretsOf(values),
          readyMsMax: READY_MS_MAX,
          opening: description.open.map((each) => messageText(each, values)),
          ...(ready !== undefined && {
            isReadyMessage: (text: string) => meetsConditions(parseJson(text), ready),
          }),
          ...(keepalive !== undefined && {
            keepalive: {
              afterMs: keepalive.after_ms,
              message: messageText(keepalive.message, values),
            },
          }),
          kindOfClose: (code) => (Object.hasOwn(closes, code) ? closes[code] : undefined),
        },
      });
    },
  });
  return pools.textToSpeech();
}

/** Optional values, whose fields are left out of the messages if they are not set. */
const OPTIONS = ['language', 'speed', 'delivery_mode', 'voice', 'key'];
