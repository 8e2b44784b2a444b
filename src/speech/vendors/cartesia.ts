// Cartesia: recognition (Ink, described), and text to speech (Sonic) over a websocket, µ-law at 8 kHz. A connection
// serves utterances of any voice, each in a context. Source: Cartesia API reference, version 2026-03-01.

import type { TtsServiceSettings } from '../../model/speech-services/services.ts';
import { isObject } from '../../std/json.ts';
import { faultKindOfStatus } from '../service/service-fault.ts';
import type { ServiceMeans } from '../service/service-means.ts';
import { describedStt } from '../stt/described/described-stt.ts';
import {
  type ContextAnswer,
  ContextConnection,
  type ContextMessages,
  type ContextProtocol,
  type ReportedFault,
} from '../tts/streaming/context-connection.ts';
import { VoicePools } from '../tts/streaming/voice-pools.ts';
import type { TextToSpeech, WordTiming } from '../tts/tts.ts';
import { at, header, listIn, type Vendor, voiceText, voiceTexts } from './vendor.ts';

/** Cartesia Ink, manual turns: texts are pieces with their own spaces. */
const ink = {
  path: '/stt/websocket',
  query: { model: '{model}', language: '{language}', encoding: 'pcm_mulaw', sample_rate: '8000' },
  headers: { 'x-api-key': '{key}', 'cartesia-version': '2026-03-01' },
  audio: { format: 'ulaw8', packet_ms: 60 },
  results: [
    {
      when: [
        { path: 'type', equals: 'transcript' },
        { path: 'is_final', equals: true },
      ],
      is: 'final',
      text: 'text',
      language: 'language',
      words: { list: 'words', word: 'word', start: 'start', end: 'end' },
    },
    { when: [{ path: 'type', equals: 'transcript' }], is: 'partial', text: 'text' },
  ],
  is_delta: true,
  finalize: { message: 'finalize', answer: [{ path: 'type', equals: 'flush_done' }] },
  errors: [
    {
      when: [{ path: 'type', equals: 'error' }],
      detail: 'message',
      code: 'error_code',
      kinds: { concurrency_limited: 'rate', quota_exceeded: 'quota', unauthorized: 'auth' },
    },
  ],
  close: 'close',
  closed: [{ path: 'type', equals: 'done' }],
  final_ms_p99: 810,
};

export const cartesia = {
  stt: describedStt(ink),
  tts: createCartesia,
  keyCheck: {
    url: at('https://api.cartesia.ai', '/voices?limit=1'),
    headers: header('x-api-key', { 'cartesia-version': '2026-03-01' }),
  },
  voices: {
    url: at('https://api.cartesia.ai', '/voices?limit=100'),
    headers: header('x-api-key', { 'cartesia-version': '2026-03-01' }),
    read: listIn('data'),
    voice: (item) => ({ ...voiceTexts(item), voice_id: voiceText(item['id']) }),
    one: (fields, id) => at('https://api.cartesia.ai', `/voices/${id}`)(fields),
  },
} satisfies Vendor;

type Settings = TtsServiceSettings<'cartesia'>;
type Message = Record<string, unknown>;

const service = 'cartesia';
const vendor = {
  host: 'https://api.cartesia.ai',
  /** In this version voices are objects; in newer ones only ids. */
  version: '2026-03-01',
  /** The service closes idle sockets after 5 min. */
  idleMsMax: 290_000,
  ageMsMax: 3_000_000,
  readyMsMax: 2_000,
  /** No limit of a socket is documented. All utterances end with a broken connection, so it carries few. */
  contextsMax: 4,
};

