// Recognisers that are described as data, by the user or by a preset.

import type {
  SttPresetSettings,
  WebsocketSttSettings,
} from '../../../model/speech-services/schemas/described-stt.ts';
import type {
  DescriptionValues,
  RecognizerDescription,
} from '../../../model/speech-services/schemas/description.ts';
import { secretsOf } from '../../service/description/message-template.ts';
import { ServiceHttp } from '../../service/service-http.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { vocabulary } from '../streaming/expected-vocabulary.ts';
import type { SpeechToText } from '../stt.ts';
import { DescribedRecognizer } from './described-recognizer.ts';
import { hasInterim } from './described-results.ts';
import { sttPresets } from './stt-presets.ts';

const KEYTERMS_MAX = 100;

export function createWebsocketStt(
  settings: WebsocketSttSettings,
  means: ServiceMeans,
): SpeechToText {
  return create(settings, settings.description, means);
}

export function createSttPreset(settings: SttPresetSettings, means: ServiceMeans): SpeechToText {
  return create(settings, sttPresets[settings.provider], means);
}

function create(
  settings: SttPresetSettings | WebsocketSttSettings,
  description: RecognizerDescription,
  means: ServiceMeans,
): SpeechToText {
  const { provider: service, model, base_url: baseUrl, api_key: key } = settings;
  const secret = 'api_secret' in settings ? settings.api_secret : undefined;
  const language = 'language' in settings ? settings.language : undefined;
  const own = 'keyterms' in settings ? (settings.keyterms ?? []) : [];
  const region = 'region' in settings ? settings.region : undefined;
  const http =
    description.session &&
    new ServiceHttp({
      job: 'stt',
      service,
      means,
      secrets: secretsOf({ key, secret }),
      // The socket counts its faults.
      isCounted: false,
    });
  return {
    name: service,
    model,
    capabilities: {
      interimWords: hasInterim(description),
      finalMsP99: description.final_ms_p99,
      finalize: description.finalize === undefined ? 'by-silence' : 'answered',
      ...(description.session_ms_max !== undefined && { sessionMsMax: description.session_ms_max }),
    },
    open(expectation, listener) {
      const { count_max: countMax = KEYTERMS_MAX, characters_max: charactersMax } =
        description.terms ?? {};
      const terms = vocabulary(own, expectation, countMax, charactersMax);
      const values: DescriptionValues = {
        key,
        secret,
        model,
        language,
        region,
        // Services detect the language if it is not given.
        known_language: ['auto', 'multi', 'unknown'].includes(language ?? 'auto')
          ? undefined
          : language,
        terms: terms.length === 0 ? undefined : terms,
        has_terms: terms.length === 0 ? undefined : true,
        audio: undefined,
      };
      const secrets = secretsOf(values);
      const of = { means, service, model, baseUrl, secrets, description, values, listener, http };
      return new DescribedRecognizer(of);
    },
    prepare: () => means.warm.prepare(baseUrl.replace(/^http/, 'ws')),
    close: async () => http?.close(),
  };
}
