// AssemblyAI's universal streaming as a recogniser. The service detects the end of a turn (endpointing), and the
// gateway may force it. Billed from Begin to Terminate.
// Source: AssemblyAI API reference, "Streaming API v3", messages Begin, Turn, ForceEndpoint, UpdateConfiguration, Error
// and Terminate.

import { z } from 'zod';
import type { ExpectedInput } from '../../model/expected-input.ts';
import type { SttServiceSettings } from '../../model/speech-services/services.ts';
import type { Timer } from '../../std/clock.ts';
import { isObject, parseJson } from '../../std/json.ts';
import type { FaultKind } from '../service/service-fault.ts';
import type { ServiceMeans } from '../service/service-means.ts';
import { vocabulary } from '../stt/streaming/expected-vocabulary.ts';
import { RecognizerSocket, serviceUrl } from '../stt/streaming/recognizer-socket.ts';
import { ServiceTurns, withTurns } from '../stt/streaming/service-turns.ts';
import type {
  RecognizedWords,
  Recognizer,
  RecognizerListener,
  SpeechToText,
  SttCapabilities,
} from '../stt/stt.ts';
import { at, header, type Vendor } from './vendor.ts';

export const assemblyai = {
  stt: createAssemblyAi,
  keyCheck: {
    url: at('https://streaming.assemblyai.com', '/v3/token?expires_in_seconds=60'),
    headers: header('authorization'),
  },
} satisfies Vendor;

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

