// AssemblyAI's universal streaming, as strict as it is: unknown parameters, a wrong key, packets of another length and
// audio that comes too fast end the session with its codes. The words are those of the audio (fakes/call/spoken-words.ts).

import type { IncomingMessage } from 'node:http';
import type { HeardWord } from '../call/spoken-words.ts';
import type { Refusal } from './service-socket.ts';
import {
  type SessionHandler,
  type SttServer,
  type SttServerOptions,
  type SttSession,
  startSttServer,
} from './stt-server.ts';

const PARAMETERS = new Set([
  ...['sample_rate', 'encoding', 'speech_model', 'format_turns', 'inactivity_timeout'],
  ...['end_of_turn_confidence_threshold', 'min_turn_silence', 'max_turn_silence'],
  ...['keyterms_prompt', 'language_code', 'prompt', 'agent_context', 'vad_threshold'],
  'language_codes',
]);
const UPDATES = new Set([
  ...['type', 'keyterms_prompt', 'agent_context', 'prompt', 'min_turn_silence'],
  ...['max_turn_silence', 'end_of_turn_confidence_threshold'],
]);
const END_MS = 400;
const AGENT_CHARACTERS_MAX = 1_500;
const PACKET_BYTES = { min: 400, max: 8_000 };
/** Audio may be ahead of the clock by so much, and faster by this share. */
const AHEAD_MS = 3_000;
const SPEED_MAX = 2;

export function startAssemblyAiServer(options: SttServerOptions): Promise<SttServer> {
  return startSttServer(options, {
    check: (request, url) => check(options.key, request, url),
    open: (session) => new AssemblyAi(session),
  });
}

function check(key: string, { headers }: IncomingMessage, url: URL): Refusal | undefined {
  if (url.pathname !== '/v3/ws') return { status: 404, body: '{"error":"Not found"}' };
  if (headers.authorization !== key) return { status: 401, body: '{"error":"Not authorized"}' };
  return undefined;
}

class AssemblyAi implements SessionHandler {
  readonly #session: SttSession;
  readonly #formats: 'always' | 'twice' | 'never';
  readonly #openedAt: number;
  #order = 0;
  #words: HeardWord[] = [];
  #hasBegun = false;
  /** Half of the silence that ends a turn has passed. */
  #isSure = false;

  constructor(session: SttSession) {
    this.#session = session;
    this.#openedAt = session.clock.monotonicMs();
    const { searchParams } = session.url;
    const isUniversal = (searchParams.get('speech_model') ?? '').startsWith('universal-streaming');
    const isFormatted = searchParams.get('format_turns') === 'true';
    this.#formats = isUniversal ? (isFormatted ? 'twice' : 'never') : 'always';
    const unknown = [...searchParams.keys()].find((name) => !PARAMETERS.has(name));
    if (unknown !== undefined) this.#refuse(3006, `Unknown parameter: ${unknown}`);
    else if (searchParams.get('encoding') !== 'pcm_mulaw') this.#refuse(4034, 'Bad encoding');
    else if (searchParams.get('sample_rate') !== '8000') this.#refuse(4000, 'Bad rate');
    else if (!isUniversal && searchParams.has('format_turns')) this.#refuse(3006, 'format_turns');
    else this.#ready();
  }

  audio(words: readonly HeardWord[], bytes: number): void {
    const { clock, audioMs, finder } = this.#session;
    if (!this.#hasBegun) this.#session.violates('audio before Begin', 4010);
    if (bytes < PACKET_BYTES.min || bytes > PACKET_BYTES.max) {
      this.#session.violates(`a packet of ${bytes} bytes`, 3007);
    }
    const elapsedMs = clock.monotonicMs() - this.#openedAt;
    if (audioMs > elapsedMs * SPEED_MAX + AHEAD_MS) this.#session.violates('too fast', 4029);
    this.#words.push(...words);
    if (words.length > 0) {
      this.#isSure = false;
      this.#session.send(this.#message({ end_of_turn: false, turn_is_formatted: false }));
    } else if (this.#words.length > 0 && !this.#isSure && finder.silenceMs >= END_MS / 2) {
      this.#isSure = true;
      this.#session.send(this.#message({ end_of_turn: false, turn_is_formatted: false }));
    } else if (this.#words.length > 0 && finder.silenceMs >= END_MS) {
      this.#end(false);
    }
  }

  message(message: Record<string, unknown>): void {
    const { closeOnFinalize } = this.#session.faults;
    switch (message['type']) {
      case 'KeepAlive':
        break;
      case 'ForceEndpoint':
        if (closeOnFinalize !== undefined) this.#session.close(closeOnFinalize);
        else if (this.#words.length > 0) this.#end(true);
        break;
      case 'UpdateConfiguration': {
        const isKnown = Object.keys(message).every((name) => UPDATES.has(name));
        if (!isKnown) this.#session.violates('unknown setting', 3006);
        if (String(message['agent_context'] ?? '').length > AGENT_CHARACTERS_MAX) {
          this.#session.violates('agent_context too long', 3006);
        }
        break;
      }
      case 'Terminate':
        this.#session.send({
          type: 'Termination',
          audio_duration_seconds: this.#session.audioMs / 1_000,
          session_duration_seconds: (this.#session.clock.monotonicMs() - this.#openedAt) / 1_000,
        });
        this.#session.close(1000);
        break;
      default:
        this.#session.violates(`unknown message ${message['type']}`, 3006);
    }
  }

  expired(): void {
    this.#session.close(3008, 'Session expired');
  }

  #ready(): void {
    const { ready } = this.#session.faults;
    if (ready === 'never') return;
    const begin = () => {
      this.#hasBegun = true;
      this.#session.send({ type: 'Begin', id: 's-1', expires_at: 1_795_350_000 });
    };
    if (ready === 'late') this.#session.clock.after(1_000, begin);
    else begin();
  }

  #refuse(code: number, error: string): void {
    this.#session.send({ type: 'Error', error_code: code, error });
    this.#session.close(code, error);
  }

  #end(isForced: boolean): void {
    const isFormatted = this.#formats === 'always';
    const first = this.#message({ end_of_turn: true, turn_is_formatted: isFormatted });
    const second = this.#message({ end_of_turn: true, turn_is_formatted: true });
    const empty = { ...second, transcript: '', words: [] };
    this.#words = [];
    this.#isSure = false;
    this.#order += 1;
    if (isForced) this.#session.sendFinal(first, empty);
    else this.#session.inTurn(() => this.#session.send(first));
    if (this.#formats === 'twice') this.#session.send(second);
  }

  #message(flags: { end_of_turn: boolean; turn_is_formatted: boolean }): Record<string, unknown> {
    const words = flags.end_of_turn ? this.#words : this.#session.interim(this.#words);
    const text = words.map(({ word }) => word).join(' ');
    return {
      type: 'Turn',
      turn_order: this.#order,
      transcript: flags.turn_is_formatted ? `${text}.` : text,
      end_of_turn_confidence: flags.end_of_turn ? 0.9 : this.#isSure ? 0.5 : 0.1,
      words: words.map(({ word, startMs, endMs }) => ({
        text: word,
        start: startMs,
        end: endMs,
        confidence: 0.98,
        word_is_final: true,
      })),
      language_code: 'en',
      ...flags,
    };
  }
}
