// Deepgram's two streaming interfaces, as strict as they are: unknown parameters, a wrong key and messages of the other
// interface are refused. The words are those of the audio (fakes/call/spoken-words.ts).

import type { IncomingMessage } from 'node:http';
import type { Timer } from '../../../src/std/clock.ts';
import type { HeardWord } from '../call/spoken-words.ts';
import type { Refusal } from './service-socket.ts';
import {
  type SessionHandler,
  type SttServer,
  type SttServerOptions,
  type SttSession,
  startSttServer,
} from './stt-server.ts';

const V1 = new Set([
  ...['model', 'encoding', 'sample_rate', 'channels', 'interim_results', 'punctuate'],
  ...['smart_format', 'numerals', 'endpointing', 'vad_events', 'mip_opt_out', 'language'],
  ...['profanity_filter', 'keyterm', 'keywords', 'tag', 'utterance_end_ms', 'redact'],
]);
const V2 = new Set([
  ...['model', 'encoding', 'sample_rate', 'eot_threshold', 'eager_eot_threshold'],
  ...['eot_timeout_ms', 'keyterm', 'language_hint', 'profanity_filter', 'numerals', 'redact'],
  ...['mip_opt_out', 'tag'],
]);
const IDLE_MS_MAX = 10_000;
/** A segment of so many words is fixed without a pause. */
const SEGMENT_WORDS = 4;
const MODEL = { name: 'general-nova-3', version: '2026-10-01.0', arch: 'nova-3' };
const METADATA = {
  transaction_key: 'deprecated',
  request_id: 'r-1',
  sha256: '0'.repeat(64),
  created: '2026-11-01T00:00:00.000Z',
};

export function startDeepgramServer(options: SttServerOptions): Promise<SttServer> {
  return startSttServer(options, {
    check: (request, url) => check(options.key, request, url),
    open: (session) =>
      session.url.pathname === '/v2/listen' ? new Flux(session) : new Nova(session),
  });
}

function check(key: string, { headers }: IncomingMessage, url: URL): Refusal | undefined {
  const { authorization = '' } = headers;
  if (![`Token ${key}`, `Bearer ${key}`].includes(authorization)) {
    return refusal(401, 'INVALID_AUTH', 'Invalid credentials.');
  }
  const known = url.pathname === '/v2/listen' ? V2 : V1;
  const model = url.searchParams.get('model') ?? '';
  if (!['/v1/listen', '/v2/listen'].includes(url.pathname) || model === '') {
    return refusal(404, 'NOT_FOUND', 'No such resource.');
  }
  if (model.startsWith('flux') !== (known === V2)) {
    return refusal(400, 'INVALID_MODEL', `No such model: ${model}`);
  }
  const unknown = [...url.searchParams.keys()].find((name) => !known.has(name));
  if (unknown !== undefined) return refusal(400, 'Bad Request', `Unknown parameter: ${unknown}`);
  const isUlaw = url.searchParams.get('encoding') === 'mulaw';
  if (!isUlaw || url.searchParams.get('sample_rate') !== '8000') {
    return refusal(400, 'Bad Request', 'The fake takes µ-law at 8 kHz alone.');
  }
  if (url.searchParams.has('keywords') && model.startsWith('nova-3')) {
    return refusal(400, 'Bad Request', 'Keywords are not supported for Nova-3.');
  }
  return undefined;
}

function refusal(status: number, code: string, message: string): Refusal {
  const body = { err_code: code, err_msg: message, request_id: 'r-1' };
  return { status, body: JSON.stringify(body), headers: { 'dg-error': message } };
}

class Nova implements SessionHandler {
  readonly #session: SttSession;
  readonly #endpointingMs: number;
  #words: HeardWord[] = [];
  /** Where the segment begins. */
  #fixedMs = 0;
  #interimAtMs = 0;
  /** There was audio since the last final. */
  #hasAudio = false;
  #hasSpoken = false;
  #idle: Timer | undefined;

  constructor(session: SttSession) {
    this.#session = session;
    this.#endpointingMs = Number(session.url.searchParams.get('endpointing') ?? 10);
    this.#awaitInput();
  }