/** Creates the synthesiser of one account and settings. Its calls share connections. */
export function createCartesia(settings: Settings, means: ServiceMeans): TextToSpeech {
  const { api_key: apiKey, model } = settings;
  const baseUrl = (settings.base_url ?? vendor.host).replace(/\/+$/, '');
  const url = `${baseUrl.replace(/^http/, 'ws')}/tts/websocket`;
  const protocol = cartesiaContexts(settings);
  const pools = new VoicePools<ContextConnection>({
    service,
    model,
    format: 'ulaw8',
    means,
    idleMsMax: vendor.idleMsMax,
    ageMsMax: vendor.ageMsMax,
    urlOf: () => url,
    voiceOf: (voice) => voice ?? settings.voice,
    connect: (_url, listener) =>
      new ContextConnection({
        clock: means.clock,
        protocol,
        listener,
        socket: {
          job: 'tts',
          service,
          url,
          headers: { 'X-API-Key': apiKey, 'Cartesia-Version': vendor.version },
          secrets: [apiKey],
          egress: means.egress,
          warm: means.warm,
          readyMsMax: vendor.readyMsMax,
        },
      }),
  });
  return pools.textToSpeech();
}

function cartesiaContexts(settings: Settings): ContextProtocol {
  return {
    contextsMax: vendor.contextsMax,
    begin: (id, voice) => new CartesiaContext(fixedFields(settings, id, voice)),
    idOf: ({ context_id: id }) => (typeof id === 'string' ? id : undefined),
    faultOf,
  };
}

/** Fields that every message of a context repeats. A change closes the context. */
function fixedFields(settings: Settings, id: string, voice: string): Message {
  const { model, language, speed, volume, emotion, pronunciation_dict_id: dictionary } = settings;
  const generation = { speed, volume, emotion };
  const isPlain = Object.values(generation).every((value) => value === undefined);
  return {
    model_id: model,
    voice: { mode: 'id', id: voice },
    ...(language !== undefined && { language }),
    context_id: id,
    output_format: { container: 'raw', encoding: 'pcm_mulaw', sample_rate: 8_000 },
    add_timestamps: true,
    use_normalized_timestamps: false,
    // Pieces are whole clauses: waiting for more text has no benefit.
    max_buffer_delay_ms: 0,
    ...(!isPlain && { generation_config: generation }),
    ...(dictionary !== undefined && { pronunciation_dict_id: dictionary }),
  };
}

class CartesiaContext implements ContextMessages {
  readonly #fixed: Message;

  constructor(fixed: Message) {
    this.#fixed = fixed;
  }

  text(text: string): string[] {
    return [JSON.stringify({ ...this.#fixed, transcript: text, continue: true })];
  }

  /** No message: each piece is spoken at once. */
  flush(): string[] {
    return [];
  }

  end(): string[] {
    return [JSON.stringify({ ...this.#fixed, transcript: '', continue: false })];
  }

  cancel(): string[] {
    return [JSON.stringify({ context_id: this.#fixed['context_id'], cancel: true })];
  }

  read(message: Message): ContextAnswer {
    const { type, data } = message;
    if (type === 'done') return { isDone: true };
    if (type === 'timestamps') return { words: wordsIn(message['word_timestamps']) };
    if (type !== 'chunk' || typeof data !== 'string') return {};
    return { audio: Buffer.from(data, 'base64') };
  }
}

/** Word times in seconds from the beginning of the context. Markup tags are listed as words and dropped. */
function wordsIn(timestamps: unknown): WordTiming[] {
  if (!isObject(timestamps)) return [];
  const { words, start, end } = timestamps;
  if (!Array.isArray(words) || !Array.isArray(start) || !Array.isArray(end)) return [];
  return words.flatMap((word: unknown, at) => {
    const startMs = Math.round(Number(start[at]) * 1_000);
    const endMs = Math.round(Number(end[at]) * 1_000);
    if (typeof word !== 'string' || /^<.*>$/.test(word)) return [];
    return Number.isFinite(startMs + endMs) ? [{ word, startMs, endMs }] : [];
  });
}

function faultOf(message: Message): ReportedFault | undefined {
  if (message['type'] !== 'error') return undefined;
  const { status_code: status, error_code: code, message: words, title, error } = message;
  const detail = [words, title, error, 'an error without words'].find(
    (each): each is string => typeof each === 'string' && each !== '',
  );
  return {
    kind: typeof status === 'number' && status >= 400 ? faultKindOfStatus(status) : 'overload',
    detail: detail ?? '',
    ...(typeof status === 'number' && { status }),
    ...(typeof code === 'string' && { vendorCode: code.slice(0, 80) }),
  };
}
