// ElevenLabs: text to speech over its multi-context websocket, µ-law at 8 kHz. One connection has one voice, model and
// format, and serves up to four utterances of any calls. With a used-up account the websocket accepts text but answers
// nothing; the HTTP API reports the reason. Source: ElevenLabs API reference (November 2026).

import type { TtsServiceSettings } from '../../../model/speech-services/services.ts';
import { elevenLabsVoiceId } from '../../../model/speech-services/vendors/elevenlabs.ts';
import { isObject } from '../../../std/json.ts';
import { ServiceFault } from '../../service/service-fault.ts';
import { ServiceHttp } from '../../service/service-http.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { describedStt } from '../../stt/described/described-stt.ts';
import { ContextConnection } from '../../tts/streaming/context-connection.ts';
import { VoicePools } from '../../tts/streaming/voice-pools.ts';
import type { TextToSpeech } from '../../tts/tts.ts';
import { at, header, listIn, type Vendor, voiceText, voiceTexts } from '../vendor.ts';
import { elevenLabsContexts, elevenLabsKind } from './elevenlabs-contexts.ts';

const scribeFaults = {
  auth_error: 'auth',
  quota_exceeded: 'quota',
  rate_limited: 'rate',
  resource_exhausted: 'rate',
  queue_overflow: 'rate',
  session_time_limit_exceeded: 'session',
  insufficient_audio_activity: 'session',
  transcriber_error: 'overload',
  error: 'overload',
  input_error: 'request',
  invalid_request: 'request',
  chunk_size_exceeded: 'request',
  unaccepted_terms: 'forbidden',
} as const;

/** ElevenLabs Scribe, manual commits. A committed text arrives in two forms: the one with times is used. */
const scribe = {
  path: '/v1/speech-to-text/realtime',
  query: {
    model_id: '{model}',
    audio_format: 'ulaw_8000',
    commit_strategy: 'manual',
    include_timestamps: 'true',
    language_code: '{known_language}',
    keyterms: '{terms}',
  },
  headers: { 'xi-api-key': '{key}' },
  ready: [{ path: 'message_type', equals: 'session_started' }],
  audio: {
    format: 'ulaw8',
    packet_ms: 100,
    message: {
      message_type: 'input_audio_chunk',
      audio_base_64: '{audio}',
      commit: false,
      sample_rate: 8_000,
    },
  },
  terms: { count_max: 50, characters_max: 20 },
  results: [
    {
      when: [{ path: 'message_type', equals: 'committed_transcript_with_timestamps' }],
      is: 'final',
      text: 'text',
      language: 'language_code',
      words: {
        list: 'words',
        when: [{ path: 'type', equals: 'word' }],
        word: 'text',
        start: 'start',
        end: 'end',
      },
    },
    { when: [{ path: 'message_type', equals: 'partial_transcript' }], is: 'partial', text: 'text' },
  ],
  finalize: {
    message: {
      message_type: 'input_audio_chunk',
      audio_base_64: '',
      commit: true,
      sample_rate: 8_000,
    },
    // The second form: too little audio since the last commit to contain words.
    answer: [
      {
        path: 'message_type',
        in: ['committed_transcript_with_timestamps', 'commit_throttled'],
      },
    ],
  },
  errors: [
    {
      when: [{ path: 'message_type', in: Object.keys(scribeFaults) }],
      detail: 'error',
      code: 'message_type',
      kinds: scribeFaults,
    },
  ],
  // The service closes idle sessions with this code.
  closes: { '1000': 'session' },
  final_ms_p99: 410,
};