  audio(words: readonly HeardWord[]): void {
    this.#awaitInput();
    this.#hasAudio = true;
    this.#words.push(...words);
    if (words.length > 0) this.#hasSpoken = true;
    const { audioMs, finder } = this.#session;
    if (this.#words.length >= SEGMENT_WORDS) {
      this.#final({ speech_final: false });
    } else if (this.#hasSpoken && finder.silenceMs >= this.#endpointingMs) {
      this.#hasSpoken = false;
      this.#final({ speech_final: true });
    } else if (words.length > 0 || audioMs - this.#interimAtMs >= 1_000) {
      this.#interimAtMs = audioMs;
      this.#session.send(this.#results({ is_final: false }));
    }
  }

  message(message: Record<string, unknown>): void {
    this.#awaitInput();
    const { closeOnFinalize } = this.#session.faults;
    switch (message['type']) {
      case 'KeepAlive':
        break;
      case 'Finalize':
        if (closeOnFinalize !== undefined) this.#session.close(closeOnFinalize);
        else if (this.#hasAudio) this.#finalize();
        break;
      case 'CloseStream':
        this.#session.send({
          type: 'Metadata',
          ...METADATA,
          channels: 1,
          duration: this.#session.audioMs / 1_000,
        });
        this.#idle?.cancel();
        this.#session.close(1000);
        break;
      default:
        this.#session.violates(`unknown message ${message['type']}`, 1008);
    }
  }

  expired(): void {
    this.#session.close(1011, 'NET-0000');
  }

  #finalize(): void {
    this.#hasSpoken = false;
    this.#final({ from_finalize: true, speech_final: true });
  }

  #final(flags: Record<string, unknown>): void {
    const message = this.#results({ is_final: true, ...flags });
    this.#words = [];
    const empty = this.#results({ is_final: true, ...flags });
    this.#fixedMs = this.#session.audioMs;
    this.#hasAudio = false;
    if (flags['from_finalize'] === true) this.#session.sendFinal(message, empty);
    else this.#session.inTurn(() => this.#session.send(message));
  }

  #results(flags: Record<string, unknown>): Record<string, unknown> {
    const isFinal = flags['is_final'] === true;
    const given = isFinal ? this.#words : this.#session.interim(this.#words);
    const words = given.map(({ word, startMs, endMs }) => ({
      word,
      punctuated_word: word,
      start: startMs / 1_000,
      end: endMs / 1_000,
      confidence: 0.98,
    }));
    const transcript = words.map(({ word }) => word).join(' ');
    return {
      type: 'Results',
      channel_index: [0, 1],
      start: this.#fixedMs / 1_000,
      duration: (this.#session.audioMs - this.#fixedMs) / 1_000,
      channel: { alternatives: [{ transcript, confidence: 0.98, languages: ['en'], words }] },
      metadata: { request_id: 'r-1', model_uuid: 'm-1', model_info: MODEL },
      ...flags,
    };
  }

  #awaitInput(): void {
    this.#idle?.cancel();
    this.#idle = this.#session.clock.after(IDLE_MS_MAX, () => {
      if (this.#session.isOpen) this.#session.close(1011, 'NET-0001');
    });
  }
}

const EAGER_MS = 300;
const END_MS = 500;
const UPDATE_MS = 240;

class Flux implements SessionHandler {
  readonly #session: SttSession;
  readonly #hasEager: boolean;
  readonly #thresholds: Record<string, number> = {};
  /** Number of the next message; the first has 0. */
  #sequence = 0;
  #turn = 0;
  #words: HeardWord[] = [];
  #isOpen = false;
  #isEager = false;
  #updatedMs = 0;
  #isReady = false;
  #isConfiguring = false;

