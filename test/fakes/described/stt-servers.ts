// Recognisers whose clients are descriptions, each written from its vendor's reference: handshake, first message, audio,
// finalize, results. Unknown parameters and messages end the session.

import type { IncomingMessage } from 'node:http';
import type { HeardWord } from '../call/spoken-words.ts';
import type { Refusal } from '../services/service-socket.ts';
import type { Protocol, SttSession } from '../services/stt-server.ts';
import { gladiaProtocol } from './gladia-server.ts';
import type { SttPreset } from './presets.ts';
import { codesOf, type Message, Recognizing, seconds, textOf } from './recognizing.ts';

class Cartesia extends Recognizing {
  #transcript(type: string, isFinal: boolean, words: readonly HeardWord[]): Message {
    // Pieces have their own spaces.
    const text = words.map(({ word }) => ` ${word}`).join('');
    return { type, text, is_final: isFinal, duration: 1, language: 'en', words: seconds(words) };
  }

  protected override partial(): void {
    const words = this.session.interim(this.words);
    this.session.send(this.#transcript('transcript', false, words));
  }

  text(text: string): boolean {
    if (text === 'close') {
      const words = this.words.splice(0);
      if (words.length > 0) this.session.send(this.#transcript('transcript', true, words));
      this.session.send({ type: 'done' });
      this.session.close(1000);
      return true;
    }
    if (text !== 'finalize') return false;
    this.answer((words) => {
      if (this.session.faults.finals !== undefined) {
        this.session.send(this.#transcript('transcript', true, words));
        this.session.send({ type: 'flush_done' });
        return;
      }
      // A word may come in two pieces.
      const { word = '', startMs = 0, endMs = 0 } = words.at(-1) ?? {};
      const head = { word: word.slice(0, 1), startMs, endMs };
      if (words.length > 0) {
        this.session.send(this.#transcript('transcript', true, [...words.slice(0, -1), head]));
        const rest = { ...this.#transcript('transcript', true, []), text: word.slice(1) };
        this.session.send(rest);
      }
      this.session.send({ type: 'flush_done' });
    });
    return true;
  }

  message(message: Message): void {
    this.unknown(message);
  }
}

const COMMIT_MS_MIN = 300;
const KEYTERMS_MAX = 50;
const KEYTERM_CHARACTERS_MAX = 20;

class Scribe extends Recognizing {
  #isReady = false;
  #committedMs = 0;

  protected override begin(): void {
    const terms = this.session.url.searchParams.getAll('keyterms');
    if (terms.length > KEYTERMS_MAX || terms.some((term) => term.length > KEYTERM_CHARACTERS_MAX)) {
      this.session.send({ message_type: 'invalid_request', error: 'keyterms' });
      return;
    }
    this.#isReady = true;
    this.session.send({ message_type: 'session_started', session_id: 's', config: {} });
  }

  protected override partial(): void {
    const text = textOf(this.session.interim(this.words));
    this.session.send({ message_type: 'partial_transcript', text });
  }

  message(message: Message): void {
    const { message_type: type, audio_base_64: audio, commit, sample_rate: rate } = message;
    if (!this.#isReady) this.session.violates('audio before session_started', 1008);
    if (type !== 'input_audio_chunk' || typeof audio !== 'string' || rate !== 8_000) {
      this.unknown(message);
      return;
    }
    this.audio(this.session.hear(Buffer.from(audio, 'base64')));
    if (commit !== true) return;
    const { audioMs } = this.session;
    if (audioMs - this.#committedMs < COMMIT_MS_MIN) {
      this.session.send({ message_type: 'commit_throttled', error: 'too little audio' });
      return;
    }
    this.#committedMs = audioMs;
    this.answer((words) => {
      const text = textOf(words);
      this.session.send({ message_type: 'committed_transcript', text });
      const items = seconds(words).flatMap(({ word, start, end }) => [
        { text: word, start, end, type: 'word', logprob: -0.1 },
        { text: ' ', start: end, end, type: 'spacing' },
      ]);
      const timed = { text, language_code: 'en', words: items };
      this.session.send({ message_type: 'committed_transcript_with_timestamps', ...timed });
      // The service repeats what it has just committed.
      this.session.send({ message_type: 'partial_transcript', text });
    });
  }
}

class Sarvam extends Recognizing {
  protected override partial(): void {
    this.session.send({ type: 'events', data: { signal_type: 'START_SPEECH', occured_at: 1 } });
  }

  message(message: Message): void {
    const { audio } = message as {
      audio?: { data: string; encoding: string; sample_rate: number };
    };
    if (audio !== undefined) {
      if (audio.encoding !== 'audio/wav' || audio.sample_rate !== 8_000) this.unknown(message);
      this.audio(this.session.hear(codesOf(Buffer.from(audio.data, 'base64'))));
    } else if (message['type'] === 'flush') {
      this.answer((words) => {
        const metrics = { audio_duration: 1, processing_latency: 0.3 };
        const text = { transcript: textOf(words), language_code: 'hi-IN' };
        const data = { request_id: 'r', ...text, metrics };
        this.session.send({ type: 'data', data });
      });
    } else this.unknown(message);
  }
}

class Smallest extends Recognizing {
  #send(words: readonly HeardWord[], isFinal: boolean, isLast = false): void {
    const more = { language: 'en', words: seconds(words), is_last: isLast };
    this.session.send({ transcript: textOf(words), is_final: isFinal, ...more });
  }

  protected override partial(): void {
    this.#send(this.session.interim(this.words), false);
  }

  message(message: Message): void {
    if (message['type'] === 'finalize') this.answer((words) => this.#send(words, true));
    else if (message['type'] === 'close_stream') {
      this.#send(this.words.splice(0), true, true);
      this.session.close(1000);
    } else this.unknown(message);
  }
}

class Soniox extends Recognizing {
  readonly #key: string;
  #isConfigured = false;

  constructor(session: SttSession, key: string) {
    super(session);
    this.#key = key;
  }

  override audio(words: readonly HeardWord[]): void {
    if (!this.#isConfigured) this.session.violates('audio before the configuration', 1008);
    super.audio(words);
  }

  /** Pieces of words: the first has the space. */
  #tokens(words: readonly HeardWord[], isFinal: boolean): Message[] {
    return words.flatMap(({ word, startMs, endMs }) => {
      const both = { confidence: 0.98, is_final: isFinal, language: 'en' };
      const middle = (startMs + endMs) / 2;
      return [
        { text: ` ${word.slice(0, 1)}`, start_ms: startMs, end_ms: middle, ...both },
        { text: word.slice(1), start_ms: middle, end_ms: endMs, ...both },
      ];
    });
  }

  protected override partial(): void {
    // All but the last two words are fixed, up to the middle of a word.
    const fixed = this.#tokens(this.words.splice(0, Math.max(0, this.words.length - 2)), true);
    const tokens = [...fixed, ...this.#tokens(this.session.interim(this.words), false)];
    this.session.send({ tokens, final_audio_proc_ms: 0, total_audio_proc_ms: 0 });
  }

  text(text: string): boolean {
    if (text !== '') return false;
    const tokens = this.#tokens(this.words.splice(0), true);
    const ms = this.session.audioMs;
    const done = { final_audio_proc_ms: ms, total_audio_proc_ms: ms, finished: true };
    this.session.send({ tokens, ...done });
    this.session.close(1000);
    return true;
  }

  message(message: Message): void {
    const { type } = message;
    if (type === 'keepalive') return;
    if (type === 'finalize') {
      this.answer((words) => {
        const fin = { text: '<fin>', is_final: true };
        const ms = this.session.audioMs;
        const tokens = [...this.#tokens(words, true), fin];
        this.session.send({ tokens, final_audio_proc_ms: ms, total_audio_proc_ms: ms });
      });
    } else this.#configure(message);
  }

  #configure(message: Message): void {
    const { api_key: key, audio_format: format, sample_rate: rate } = message;
    const known = [
      ...['api_key', 'model', 'audio_format', 'sample_rate', 'num_channels', 'language_hints'],
      ...['enable_endpoint_detection', 'context'],
    ];
    const isKnown = Object.keys(message).every((name) => known.includes(name));
    if (key !== this.#key) {
      this.session.send({ error_code: 401, error_message: 'Incorrect API key' });
      this.session.close(1000);
    } else if (this.#isConfigured || !isKnown || format !== 'mulaw' || rate !== 8_000) {
      this.session.send({ error_code: 400, error_message: 'Invalid configuration' });
      this.session.violates('a configuration', 1000);
    } else this.#isConfigured = true;
  }
}

/** All fields that a client here may send. `operating_point` is the old name of `model`. */
const SPEECHMATICS = new Set([
  ...['language', 'model', 'max_delay', 'max_delay_mode', 'enable_partials', 'additional_vocab'],
]);

class Speechmatics extends Recognizing {
  #isStarted = false;
  #audioAtMs = 0;
  #packets = 0;

  protected override begin(): void {
    // RecognitionStarted answers StartRecognition.
  }

  override audio(words: readonly HeardWord[]): void {
    if (!this.#isStarted) this.session.violates('audio before RecognitionStarted', 1003);
    this.#audioAtMs = this.session.clock.monotonicMs();
    super.audio(words);
    this.#packets += 1;
    this.session.send({ message: 'AudioAdded', seq_no: this.#packets });
  }

  #transcript(message: string, words: readonly HeardWord[]): Message {
    const results = seconds(words).map(({ word, start, end }) => ({
      type: 'word',
      start_time: start,
      end_time: end,
      alternatives: [{ content: word, confidence: 0.98, language: 'en' }],
    }));
    const transcript = words.length === 0 ? '' : `${textOf(words)} `;
    return { message, metadata: { start_time: 0, end_time: 1, transcript }, results };
  }

  protected override partial(): void {
    const words = this.session.interim(this.words);
    this.session.send(this.#transcript('AddPartialTranscript', words));
  }

  message(message: Message): void {
    const { message: name } = message;
    if (name === 'StartRecognition') this.#start(message);
    else if (name === 'ForceEndOfUtterance') {
      // Words in the last 100 ms of audio would be cut.
      const sinceMs = this.session.clock.monotonicMs() - this.#audioAtMs;
      if (sinceMs < 100 && this.session.finder.silenceMs < 100) this.unknown(message);
      this.answer((words) => {
        this.#fix(words);
        this.session.send({ message: 'EndOfUtterance', metadata: { start_time: 0, end_time: 1 } });
      });
    } else if (name === 'EndOfStream' && message['last_seq_no'] === this.#packets) {
      this.#fix(this.words.splice(0));
      this.session.send({ message: 'EndOfTranscript' });
    } else this.unknown(message);
  }

  #fix(words: readonly HeardWord[]): void {
    if (words.length > 0) this.session.send(this.#transcript('AddTranscript', words));
  }

  #start(message: Message): void {
    const { audio_format: format, transcription_config: config } = message;
    const wanted = { type: 'raw', encoding: 'mulaw', sample_rate: 8_000 };
    if (JSON.stringify(format) !== JSON.stringify(wanted)) this.unknown(message);
    const isKnown = Object.keys(config as Message).every((name) => SPEECHMATICS.has(name));
    if (!isKnown) {
      const reason = 'unknown fields in transcription_config';
      this.session.send({ message: 'Error', type: 'invalid_config', reason });
      this.session.close(1003);
    }
    if (!isKnown || this.session.faults.ready === 'never') return;
    this.#isStarted = true;
    this.session.send({ message: 'RecognitionStarted', id: 'r' });
    const quality = { quality: 'telephony', reason: 'the rate of the audio' };
    this.session.send({ message: 'Info', type: 'recognition_quality', ...quality });
  }
}

class Xai extends Recognizing {
  protected override begin(): void {
    this.session.send({ type: 'transcript.created' });
  }

  #send(words: readonly HeardWord[], isFinal: boolean): void {
    const flags = { is_final: isFinal, speech_final: isFinal, start: 0, duration: 1 };
    const text = textOf(words);
    this.session.send({ type: 'transcript.partial', text, ...flags, words: seconds(words) });
  }

  protected override partial(): void {
    this.#send(this.session.interim(this.words), false);
  }

  protected override silence(): void {
    this.answer((words) => this.#send(words, true));
  }

  message(message: Message): void {
    if (message['type'] !== 'audio.done') {
      this.unknown(message);
      return;
    }
    if (this.words.length > 0) this.#send(this.words.splice(0), true);
    const duration = this.session.audioMs / 1_000;
    this.session.send({ type: 'transcript.done', text: '', words: [], duration });
    this.session.close(1000);
  }
}

class Jambonz extends Recognizing {
  ulaw(data: Buffer): Uint8Array {
    return codesOf(data);
  }

  #send(words: readonly HeardWord[], isFinal: boolean): void {
    const alternatives = [{ transcript: textOf(words), confidence: 0.9 }];
    const more = { channel: 1, language: 'en-US', alternatives };
    this.session.send({ type: 'transcription', is_final: isFinal, ...more });
  }

  protected override partial(): void {
    this.#send(this.session.interim(this.words), false);
  }

  protected override silence(): void {
    this.answer((words) => this.#send(words, true));
  }

  message(message: Message): void {
    const { type, encoding, sampleRateHz: rate } = message;
    if (type === 'stop') {
      if (this.words.length > 0) this.#send(this.words.splice(0), true);
      this.session.close(1000);
    } else if (type !== 'start' || encoding !== 'LINEAR16' || rate !== 8_000) this.unknown(message);
  }
}

class Vapi extends Recognizing {
  /** The first of two channels. */
  ulaw(data: Buffer): Uint8Array {
    const mono = Buffer.alloc(data.length / 2);
    for (let at = 0; at < mono.length; at += 2) data.copy(mono, at, at * 2, at * 2 + 2);
    return codesOf(mono);
  }

  #send(words: readonly HeardWord[], transcriptType: string): void {
    const transcription = textOf(words);
    const more = { transcription, channel: 'customer', transcriptType };
    this.session.send({ type: 'transcriber-response', ...more });
    const agent = { ...more, transcription: 'the agent', channel: 'assistant' };
    this.session.send({ type: 'transcriber-response', ...agent });
  }

  protected override partial(): void {
    this.#send(this.session.interim(this.words), 'partial');
  }

  protected override silence(): void {
    this.answer((words) => this.#send(words, 'final'));
  }

  message(message: Message): void {
    const { type, encoding, container, sampleRate, channels } = message;
    const isPcm = encoding === 'linear16' && container === 'raw' && channels === 2;
    if (type !== 'start' || !isPcm || sampleRate !== 8_000) this.unknown(message);
  }
}

interface Expected {
  path: string;
  /** Name and value. */
  header: [string, string];
  /** All parameters that the service takes; those with a value must have it. */
  query?: Record<string, string | undefined>;
}

function check(
  { path, header, query = {} }: Expected,
  { headers }: IncomingMessage,
  { pathname, searchParams }: URL,
): Refusal | undefined {
  if (pathname !== path) return { status: 404, body: '{"error":"Not found"}' };
  if (headers[header[0]] !== header[1]) return { status: 401, body: '{"error":"Unauthorized"}' };
  for (const [name, value] of searchParams) {
    const isKnown = Object.hasOwn(query, name);
    if (!isKnown || (query[name] !== undefined && query[name] !== value)) {
      return { status: 400, body: JSON.stringify({ error: `${name}: ${value}` }) };
    }
  }
  const missing = Object.keys(query).find((name) => query[name] && !searchParams.has(name));
  return missing === undefined ? undefined : { status: 400, body: `{"error":"no ${missing}"}` };
}

const any = undefined;
const ulaw = { encoding: 'mulaw', sample_rate: '8000' };

/** Each service with the key that it expects. */
export const sttProtocols: Record<SttPreset, (key: string) => Protocol> = {
  cartesia: (key) => ({
    check: (request, url) => {
      const query = { model: any, language: any, encoding: 'pcm_mulaw', sample_rate: '8000' };
      const expected = { path: '/stt/websocket', header: ['x-api-key', key], query } as const;
      if (request.headers['cartesia-version'] === undefined) return { status: 400, body: '{}' };
      return check({ ...expected, header: ['x-api-key', key] }, request, url);
    },
    open: (session) => new Cartesia(session),
  }),
  elevenlabs: (key) => ({
    check: (request, url) => {
      const query = {
        model_id: 'scribe_v2_realtime',
        audio_format: 'ulaw_8000',
        language_code: any,

        commit_strategy: 'manual',
        include_timestamps: 'true',
        keyterms: any,
      };
      return check(
        { path: '/v1/speech-to-text/realtime', header: ['xi-api-key', key], query },
        request,
        url,
      );
    },
    open: (session) => new Scribe(session),
  }),
  gladia: gladiaProtocol,
  sarvam: (key) => ({
    check: (request, url) => {
      const query = {
        'language-code': any,
        model: any,
        vad_signals: 'true',
        flush_signal: 'true',

        high_vad_sensitivity: any,
        sample_rate: '8000',
        input_audio_codec: 'pcm_s16le',
      };
      return check(
        { path: '/speech-to-text/ws', header: ['api-subscription-key', key], query },
        request,
        url,
      );
    },
    open: (session) => new Sarvam(session),
  }),
  smallest: (key) => ({
    check: (request, url) => {
      const query = { model: 'pulse', language: any, ...ulaw, format: any, numerals: any };
      return check(
        { path: '/waves/v1/stt/live', header: ['authorization', `Bearer ${key}`], query },
        request,
        url,
      );
    },
    open: (session) => new Smallest(session),
  }),
  soniox: (key) => ({
    // The key is in the first message as well, whose refusal is an error of its own.
    check: (_request, url) =>
      url.pathname === '/transcribe-websocket' ? undefined : { status: 404, body: '{}' },
    open: (session) => new Soniox(session, key),
  }),
  speechmatics: (key) => ({
    check: (request, url) => {
      // The SDK's way, which browsers can go.
      if (url.pathname === '/v2' && url.searchParams.get('jwt') === key) return undefined;
      const header: [string, string] = ['authorization', `Bearer ${key}`];
      return check({ path: '/v2', header }, request, url);
    },
    open: (session) => new Speechmatics(session),
  }),
  xai: (key) => ({
    check: (request, url) => {
      const query = { ...ulaw, interim_results: 'true', endpointing: any, language: any };
      return check(
        { path: '/v1/stt', header: ['authorization', `Bearer ${key}`], query },
        request,
        url,
      );
    },
    open: (session) => new Xai(session),
  }),
  vapi_transcriber: (key) => ({
    check: (request, url) => check({ path: '/', header: ['x-vapi-secret', key] }, request, url),
    open: (session) => new Vapi(session),
  }),
  jambonz_stt: (key) => ({
    check: (request, url) =>
      check({ path: '/', header: ['authorization', `Bearer ${key}`] }, request, url),
    open: (session) => new Jambonz(session),
  }),
};
