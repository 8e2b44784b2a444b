// AssemblyAI's universal streaming as a recogniser. The service detects the end of a turn (endpointing), and the
// gateway may force it. Billed from Begin to Terminate.
// Source: AssemblyAI API reference, "Streaming API v3".

import type { AssemblyAiSettings } from '../../../model/speech-services/schemas/cloud-stt.ts';
import type { FaultKind } from '../../service/service-fault.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { vocabulary } from '../../stt/streaming/expected-vocabulary.ts';
import { withTurns } from '../../stt/streaming/service-turns.ts';
import { serviceUrl } from '../../stt/streaming/service-url.ts';
import type { SpeechToText, SttCapabilities } from '../../stt/stt.ts';
import { AssemblyAiRecognizer } from './assemblyai-recognizer.ts';

/** Properties of the service, which may change without notice. */
const assemblyAiSettings = {
  url: 'wss://streaming.assemblyai.com',
  path: '/v3/ws',
  /** Models that send text without punctuation first, and on request a second message with formatted text. */
  formattingModels: /^universal-streaming/,
  englishModel: 'universal-streaming-english',
  /** Models that accept a list of languages. Their older parameter for a single language will be removed. */
  languageListModels: /^universal-3-\d/,
  /** Models that use the agent's words to recognise answers. */
  agentWordsModels: /^(u3|universal-3)/,
  keytermsMax: 100,
  sessionMsMax: 3 * 3_600_000,
};

const capabilities: SttCapabilities = {
  interimWords: true,
  finalMsP99: 420,
  finalize: 'answered',
  ownTurns: 'ends',
  sessionMsMax: assemblyAiSettings.sessionMsMax,
};

export function createAssemblyAi(settings: AssemblyAiSettings, means: ServiceMeans): SpeechToText {
  const url = serviceUrl(settings.base_url ?? assemblyAiSettings.url, assemblyAiSettings.path);
  const formats = assemblyAiSettings.formattingModels.test(settings.model);
  return {
    name: 'assemblyai',
    model: settings.model,
    capabilities: withTurns(
      settings.eager_end_of_turn_confidence === undefined
        ? capabilities
        : { ...capabilities, ownTurns: 'eager' },
      settings.turns,
    ),
    open(expectation, listener) {
      const keyterms = (next: typeof expectation) =>
        vocabulary(settings.keyterms ?? [], next, assemblyAiSettings.keytermsMax);
      const known = keyterms(expectation);
      return new AssemblyAiRecognizer({
        means,
        model: settings.model,
        key: settings.api_key,
        url: `${url}?${queryOf(settings, formats, known)}`,
        listener,
        keyterms,
        known,
        awaitsFormat: formats && settings.format_turns === true,
        takesAgentWords:
          settings.agent_context !== false &&
          assemblyAiSettings.agentWordsModels.test(settings.model),
        eagerConfidence: settings.eager_end_of_turn_confidence,
        kindOfClose,
      });
    },
    prepare: () => means.warm.prepare(url),
    close: () => Promise.resolve(),
  };
}

function queryOf(
  settings: AssemblyAiSettings,
  formats: boolean,
  keyterms: readonly string[],
): URLSearchParams {
  const query = new URLSearchParams({
    sample_rate: '8000',
    encoding: 'pcm_mulaw',
    speech_model: settings.model,
  });
  if (formats) query.set('format_turns', String(settings.format_turns ?? false));
  if (assemblyAiSettings.languageListModels.test(settings.model)) {
    query.set('language_codes', JSON.stringify([settings.language]));
  } else if (settings.model !== assemblyAiSettings.englishModel) {
    query.set('language_code', settings.language);
  }
  const turns = [
    'end_of_turn_confidence_threshold',
    'min_turn_silence',
    'max_turn_silence',
  ] as const;
  for (const name of turns) {
    const value = settings[name];
    if (value !== undefined) query.set(name, String(value));
  }
  if (keyterms.length > 0) query.set('keyterms_prompt', JSON.stringify(keyterms));
  for (const [name, value] of Object.entries(settings.extra_query ?? {})) query.set(name, value);
  return query;
}

const CLOSES: Record<number, FaultKind> = {
  1008: 'rate',
  3005: 'overload',
  3006: 'request',
  3007: 'protocol',
  3008: 'session',
  3009: 'rate',
  4000: 'request',
  4001: 'auth',
  4002: 'quota',
  4003: 'quota',
  4004: 'session',
  4008: 'session',
  4010: 'protocol',
  4029: 'rate',
  4030: 'network',
  4031: 'session',
  4032: 'protocol',
  4033: 'protocol',
  4034: 'protocol',
  4100: 'protocol',
  4101: 'request',
  4102: 'rate',
  // Another connection has taken the session over.
  4103: 'session',
  4104: 'request',
};

/** The service closes with 1008 also for a refused key and for an account without funds. */
export function kindOfClose(code: number, reason: string): FaultKind | undefined {
  if (code === 1008 && /insufficient (funds|account balance)/i.test(reason)) return 'quota';
  if (code === 1008 && /auth|api key|token/i.test(reason)) return 'auth';
  return CLOSES[code];
}