  constructor(session: SttSession) {
    this.#session = session;
    const { searchParams } = session.url;
    this.#hasEager = searchParams.has('eager_eot_threshold');
    this.#thresholds['eot_threshold'] = Number(searchParams.get('eot_threshold') ?? 0.7);
    const { ready } = session.faults;
    if (ready === 'never') return;
    if (ready === 'late') session.clock.after(1_000, () => this.#connected());
    else this.#connected();
  }

  audio(words: readonly HeardWord[]): void {
    if (!this.#isReady) {
      this.#session.violates('audio before Connected', 1008);
      return;
    }
    const { audioMs, finder } = this.#session;
    this.#words.push(...words);
    if (words.length > 0) this.#spoken();
    else if (this.#isOpen && this.#thresholds['eot_threshold'] !== 1 && finder.silenceMs >= END_MS)
      this.#end('model');
    else if (this.#isOpen && this.#hasEager && !this.#isEager && finder.silenceMs >= EAGER_MS) {
      this.#isEager = true;
      this.#info('EagerEndOfTurn');
    } else if (audioMs - this.#updatedMs >= UPDATE_MS) this.#info('Update');
  }

  message(message: Record<string, unknown>): void {
    const { closeOnFinalize } = this.#session.faults;
    switch (message['type']) {
      case 'Configure':
        this.#configure(message);
        break;
      case 'ForceEndTurn':
        if (closeOnFinalize !== undefined) this.#session.close(closeOnFinalize);
        else if (this.#isOpen) this.#end('manual');
        else this.#send({ type: 'Warning', code: 'FORCE_END_TURN_NO_ACTIVE_TURN' });
        break;
      case 'CloseStream':
        this.#close();
        break;
      default:
        this.#session.violates(`unknown message ${message['type']}`, 1008);
    }
  }

  expired(): void {
    this.#session.close(1011, 'NET-0000');
  }

  /** The words of the open turn come in an Update; nothing ends the turn. The close has no code. */
  #close(): void {
    if (this.#isOpen) this.#session.send(this.#turnInfo('Update', this.#words));
    this.#session.close(1005);
  }

  #connected(): void {
    this.#isReady = true;
    this.#send({ type: 'Connected', request_id: 'r-2' });
  }

  #spoken(): void {
    if (this.#isEager) {
      this.#isEager = false;
      this.#info('TurnResumed');
    }
    this.#info(this.#isOpen ? 'Update' : 'StartOfTurn');
    this.#isOpen = true;
  }

  #end(trigger: string): void {
    const message = { ...this.#turnInfo('EndOfTurn', this.#words), trigger };
    const empty = { ...message, transcript: '', words: [] };
    this.#words = [];
    this.#isOpen = false;
    this.#isEager = false;
    this.#turn += 1;
    if (trigger === 'manual') this.#session.sendFinal(message, empty);
    else this.#session.inTurn(() => this.#session.send(message));
  }

  #configure(message: Record<string, unknown>): void {
    if (this.#isConfiguring) {
      this.#session.violates('Configure while one is in flight', 1008);
      return;
    }
    this.#isConfiguring = true;
    const names = Object.keys(message).filter((name) => name !== 'type');
    const known = ['thresholds', 'keyterms', 'language_hints', 'numerals'];
    const isKnown = names.every((name) => known.includes(name));
    Object.assign(this.#thresholds, message['thresholds']);
    const thresholds = { ...this.#thresholds };
    const keyterms = message['keyterms'] ?? [];
    this.#session.clock.after(50, () => {
      this.#isConfiguring = false;
      const request = { request_id: 'r-2' };
      if (isKnown) this.#send({ type: 'ConfigureSuccess', ...request, thresholds, keyterms });
      else this.#send({ type: 'ConfigureFailure', ...request });
    });
  }

  #info(event: string): void {
    this.#updatedMs = this.#session.audioMs;
    const words = event === 'Update' ? this.#session.interim(this.#words) : this.#words;
    this.#session.send(this.#turnInfo(event, words));
  }

  #turnInfo(event: string, words: readonly HeardWord[]): Record<string, unknown> {
    return {
      type: 'TurnInfo',
      request_id: 'r-2',
      sequence_id: this.#sequence++,
      event,
      turn_index: this.#turn,
      audio_window_start: 0,
      audio_window_end: this.#session.audioMs / 1_000,
      transcript: words.map(({ word }) => word).join(' '),
      words: words.map(({ word, startMs, endMs }) => ({
        word,
        confidence: 0.97,
        start: startMs / 1_000,
        end: endMs / 1_000,
      })),
      end_of_turn_confidence: event === 'EndOfTurn' ? 0.83 : 0.12,
    };
  }

  #send(message: Record<string, unknown>): void {
    this.#session.send({ ...message, sequence_id: this.#sequence++ });
  }
}
