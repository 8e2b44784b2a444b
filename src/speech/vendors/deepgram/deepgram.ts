// Deepgram: the vendor's entry, and its recogniser with the models of the first interface (nova) and of the second
// (flux), which does its own endpointing. One connection per call; never reconnects.
// Source: Deepgram API reference, "Live audio" (v1/listen) and "Turn-based audio" (v2/listen).

import type { ExpectedInput } from '../../../model/expected-input.ts';
import type { SttServiceSettings } from '../../../model/speech-services/services.ts';
import { isObject } from '../../../std/json.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { vocabulary } from '../../stt/streaming/expected-vocabulary.ts';
import { serviceUrl } from '../../stt/streaming/recognizer-socket.ts';
import { withTurns } from '../../stt/streaming/service-turns.ts';
import type { SpeechToText, SttCapabilities } from '../../stt/stt.ts';
import { at, listIn, type Vendor, voiceText } from '../vendor.ts';
import { createDeepgramVoice } from './deepgram-voice.ts';
import { FluxRecognizer, type FluxThresholds } from './flux.ts';
import { NovaRecognizer } from './nova.ts';

export const deepgram = {
  stt: createDeepgram,
  tts: createDeepgramVoice,
  keyCheck: {
    url: at('https://api.deepgram.com', '/v1/projects'),
    headers: (key) => ({ authorization: `Token ${key}` }),
  },
  voices: {
    url: at('https://api.deepgram.com', '/v1/models'),
    headers: (key) => ({ authorization: `Token ${key}` }),
    read: listIn('tts'),
    voice: (item) => {
      const metadata = isObject(item['metadata']) ? item['metadata'] : {};
      const tags = [metadata['tags']].flat();
      return {
        voice_id: voiceText(item['canonical_name']),
        name: voiceText(item['name']),
        accent: voiceText(metadata['accent']),
        gender: tags.includes('feminine') ? 'female' : tags.includes('masculine') ? 'male' : null,
        language: voiceText([item['languages']].flat()[0]),
        preview_url: voiceText(metadata['sample']),
      };
    },
  },
} satisfies Vendor;

/** Properties of the service, which may change without notice. */
const deepgramSettings = {
  url: 'wss://api.deepgram.com',
  novaPath: '/v1/listen',
  fluxPath: '/v2/listen',
  fluxModels: /^flux-/,
  /** Models that accept `keyterm`. Earlier ones accept `keywords`. */
  keytermModels: /^nova-3/,
  multilingual: 'flux-general-multi',
  keytermsMax: 100,
  endpointingMs: 300,
  eotThreshold: 0.7,
  eotTimeoutMs: 3_000,
  /** Callers pause between groups of digits. */
  digits: { eotThreshold: 0.85, eotTimeoutMs: 5_000 },
};

const novaCapabilities: SttCapabilities = {
  interimWords: true,
  finalMsP99: 350,
  finalize: 'answered',
};
const fluxCapabilities: SttCapabilities = { ...novaCapabilities, ownTurns: 'eager' };
const multilingualCapabilities: SttCapabilities = { ...fluxCapabilities, setsLanguage: true };

export function createDeepgram(
  settings: SttServiceSettings<'deepgram'>,
  means: ServiceMeans,
): SpeechToText {
  const isFlux = deepgramSettings.fluxModels.test(settings.model);
  const isMultilingual = settings.model === deepgramSettings.multilingual;
  const flux = isMultilingual ? multilingualCapabilities : fluxCapabilities;
  const path = isFlux ? deepgramSettings.fluxPath : deepgramSettings.novaPath;
  const url = serviceUrl(settings.base_url ?? deepgramSettings.url, path);
  const connection = { means, model: settings.model, key: settings.api_key };
  return {
    name: 'deepgram',
    model: settings.model,
    capabilities: isFlux ? withTurns(flux, settings.turns) : novaCapabilities,
    open(expectation, listener) {
      const keyterms = (next: ExpectedInput) =>
        vocabulary(settings.keyterms ?? [], next, deepgramSettings.keytermsMax);
      if (!isFlux) {
        const query = novaQuery(settings, keyterms(expectation));
        return new NovaRecognizer({ ...connection, url: `${url}?${query}`, listener });
      }
      const wanted = (next: ExpectedInput) => ({
        keyterms: keyterms(next),
        thresholds: fluxThresholds(settings, next),
      });
      return new FluxRecognizer({
        ...connection,
        url: `${url}?${fluxQuery(settings, wanted(expectation))}`,
        listener,
        expectation,
        wanted,
        language: isMultilingual ? settings.language : undefined,
      });
    },
    prepare: () => means.warm.prepare(url),
    close: () => Promise.resolve(),
  };
}

function novaQuery(
  settings: SttServiceSettings<'deepgram'>,
  keyterms: readonly string[],
): URLSearchParams {
  const query = new URLSearchParams({
    model: settings.model,
    encoding: 'mulaw',
    sample_rate: '8000',
    channels: '1',
    interim_results: 'true',
    punctuate: 'true',
    smart_format: 'false',
    numerals: 'true',
    endpointing: String(settings.endpointing_ms ?? deepgramSettings.endpointingMs),
    vad_events: 'false',
    mip_opt_out: String(settings.mip_opt_out ?? false),
    profanity_filter: String(settings.profanity_filter ?? false),
    language: settings.language,
  });
  const name = deepgramSettings.keytermModels.test(settings.model) ? 'keyterm' : 'keywords';
  for (const keyterm of keyterms) query.append(name, keyterm);
  addOthers(query, settings);
  return query;
}

function fluxThresholds(
  settings: SttServiceSettings<'deepgram'>,
  next: ExpectedInput,
): FluxThresholds {
  const { eotThreshold, eotTimeoutMs, digits } = deepgramSettings;
  const threshold = settings.eot_threshold ?? eotThreshold;
  const timeoutMs = settings.eot_timeout_ms ?? eotTimeoutMs;
  if (!next.slots.includes('digits')) {
    return { eot_threshold: threshold, eot_timeout_ms: timeoutMs };
  }
  return {
    eot_threshold: Math.max(threshold, digits.eotThreshold),
    eot_timeout_ms: Math.max(timeoutMs, digits.eotTimeoutMs),
  };
}

function fluxQuery(
  settings: SttServiceSettings<'deepgram'>,
  wanted: { keyterms: readonly string[]; thresholds: FluxThresholds },
): URLSearchParams {
  const query = new URLSearchParams({
    model: settings.model,
    encoding: 'mulaw',
    sample_rate: '8000',
    eot_threshold: String(wanted.thresholds.eot_threshold),
    eot_timeout_ms: String(wanted.thresholds.eot_timeout_ms),
  });
  const { eager_eot_threshold: eager, language, model } = settings;
  if (eager !== undefined) query.set('eager_eot_threshold', String(eager));
  if (model === deepgramSettings.multilingual && language !== 'multi') {
    query.append('language_hint', language);
  }
  if (settings.profanity_filter === true) query.set('profanity_filter', 'true');
  if (settings.mip_opt_out === true) query.set('mip_opt_out', 'true');
  for (const keyterm of wanted.keyterms) query.append('keyterm', keyterm);
  addOthers(query, settings);
  return query;
}

function addOthers(query: URLSearchParams, settings: SttServiceSettings<'deepgram'>): void {
  if (settings.tag !== undefined) query.append('tag', settings.tag);
  for (const [name, value] of Object.entries(settings.extra_query ?? {})) query.set(name, value);
}
