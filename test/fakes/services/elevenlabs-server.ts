// ElevenLabs' multi-context websocket and its HTTP request, strict: unknown fields, a wrong key, a first message without
// voice_settings and a sixth context end the connection as the service ends it. Records everything.
// Written from the vendor's API reference (November 2026).

import { z } from 'zod';
import type { Clock } from '../../../src/std/clock.ts';
import { ScriptedVoice, type VoiceFaults, type VoicePiece } from '../call/scripted-voice.ts';
import {
  type ServiceConnection,
  type SocketService,
  startSocketService,
} from './service-socket.ts';

export interface ElevenLabsFaults extends VoiceFaults {
  /** HTTP requests are refused as for a used-up account. */
  isUsedUp?: boolean;
  refuse?: { status: number; body: string };
}

export interface ElevenLabsServer extends SocketService {
  faults: ElevenLabsFaults;
  /** The texts of finished, failed or cancelled contexts and open ones, in order of their begin. */
  contexts: { id: string; text: string; state: 'open' | 'closing' | 'done' }[];
  /** Most contexts that one connection had at a time. */
  contextsMost: number;
  probes: number;
  errors: string[];
  /** Close codes of the client. */
  closes: number[];
}

const CONTEXTS_MAX = 5;
const QUERY = z.strictObject({
  model_id: z.string(),
  output_format: z.literal('ulaw_8000'),
  auto_mode: z.literal('true').optional(),
  sync_alignment: z.literal('true').optional(),
  inactivity_timeout: z.coerce.number().int().min(1).max(180).optional(),
  apply_text_normalization: z.enum(['auto', 'on', 'off']).optional(),
  language_code: z.string().length(2).optional(),
});
const voiceSettings = z.strictObject({
  stability: z.number().min(0).max(1),
  similarity_boost: z.number().min(0).max(1),
  style: z.number().min(0).max(1),
  use_speaker_boost: z.boolean(),
  speed: z.number().min(0.7).max(1.2),
});
const MESSAGE = z.strictObject({
  context_id: z.string(),
  text: z.string().optional(),
  voice_settings: voiceSettings.optional(),
  flush: z.boolean().optional(),
  close_context: z.literal(true).optional(),
});

export async function startElevenLabs(options: {
  clock: Clock;
  key: string;
  faults?: ElevenLabsFaults;
}): Promise<ElevenLabsServer> {
  const { clock, key } = options;
  const service = await startSocketService({
    refuse: ({ headers, url }) => {
      if (server.faults.refuse !== undefined) return server.faults.refuse;
      if (headers['xi-api-key'] !== key) {
        return refusal(401, 'invalid_api_key', 'Invalid API key');
      }
      const { pathname, searchParams } = new URL(url ?? '', 'http://fake');
      const voice = /^\/v1\/text-to-speech\/([A-Za-z0-9]+)\/multi-stream-input$/.exec(
        pathname,
      )?.[1];
      if (voice === undefined) return refusal(404, 'not_found', 'No such path');
      const query = QUERY.safeParse(Object.fromEntries(searchParams));
      if (!query.success) return refusal(400, 'invalid_parameters', query.error.message);
      return undefined;
    },
    onRequest(request, response) {
      server.probes++;
      request.resume();
      const answer =
        server.faults.isUsedUp === true
          ? refusal(401, 'quota_exceeded', 'This request exceeds your quota of 10000.')
          : undefined;
      if (request.headers['xi-api-key'] !== key) {
        response.writeHead(401).end(refusal(401, 'invalid_api_key', 'Invalid API key').body);
      } else response.writeHead(answer?.status ?? 200).end(answer?.body ?? Buffer.alloc(800, 0x80));
    },
    onConnection: (connection) => serve(connection),
  });
  const server: ElevenLabsServer = Object.assign(service, {
    faults: options.faults ?? {},
    contexts: [],
    contextsMost: 0,
    probes: 0,
    errors: [],
    closes: [],
  });

  function serve({ socket }: ServiceConnection): void {
    const open = new Map<string, Context>();
    /** Ended by the service without having been asked: text for it may be on its way. */
    const over = new Set<string>();
    socket.on('close', (code) => server.closes.push(code));
    const refuse = (words: string): void => {
      server.errors.push(words);
      const [error = ''] = words.split(':');
      socket.send(JSON.stringify({ message: words, error, code: 1008 }));
      socket.close(1008, words.slice(0, 120));
    };
    const finish = (id: string): void => {
      const context = open.get(id);
      if (context === undefined) return;
      if (context.record.state === 'open') over.add(id);
      context.record.state = 'done';
      open.delete(id);
      socket.send(JSON.stringify({ contextId: id, isFinal: true }));
    };
    const begin = (message: z.infer<typeof MESSAGE>): void => {
      const id = message.context_id;
      if (message.voice_settings === undefined || message.text !== ' ') {
        refuse('policy_violation: voice_settings field must be provided in the first message');
        return;
      }
      if (open.size >= CONTEXTS_MAX) {
        refuse('max_active_conversations: Maximum simultaneous contexts exceeded (5).');
        return;
      }
      const context = new Context(id, { server, clock, socket, finish: () => finish(id) });
      open.set(id, context);
      server.contexts.push(context.record);
      server.contextsMost = Math.max(server.contextsMost, open.size);
    };
    const speak = (context: Context, text: string): void => {
      if (text === '') return;
      if (!text.endsWith(' ')) refuse('invalid_text: no space at the end');
      else context.speak(text);
    };
    socket.on('message', (data: Buffer) => {
      const parsed = MESSAGE.safeParse(JSON.parse(data.toString()));
      if (!parsed.success) {
        refuse('invalid_message: extra or wrong fields');
        return;
      }
      const { context_id: id, close_context: isClose, text = '' } = parsed.data;
      const context = open.get(id);
      if (isClose === true) context?.close();
      else if (over.has(id)) return;
      else if (context === undefined) begin(parsed.data);
      else speak(context, text);
    });
  }
  return server;
}