function createAssemblyAi(
  settings: SttServiceSettings<'assemblyai'>,
  means: ServiceMeans,
): SpeechToText {
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
  settings: SttServiceSettings<'assemblyai'>,
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

const PACKET_MS = 100;
/** The service closes the connection after shorter packets. */
const REST_MS_MIN = 50;
const KEEPALIVE_MS = 10_000;
/** Without this message, the service bills up to three hours. */
const TERMINATE = '{"type":"Terminate"}';
const IN_FLIGHT_MS_MAX = 450;
/** Formatted text follows the end of a turn within this time. */
const FORMAT_MS_MAX = 500;
/** Longest quotation of the agent, taken from the end, where its question is. The service allows a little more. */
const AGENT_CHARACTERS_MAX = 1_500;

const word = z.object({
  text: z.string(),
  start: z.number(),
  end: z.number(),
  confidence: z.number().nullish(),
});
const turnMessage = z.object({
  turn_order: z.number(),
  turn_is_formatted: z.boolean().nullish(),
  end_of_turn: z.boolean().nullish(),
  end_of_turn_confidence: z.number().nullish(),
  transcript: z.string().nullish(),
  words: z.array(word).nullish(),
  language_code: z.string().nullish(),
});
type TurnMessage = z.infer<typeof turnMessage>;

interface AssemblyAiOptions {
  means: ServiceMeans;
  model: string;
  key: string;
  url: string;
  listener: RecognizerListener;
  keyterms(next: ExpectedInput): readonly string[];
  /** Vocabulary that the address contains. */
  known: readonly string[];
  /** Whether a formatted message follows the end of a turn. */
  awaitsFormat: boolean;
  /** Whether the model uses the agent's words to recognise answers. */
  takesAgentWords: boolean;
  /** Confidence from which the end of a turn is probable. Undefined: never. */
  eagerConfidence: number | undefined;
  kindOfClose(code: number, reason: string): FaultKind | undefined;
}

class AssemblyAiRecognizer implements Recognizer {
  readonly #options: AssemblyAiOptions;
  readonly #socket: RecognizerSocket;
  readonly #turns: ServiceTurns;
  #keyterms: string;
  #format: Timer | undefined;

  constructor(options: AssemblyAiOptions) {
    this.#options = options;
    const { means, model, key, url, listener, kindOfClose } = options;
    this.#keyterms = JSON.stringify(options.known);
    this.#turns = new ServiceTurns({
      clock: means.clock,
      listener,
      inFlightMsMax: IN_FLIGHT_MS_MAX,
      isReady: () => this.#socket.isReady,
      force: () => this.#socket.send({ type: 'ForceEndpoint' }),
      fail: () => this.#socket.fail('timeout', 'no answer to ForceEndpoint'),
    });
    this.#socket = new RecognizerSocket({
      means,
      model,
      url,
      listener,
      kindOfClose,
      service: 'assemblyai',
      headers: { authorization: key },
      secrets: [key],
      format: 'ulaw8',
      packetMs: PACKET_MS,
      restMsMin: REST_MS_MIN,
      billing: 'session',
      keepalive: { afterMs: KEEPALIVE_MS, message: '{"type":"KeepAlive"}' },
      isReadyMessage: (text) => isBegin(parseJson(text)),
      onMessage: (message) => this.#message(message),
      onEnd: () => this.#stop(),
    });
  }

  get isReady(): boolean {
    return this.#socket.isReady;
  }

  push(frame: Int16Array): void {
    this.#socket.push(frame);
  }

  speechStarted(): void {
    // The service detects speech itself.
  }

  speechStopped(): void {
    this.#socket.flush();
  }

  finalize(): void {
    if (this.#socket.hasEnded) return;
    this.#socket.flush();
    this.#turns.finalize();
  }

  expect(expectation: ExpectedInput): void {
    const keyterms = this.#options.keyterms(expectation);
    const json = JSON.stringify(keyterms);
    if (json === this.#keyterms || this.#socket.hasEnded) return;
    this.#keyterms = json;
    this.#socket.send({ type: 'UpdateConfiguration', keyterms_prompt: keyterms });
  }

  agentSaid(text: string): void {
    if (!this.#options.takesAgentWords || this.#socket.hasEnded) return;
    const end = text.slice(-AGENT_CHARACTERS_MAX);
    this.#socket.send({ type: 'UpdateConfiguration', agent_context: end });
  }

  async finish(): Promise<void> {
    if (this.#socket.hasEnded) return;
    this.#turns.finishing();
    this.#socket.flush();
    if (this.#socket.sentPackets > 0) this.#socket.send({ type: 'ForceEndpoint' });
    await this.#socket.finish({
      last: () => TERMINATE,
      isOver: ({ type }) => type === 'Termination',
    });
    this.#turns.finished();
    this.close();
  }

  close(): void {
    this.#stop();
    this.#socket.close(TERMINATE);
  }

  #message(message: Record<string, unknown>): void {
    this.#turns.alive();
    if (message['type'] === 'Error') {
      const code = Number(message['error_code']);
      const kind = this.#options.kindOfClose(code, '') ?? 'protocol';
      this.#socket.fail(kind, String(message['error'] ?? ''), String(code));
      return;
    }
    const { type, session_duration_seconds: seconds } = message;
    if (type === 'Termination' && typeof seconds === 'number') this.#socket.counted(seconds);
    // Begin, SpeechStarted, Heartbeat, Silence, Warning, and later additions.
    if (type !== 'Turn') return;
    const parsed = turnMessage.safeParse(message);
    if (parsed.success) this.#turn(parsed.data);
    else this.#socket.fail('protocol', 'Turn of another form');
  }

  #turn(turn: TurnMessage): void {
    const { turn_order: order } = turn;
    const words = wordsOf(turn);
    if (turn.end_of_turn !== true) {
      this.#turns.update(order, words);
      if (this.#isProbable(turn)) this.#turns.hint('eager-end', words);
      return;
    }
    this.#format?.cancel();
    this.#format = undefined;
    if (turn.turn_is_formatted === true || !this.#options.awaitsFormat) {
      this.#turns.end(order, words);
      return;
    }
    this.#turns.update(order, words);
    this.#format = this.#options.means.clock.after(FORMAT_MS_MAX, () => {
      this.#turns.end(order, words);
    });
  }

  #isProbable({ end_of_turn_confidence: confidence }: TurnMessage): boolean {
    const { eagerConfidence = Number.POSITIVE_INFINITY } = this.#options;
    return (confidence ?? 0) >= eagerConfidence;
  }

  #stop(): void {
    this.#turns.close();
    this.#format?.cancel();
    this.#format = undefined;
  }
}

function isBegin(message: unknown): boolean {
  return isObject(message) && message['type'] === 'Begin';
}

function wordsOf({ transcript, words, language_code: language }: TurnMessage): RecognizedWords {
  const all = words ?? [];
  const sure = all.flatMap(({ confidence }) =>
    typeof confidence === 'number' ? [confidence] : [],
  );
  return {
    text: transcript?.trim() ?? '',
    confidence: sure.length === 0 ? null : Math.min(...sure),
    words:
      all.length === 0
        ? undefined
        : all.map(({ text, start, end }) => ({ word: text, startMs: start, endMs: end })),
    language: language ?? undefined,
  };
}
