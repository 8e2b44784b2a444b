// Cartesia's text-to-speech websocket, strict: unknown fields, changed fields within a context, an empty first transcript
// and a closed context are refused in the service's form. Records everything.
// Written from the vendor's API reference, version 2026-03-01.

import { z } from 'zod';
import type { Clock } from '../../../src/std/clock.ts';
import { ScriptedVoice, type VoiceFaults, type VoicePiece } from '../call/scripted-voice.ts';
import type { Certificate } from '../certificates.ts';
import {
  type Refusal,
  type ServiceConnection,
  type SocketService,
  startSocketService,
} from './service-socket.ts';

export interface CartesiaServer extends SocketService {
  faults: VoiceFaults & { refuse?: Refusal };
  contexts: { id: string; text: string; fields: Record<string, unknown>; state: string }[];
  errors: string[];
  /** Close codes of the client. */
  closes: number[];
}

const TEXT = z.strictObject({
  model_id: z.string(),
  transcript: z.string(),
  voice: z.strictObject({ mode: z.literal('id'), id: z.string() }),
  language: z.string().optional(),
  context_id: z.string(),
  continue: z.boolean(),
  max_buffer_delay_ms: z.int().min(0).max(5_000).optional(),
  output_format: z.strictObject({
    container: z.literal('raw'),
    encoding: z.literal('pcm_mulaw'),
    sample_rate: z.literal(8_000),
  }),
  add_timestamps: z.boolean().optional(),
  use_normalized_timestamps: z.boolean().optional(),
  generation_config: z
    .strictObject({
      speed: z.number().min(0.6).max(1.5).optional(),
      volume: z.number().min(0.5).max(2).optional(),
      emotion: z.string().optional(),
    })
    .optional(),
  pronunciation_dict_id: z.string().optional(),
});
type Text = z.infer<typeof TEXT>;
/** Ours, and that of the vendor's own SDK. */
const VERSIONS = ['2026-03-01', '2026-08-14'];
const CANCEL = z.strictObject({ context_id: z.string(), cancel: z.literal(true) });

export interface CartesiaOptions {
  clock: Clock;
  key: string;
  faults?: CartesiaServer['faults'];
  /** Text of a context came. */
  onText?: (text: string) => void;
  /** µ-law audio goes out for the text of a context; may change it. */
  onAudio?: (audio: Buffer, text: string) => void;
  tls?: Certificate;
  /** False: contexts and messages are not kept. Default: true. */
  isRecording?: boolean;
}

export async function startCartesia(options: CartesiaOptions): Promise<CartesiaServer> {
  const { clock, key } = options;
  const isRecording = options.isRecording ?? true;
  const service = await startSocketService({
    tls: options.tls,
    isRecording,
    refuse: ({ headers, url }) => {
      if (server.faults.refuse !== undefined) return server.faults.refuse;
      const given = headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /, '');
      if (given !== key) return { status: 401, body: '{"message":"Invalid API key"}' };
      if (!VERSIONS.includes(String(headers['cartesia-version']))) {
        return { status: 400, body: '{"message":"Unknown version"}' };
      }
      return url === '/tts/websocket' ? undefined : { status: 404, body: 'Not found' };
    },
    onConnection: (connection) => serve(connection),
  });
  const server: CartesiaServer = Object.assign(service, {
    faults: options.faults ?? {},
    contexts: [],
    errors: [],
    closes: [],
  });

  function serve({ socket }: ServiceConnection): void {
    const open = new Map<string, { voice: ScriptedVoice; record: CartesiaServer['contexts'][0] }>();
    const over = new Set<string>();
    socket.on('close', (code) => server.closes.push(code));
    const refuse = (id: string | undefined, words: string): void => {
      server.errors.push(words);
      send({
        type: 'error',
        ...(id !== undefined && { context_id: id }),
        status_code: 400,
        error_code: 'invalid_request',
        title: 'Invalid request',
        message: words,
        done: true,
      });
    };
    const send = (message: unknown): void => socket.send(JSON.stringify(message));
    const begin = (id: string, fields: Record<string, unknown>) => {
      const record = { id, text: '', fields, state: 'open' };
      const late: unknown[] = [];
      const voice = new ScriptedVoice({
        clock,
        format: 'ulaw8',
        faults: server.faults,
        onPiece(piece) {
          options.onAudio?.(piece.audio, record.text);
          const chunk = { type: 'chunk', data: piece.audio.toString('base64'), step_time: 1 };
          const messages = orderOf(server.faults, piece, chunk);
          for (const message of messages.now) send({ ...message, ...partOf(id) });
          late.push(...messages.late);
        },
        onFailure(failure) {
          if (failure !== 'quota') {
            socket.close(failure, 'gone');
            return;
          }
          send({
            type: 'error',
            context_id: id,
            status_code: 402,
            error_code: 'quota_exceeded',
            title: 'Out of credits',
            message: 'You have used all credits.',
          });
        },
        onDone() {
          record.state = 'done';
          open.delete(id);
          over.add(id);
          for (const times of late) send({ ...(times as object), ...partOf(id) });
          send({ type: 'flush_done', ...partOf(id), flush_done: true, flush_id: 1 });
          send({ type: 'done', context_id: id, done: true, status_code: 200 });
        },
      });
      const context = { voice, record };
      open.set(id, context);
      if (isRecording) server.contexts.push(record);
      return context;
    };
    const cancel = (id: string): void => {
      const context = open.get(id);
      if (context === undefined) return;
      context.record.state = 'cancelled';
      context.voice.stop();
      context.voice.end();
    };
    const speak = ({ transcript, continue: goesOn, context_id: id, ...fields }: Text): void => {
      if (over.has(id)) {
        refuse(id, 'Context has closed');
        return;
      }
      if (!open.has(id) && !/[\p{L}\p{N}]/u.test(transcript)) {
        refuse(id, 'Transcript is empty');
        return;
      }
      const context = open.get(id) ?? begin(id, fields);
      if (JSON.stringify(context.record.fields) !== JSON.stringify(fields)) {
        refuse(id, 'Context has closed: fields changed');
        return;
      }
      context.record.text += transcript;
      options.onText?.(context.record.text);
      context.voice.speak(transcript);
      if (!goesOn) context.voice.end();
    };
    socket.on('message', (data: Buffer) => {
      const message: unknown = JSON.parse(data.toString());
      const cancelled = CANCEL.safeParse(message);
      const text = TEXT.safeParse(message);
      if (cancelled.success) cancel(cancelled.data.context_id);
      else if (text.success) speak(text.data);
      else refuse(undefined, 'extra or wrong fields');
    });
  }
  return server;
}

type Typed = Record<string, unknown>;

function orderOf({ words = 'with' }: VoiceFaults, piece: VoicePiece, chunk: Typed) {
  const times = timesOf(piece);
  if (words === 'never' || piece.words.length === 0) return { now: [chunk], late: [] };
  if (words === 'after') return { now: [chunk], late: [times] };
  return { now: words === 'before' ? [times, chunk] : [chunk, times], late: [] };
}

const partOf = (id: string) => ({ context_id: id, status_code: 206, done: false });

/** Seconds from the begin of the context. */
function timesOf({ words }: VoicePiece): Typed {
  return {
    type: 'timestamps',
    word_timestamps: {
      words: words.map(({ word }) => word),
      start: words.map(({ startMs }) => startMs / 1_000),
      end: words.map(({ endMs }) => endMs / 1_000),
    },
  };
}