interface ContextMeans {
  server: ElevenLabsServer;
  clock: Clock;
  socket: ServiceConnection['socket'];
  finish(): void;
}

class Context {
  readonly record: ElevenLabsServer['contexts'][number];
  readonly #means: ContextMeans;
  readonly #voice: ScriptedVoice;
  #hasAudio = false;

  constructor(id: string, means: ContextMeans) {
    this.record = { id, text: '', state: 'open' };
    this.#means = means;
    const { server, socket, clock } = means;
    this.#voice = new ScriptedVoice({
      clock,
      format: 'ulaw8',
      faults: server.faults,
      onPiece: (piece) => {
        this.#hasAudio = true;
        this.#send(piece);
      },
      onFailure(failure) {
        if (failure !== 'quota') {
          socket.close(failure, 'gone');
          return;
        }
        const message = 'This request exceeds your quota of 10000.';
        socket.send(JSON.stringify({ message, error: 'quota_exceeded', code: 1008 }));
        socket.close(1008, message);
      },
      onDone: means.finish,
    });
  }

  speak(text: string): void {
    this.record.text += text;
    if (this.record.state === 'open') this.#voice.speak(text);
    if (this.#means.server.faults.doneWithoutAudio === true) this.#means.finish();
  }

  /** What was begun is spoken to its end; without audio the context ends without any. */
  close(): void {
    this.record.state = 'closing';
    if (this.#hasAudio) this.#voice.end();
    else this.#means.finish();
  }

  #send(piece: VoicePiece): void {
    const { socket, server } = this.#means;
    const alignment = alignmentOf(piece, server.faults);
    const audio = piece.audio.toString('base64');
    const { id: contextId } = this.record;
    socket.send(JSON.stringify({ audio, contextId, alignment, normalizedAlignment: null }));
  }
}

/** Times are relative to the piece. */
function alignmentOf({ characters, fromMs }: VoicePiece, { words }: VoiceFaults) {
  if (words === 'never') return null;
  return {
    chars: characters.map(({ text }) => text),
    charStartTimesMs: characters.map(({ startMs }) => startMs - fromMs),
    charDurationsMs: characters.map(() => 60),
  };
}

function refusal(status: number, code: string, message: string) {
  return { status, body: JSON.stringify({ detail: { status: code, message } }) };
}
