// Voices whose clients are descriptions, each written from its vendor's reference: handshake, first message, text, audio,
// cancel. Unknown parameters, fields and messages end the connection.

import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Clock } from '../../../src/std/clock.ts';
import { ScriptedVoice, type VoiceFaults, type VoicePiece } from '../call/scripted-voice.ts';
import {
  type Refusal,
  type SocketService,
  startSocketService,
} from '../services/service-socket.ts';
import type { TtsPreset } from './presets.ts';

export interface VoiceServer extends SocketService {
  faults: VoiceFaults & { refuse?: Refusal };
  errors: string[];
  /** Close codes of the client. */
  closes: number[];
}

interface Line {
  key: string;
  send(message: object): void;
  audio(bytes: Buffer): void;
  close(code: number, reason: string): void;
  /** The client broke the protocol. */
  refuse(what: string): void;
  /** Texts are spoken one after the other. */
  speak(text: string, listener: { piece(piece: VoicePiece): void; done(): void }): void;
  /** What is spoken, and what waits, is dropped. */
  stop(): void;
}

interface Service {
  format: 'ulaw8' | 's16';
  check(request: IncomingMessage, url: URL, key: string): Refusal | undefined;
  open(line: Line): (message: unknown) => void;
}

const UNAUTHORIZED: Refusal = { status: 401, body: '{"message":"Invalid key"}' };
const BAD: Refusal = { status: 400, body: '{"message":"Bad parameters"}' };

const checks =
  (path: string, header: string, value: (key: string) => string, query: z.ZodType) =>
  ({ headers }: IncomingMessage, url: URL, key: string): Refusal | undefined => {
    if (url.pathname !== path) return { status: 404, body: '{}' };
    if (headers[header] !== value(key)) return UNAUTHORIZED;
    const given = Object.fromEntries(url.searchParams);
    return query.safeParse(given).success ? undefined : BAD;
  };
const bearer = (key: string): string => `Bearer ${key}`;
const base64 = ({ audio }: VoicePiece): string => audio.toString('base64');
const text = z.string().max(2_500);

/** Parses by a schema, or refuses. */
const reads =
  <T>(schema: z.ZodType<T>, line: Line, act: (message: T) => void) =>
  (given: unknown): void => {
    const parsed = schema.safeParse(given);
    if (parsed.success) act(parsed.data);
    else line.refuse(`a message of another form: ${JSON.stringify(given)}`);
  };

const inworldMessage = z.union([
  z.strictObject({
    create: z.strictObject({
      voiceId: z.string(),
      modelId: z.string(),
      audioConfig: z.strictObject({
        audioEncoding: z.literal('MULAW'),
        sampleRateHertz: z.literal(8_000),
        speakingRate: z.number().optional(),
      }),
      language: z.string(),
      deliveryMode: z.string().optional(),
      timestampType: z.literal('WORD'),
    }),
    contextId: z.string(),
  }),
  z.strictObject({ send_text: z.strictObject({ text }), contextId: z.string() }),
  z.strictObject({ flush_context: z.strictObject({}), contextId: z.string() }),
  z.strictObject({ close_context: z.strictObject({}), contextId: z.string() }),
]);

function inworld(line: Line) {
  const contexts = new Map<string, string>();
  const result = (contextId: string, more: object): void => {
    line.send({ result: { contextId, ...more, status: { code: 0, message: '' } } });
  };
  return reads(inworldMessage, line, (message) => {
    const { contextId: id } = message;
    if ('create' in message) {
      if (contexts.size >= 5) line.refuse('more than five contexts');
      contexts.set(id, '');
      result(id, { contextCreated: {} });
      return;
    }
    const waiting = contexts.get(id);
    if (waiting === undefined) {
      line.refuse(`no context ${id}`);
    } else if ('send_text' in message) {
      contexts.set(id, waiting + message.send_text.text);
    } else if ('flush_context' in message) {
      contexts.set(id, '');
      line.speak(waiting, {
        piece(piece) {
          const { words } = piece;
          const wordAlignment = {
            words: words.map(({ word }) => word),
            wordStartTimeSeconds: words.map(({ startMs }) => startMs / 1_000),
            wordEndTimeSeconds: words.map(({ endMs }) => endMs / 1_000),
          };
          const timestampInfo = { wordAlignment };
          result(id, { audioChunk: { audioContent: base64(piece), timestampInfo } });
        },
        done: () => result(id, { flushCompleted: {} }),
      });
    } else {
      contexts.delete(id);
      line.stop();
      result(id, { contextClosed: {} });
    }
  });
}

const lmntFirst = z.strictObject({
  'X-API-Key': z.string(),
  'lmnt-version': z.literal('1.1'),
  voice: z.string(),
  model: z.string(),
  format: z.literal('pcm_s16le'),
  sample_rate: z.literal(8_000),
  language: z.string(),
  return_timestamps: z.literal(true),
});
const lmntMessage = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text }),
  z.strictObject({ type: z.literal('flush'), nonce: z.number() }),
  z.strictObject({ type: z.literal('reset'), nonce: z.number() }),
  z.strictObject({ type: z.literal('finish') }),
]);