export const elevenlabs = {
  stt: describedStt(scribe),
  tts: createElevenLabs,
  keyCheck: {
    url: at('https://api.elevenlabs.io', '/v1/models'),
    headers: header('xi-api-key'),
    harmlessWords: /missing the permission/i,
  },
  voices: {
    url: at('https://api.elevenlabs.io', '/v1/voices'),
    headers: header('xi-api-key'),
    read: listIn('voices'),
    voice: (item) => {
      const labels = isObject(item['labels']) ? item['labels'] : {};
      const { accent, gender, language } = labels as Record<string, string>;
      return {
        ...voiceTexts({ ...item, accent, gender, language }),
        voice_id: voiceText(item['voice_id']),
      };
    },
    one: (fields, id) => at('https://api.elevenlabs.io', `/v1/voices/${id}`)(fields),
    idOf: elevenLabsVoiceId,
  },
} satisfies Vendor;

type Settings = TtsServiceSettings<'elevenlabs'>;

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
function createElevenLabs(settings: Settings, means: ServiceMeans): TextToSpeech {
  const { api_key: apiKey, model } = settings;
  const baseUrl = settings.base_url.replace(/\/+$/, '');
  const probe = new QuotaProbe({
    baseUrl,
    apiKey,
    model,
    voice: elevenLabsVoiceId(settings.voice),
    means,
  });
  const protocol = elevenLabsContexts(voiceSettings(settings), () => probe.ask());
  const pools = new VoicePools<ContextConnection>({
    service,
    model,
    format: 'ulaw8',
    means,
    idleMsMax: vendor.idleMsMax,
    ageMsMax: vendor.ageMsMax,
    urlOf: (voice) => socketUrl(settings, baseUrl, voice),
    voiceOf: (voice) => elevenLabsVoiceId(voice ?? settings.voice),
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

interface QuotaProbeOptions {
  baseUrl: string;
  apiKey: string;
  model: string;
  voice: string;
  means: ServiceMeans;
}

const PROBE_MS_MAX = 1_000;
const PAUSE_MS = 60_000;
/** Text of the request. Its few characters are billed if the account is in order. */
const TEXT = 'Hi.';
/** Largest answer: more than the text's audio. */
const ANSWER_BYTES_MAX = 65_536;

/** Finds out why the websocket is silent. One request at a time, and one a minute. */
class QuotaProbe {
  readonly #options: QuotaProbeOptions;
  readonly #http: ServiceHttp;
  readonly #abort = new AbortController();
  #answer: Promise<ServiceFault | undefined> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(options: QuotaProbeOptions) {
    this.#options = options;
    const { means, apiKey } = options;
    this.#http = new ServiceHttp({ job: 'tts', service: 'elevenlabs', secrets: [apiKey], means });
  }

  /** Returns a permanent fault or a limit. Undefined if the service would speak or gives no reason. Never rejects. */
  ask(): Promise<ServiceFault | undefined> {
    const now = this.#options.means.clock.monotonicMs();
    if (this.#answer === undefined || now - this.#askedAt >= PAUSE_MS) {
      this.#askedAt = now;
      this.#answer = this.#request();
    }
    return this.#answer;
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#http.close();
  }

  async #request(): Promise<ServiceFault | undefined> {
    const { baseUrl, apiKey, model, voice } = this.#options;
    try {
      const answer = await this.#http.request({
        method: 'POST',
        url: `${baseUrl}/v1/text-to-speech/${encodeURIComponent(voice)}/stream?output_format=ulaw_8000`,
        headers: { 'xi-api-key': apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ text: TEXT, model_id: model }),
        signal: this.#abort.signal,
        answerMsMax: PROBE_MS_MAX,
      });
      await answer.bytes(ANSWER_BYTES_MAX);
      return undefined;
    } catch (error) {
      return error instanceof ServiceFault ? this.#classified(error) : undefined;
    }
  }

  #classified(fault: ServiceFault): ServiceFault | undefined {
    // The service answers 401 for a used-up account.
    const kind = elevenLabsKind(fault.detail) ?? fault.kind;
    if (kind === fault.kind) return fault.isPermanent || kind === 'rate' ? fault : undefined;
    return this.#http.fault(kind, fault.detail);
  }
}