function lmnt(line: Line) {
  let isReady = false;
  let waiting = '';
  const act = reads(lmntMessage, line, (message) => {
    if (message.type === 'text') waiting += message.text;
    else if (message.type === 'flush') {
      const { nonce } = message;
      line.speak(waiting, {
        piece({ audio, words }) {
          const timestamps = words.map((each) => ({
            text: each.word,
            start: each.startMs / 1_000,
            duration: (each.endMs - each.startMs) / 1_000,
          }));
          line.send({ type: 'timestamps', timestamps });
          line.audio(audio);
        },
        done: () => line.send({ type: 'flush_complete', nonce }),
      });
      waiting = '';
    } else if (message.type === 'reset') {
      waiting = '';
      line.stop();
      line.audio(Buffer.alloc(3_200));
      line.send({ type: 'reset_complete', nonce: message.nonce });
    } else line.close(1000, '');
  });
  return (message: unknown): void => {
    if (isReady) {
      act(message);
      return;
    }
    const first = lmntFirst.safeParse(message);
    if (!first.success) line.refuse('another first message');
    else if (first.data['X-API-Key'] !== line.key) {
      const error = { type: 'authentication_error', message: 'Invalid API key' };
      line.send({ type: 'error', error });
      line.close(1008, 'authentication_error');
    } else {
      isReady = true;
      line.send({ type: 'ready', request_id: 'r' });
    }
  };
}

const rimeMessage = z.union([
  z.strictObject({ text, contextId: z.string() }),
  z.strictObject({ operation: z.enum(['flush', 'clear', 'eos']) }),
]);

function rime(line: Line) {
  let waiting = '';
  let contextId = '';
  return reads(rimeMessage, line, (message) => {
    if ('text' in message) {
      waiting += message.text;
      contextId = message.contextId;
      return;
    }
    if (message.operation !== 'flush') {
      line.stop();
      if (message.operation === 'eos') line.close(1000, '');
      return;
    }
    const of = { contextId };
    line.speak(waiting, {
      piece(piece) {
        const { words } = piece;
        line.send({ type: 'chunk', data: base64(piece), ...of });
        const wordTimestamps = {
          words: words.map(({ word }) => word),
          start: words.map(({ startMs }) => startMs / 1_000),
          end: words.map(({ endMs }) => endMs / 1_000),
        };
        line.send({ type: 'timestamps', word_timestamps: wordTimestamps, ...of });
      },
      done: () => line.send({ type: 'done', ...of }),
    });
    waiting = '';
  });
}

const sarvamConfig = z.strictObject({
  type: z.literal('config'),
  data: z.strictObject({
    language_code: z.string().regex(/^[a-z]{2}-IN$/),
    speaker: z.string().toLowerCase(),
    speech_sample_rate: z.literal(8_000),
    output_audio_codec: z.literal('mulaw'),
    pace: z.number().optional(),
    enable_preprocessing: z.boolean(),
    // Of bulbul:v2.
    pitch: z.number().optional(),
    loudness: z.number().optional(),
    // Of other codecs.
    output_audio_bitrate: z.string().optional(),
    min_buffer_size: z.int().optional(),
    max_chunk_length: z.int().optional(),
  }),
});
const sarvamMessage = z.discriminatedUnion('type', [
  sarvamConfig,
  z.strictObject({ type: z.literal('text'), data: z.strictObject({ text }) }),
  z.strictObject({ type: z.literal('flush') }),
  z.strictObject({ type: z.literal('ping') }),
]);

function sarvam(line: Line) {
  let isConfigured = false;
  let waiting = '';
  return reads(sarvamMessage, line, (message) => {
    if (message.type === 'config') isConfigured = true;
    else if (!isConfigured) line.refuse('a message before config');
    else if (message.type === 'text') waiting += message.data.text;
    else if (message.type === 'flush') {
      line.speak(waiting, {
        piece(piece) {
          const data = { audio: base64(piece), content_type: 'audio/x-mulaw' };
          line.send({ type: 'audio', data });
        },
        done: () => line.send({ type: 'event', data: { event_type: 'final' } }),
      });
      waiting = '';
    }
  });
}

const smallestMessage = z.strictObject({
  text,
  voice_id: z.string(),
  model: z.string(),
  language: z.string().optional(),
  sample_rate: z.literal(8_000),
  speed: z.number().optional(),
  word_timestamps: z.literal(true).optional(),
  output_format: z.literal('ulaw').optional(),
});

function smallest(line: Line) {
  let requests = 0;
  return reads(smallestMessage, line, (message) => {
    // A space keeps the connection open.
    if (message.text.trim() === '') return;
    if (message.output_format === undefined) line.refuse('no output_format');
    requests += 1;
    const of = { request_id: `r${requests}` };
    line.speak(message.text, {
      piece(piece) {
        line.send({ status: 'chunk', ...of, data: { audio: base64(piece) } });
        for (const { word, startMs, endMs } of piece.words) {
          const data = { word, start: startMs / 1_000, end: endMs / 1_000 };
          line.send({ status: 'word_timestamp', ...of, data });
        }
      },
      done: () => line.send({ status: 'complete', ...of }),
    });
  });
}

const xaiMessage = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text.delta'), delta: text }),
  z.strictObject({ type: z.literal('text.done') }),
  z.strictObject({ type: z.literal('text.clear') }),
]);

function xai(line: Line) {
  let open = 0;
  let isDone = false;
  const settle = (): void => {
    if (!isDone || open > 0) return;
    isDone = false;
    line.send({ type: 'audio.done' });
  };
  return reads(xaiMessage, line, (message) => {
    if (message.type === 'text.delta') {
      open += 1;
      line.speak(message.delta, {
        piece: (piece) => line.send({ type: 'audio.delta', delta: base64(piece) }),
        done() {
          open -= 1;
          settle();
        },
      });
    } else if (message.type === 'text.done') {
      isDone = true;
      settle();
    } else {
      line.stop();
      open = 0;
      isDone = false;
      line.send({ type: 'audio.delta', delta: Buffer.alloc(800, 0x80).toString('base64') });
      line.send({ type: 'audio.clear' });
    }
  });
}

const services: Record<TtsPreset, Service> = {
  inworld: {
    format: 'ulaw8',
    check: checks(
      '/tts/v1/voice:streamBidirectional',
      'authorization',
      (key) => `Basic ${key}`,
      z.strictObject({}),
    ),
    open: inworld,
  },
  lmnt: {
    format: 's16',
    check: (_request, url) =>
      url.pathname === '/v1/ai/speech/stream' ? undefined : { status: 404, body: '{}' },
    open: lmnt,
  },
  rime: {
    format: 'ulaw8',
    check: checks(
      '/ws3',
      'authorization',
      bearer,
      z.strictObject({
        speaker: z.string(),
        modelId: z.enum(['arcana', 'mistv3', 'mistv2', 'mist', 'coda']),
        audioFormat: z.literal('mulaw'),
        samplingRate: z.literal('8000'),
        lang: z.string().min(2).max(3),
        segment: z.enum(['immediate', 'bySentence', 'never']),
        speedAlpha: z.coerce.number().optional(),
      }),
    ),
    open: rime,
  },
  sarvam: {
    format: 'ulaw8',
    check: checks(
      '/text-to-speech/ws',
      'api-subscription-key',
      (key) => key,
      z.strictObject({ model: z.string(), send_completion_event: z.literal('true') }),
    ),
    open: sarvam,
  },
  smallest: {
    format: 'ulaw8',
    check: checks('/waves/v1/tts/live', 'authorization', bearer, z.strictObject({})),
    open: smallest,
  },
  xai: {
    format: 'ulaw8',
    check: checks(
      '/v1/tts',
      'authorization',
      bearer,
      z.strictObject({
        voice: z.enum(['eve', 'ara', 'leo', 'rex', 'sal']),
        language: z.string(),
        codec: z.literal('mulaw'),
        sample_rate: z.literal('8000'),
        with_timestamps: z.string().optional(),
      }),
    ),
    open: xai,
  },
};

export async function startVoiceServer(
  preset: TtsPreset,
  options: { clock: Clock; key: string; faults?: VoiceServer['faults'] },
): Promise<VoiceServer> {
  const { clock, key } = options;
  const { format, check, open } = services[preset];
  const service = await startSocketService({
    refuse: (request) =>
      server.faults.refuse ?? check(request, new URL(request.url ?? '', 'http://fake'), key),
    onConnection({ socket }) {
      const queue: { text: string; listener: Parameters<Line['speak']>[1] }[] = [];
      let voice: ScriptedVoice | undefined;
      socket.on('close', (code) => server.closes.push(code));
      const next = (): void => {
        const due = queue.shift();
        if (due === undefined) return;
        const speaking = new ScriptedVoice({
          clock,
          format,
          faults: server.faults,
          onPiece: due.listener.piece,
          onFailure: (failure) => socket.close(failure === 'quota' ? 1008 : failure, 'gone'),
          onDone() {
            if (voice === speaking) voice = undefined;
            due.listener.done();
            if (voice === undefined) next();
          },
        });
        voice = speaking;
        speaking.speak(due.text);
        speaking.end();
      };
      const act = open({
        key,
        send: (message) => socket.send(JSON.stringify(message)),
        audio: (bytes) => socket.send(bytes),
        close: (code, reason) => socket.close(code, reason),
        refuse(what) {
          server.errors.push(what);
          socket.close(1008, 'refused');
        },
        speak(said, listener) {
          queue.push({ text: said, listener });
          if (voice === undefined) next();
        },
        stop() {
          queue.length = 0;
          voice?.stop();
          voice = undefined;
        },
      });
      socket.on('message', (data: Buffer, isBinary) => {
        if (isBinary) server.errors.push('a binary message');
        else act(JSON.parse(data.toString()));
      });
    },
  });
  const server: VoiceServer = Object.assign(service, {
    faults: options.faults ?? {},
    errors: [],
    closes: [],
  });
  return server;
}
