// Gladia's live recogniser, from its reference: a POST opens a session and answers with the address of its websocket, which
// takes no key. Unknown fields of the request are refused, unknown messages end the session.

import type { HeardWord } from '../call/spoken-words.ts';
import type { Refusal } from '../services/service-socket.ts';
import type { Protocol, SttSession } from '../services/stt-server.ts';
import { type Message, Recognizing, seconds, textOf } from './recognizing.ts';

/** All fields of the request that a client here may send, with the type or the values of each. */
const FIELDS: Record<string, unknown> = {
  encoding: 'wav/ulaw',
  bit_depth: 8,
  sample_rate: 8_000,
  channels: 1,
  model: 'solaria-1',
  endpointing: 0.3,
  language_config: { languages: [String], code_switching: false },
  realtime_processing: {
    custom_vocabulary: true,
    custom_vocabulary_config: { vocabulary: [String] },
  },
  messages_config: {
    receive_partial_transcripts: true,
    receive_final_transcripts: true,
    receive_speech_events: false,
    receive_acknowledgments: Boolean,
    receive_lifecycle_events: Boolean,
  },
};
const HEAD = { session_id: 's', created_at: '2026-11-01T00:00:00.000Z' };
const OPTIONAL = ['realtime_processing', 'receive_lifecycle_events'];

/** Messages that a client asks for. */
interface Wanted {
  acknowledgments: boolean;
  lifecycle: boolean;
}

class Gladia extends Recognizing {
  #count = 0;
  #bytes = 0;
  readonly #wants: Wanted;

  constructor(session: SttSession, wants: Wanted) {
    super(session);
    this.#wants = wants;
  }

  override audio(words: readonly HeardWord[]): void {
    super.audio(words);
    const from = this.#bytes;
    this.#bytes = this.session.audioBytes;
    const seconds = [from / 8_000, this.#bytes / 8_000];
    this.#acknowledge('audio_chunk', { byte_range: [from, this.#bytes], time_range: seconds });
  }

  #acknowledge(type: string, data: Message): void {
    if (!this.#wants.acknowledgments) return;
    this.session.send({ type, ...HEAD, acknowledged: true, error: null, data });
  }

  #send(words: readonly HeardWord[], isFinal: boolean): void {
    const [first, last] = [words[0], words.at(-1)];
    const utterance = {
      text: textOf(words),
      language: 'en',
      channel: 0,
      confidence: 0.9,

      start: (first?.startMs ?? 0) / 1_000,
      end: (last?.endMs ?? 0) / 1_000,
      words: seconds(words).map((word) => ({ ...word, confidence: 0.9 })),
    };
    const data = { id: `u${this.#count}`, is_final: isFinal, utterance };
    if (isFinal) this.#count += 1;
    this.session.send({ type: 'transcript', ...HEAD, data });
  }

  protected override partial(): void {
    this.#send(this.session.interim(this.words), false);
  }

  protected override silence(): void {
    this.answer((words) => this.#send(words, true));
  }

  message(message: Message): void {
    const { type, data } = message;
    if (type === 'stop_recording' && data === undefined) {
      const seconds = this.#bytes / 8_000;
      this.#acknowledge(type, { recording_duration: seconds, recording_left_to_process: 0 });
      if (this.words.length > 0) this.#send(this.words.splice(0), true);
      if (this.#wants.lifecycle) {
        const data = { recording_duration: seconds };
        this.session.send({ type: 'end_recording', ...HEAD, data });
        this.session.send({ type: 'end_session', ...HEAD });
      }
      this.session.close(1000);
      return;
    }
    const isChunk = type === 'audio_chunk' && JSON.stringify(data) === '{"chunk":""}';
    if (!isChunk) this.unknown(message);
  }
}

export function gladiaProtocol(key: string): Protocol {
  const tokens = new Map<string, Wanted>();
  let count = 0;
  return {
    post(request, url, { body, origin }) {
      if (url.pathname !== '/v2/live') return { status: 404, body: '{}' };
      if (request.headers['x-gladia-key'] !== key) {
        return refusal(401, { message: 'gladia key not found' });
      }
      const region = url.searchParams.get('region') ?? 'eu-west';
      const problem = ['eu-west', 'us-west'].includes(region) ? problemIn(body, FIELDS) : 'region';
      if (problem !== undefined) {
        return refusal(422, { message: 'Unprocessable', validation_errors: [problem] });
      }
      count += 1;
      const token = `token-0123456789-${count}`;
      const { messages_config: config } = body as { messages_config: Message };
      tokens.set(token, {
        acknowledgments: config['receive_acknowledgments'] === true,
        lifecycle: config['receive_lifecycle_events'] === true,
      });
      const answer = {
        id: `s${count}`,
        created_at: 'now',
        url: `${origin}/v2/live?token=${token}`,
      };
      const headers = { 'content-type': 'application/json' };
      return { status: 201, body: JSON.stringify(answer), headers };
    },
    check({ headers }, { pathname, searchParams }) {
      if (pathname !== '/v2/live') return { status: 404, body: '{}' };
      if (headers['x-gladia-key'] !== undefined) return refusal(400, { message: 'no key here' });
      const isKnown = tokens.has(searchParams.get('token') ?? '');
      return isKnown ? undefined : refusal(401, { message: 'unknown token' });
    },
    open: (session) => {
      const none = { acknowledgments: false, lifecycle: false };
      return new Gladia(session, tokens.get(session.url.searchParams.get('token') ?? '') ?? none);
    },
  };
}

/** The first field that is not as it must be. */
function problemIn(value: unknown, expected: unknown, name = ''): string | undefined {
  if (typeof expected === 'function') {
    return typeof value === expected.name.toLowerCase() ? undefined : name;
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(value)) return name;
    return value.map((each) => problemIn(each, expected[0], name)).find((each) => each);
  }
  if (typeof expected !== 'object' || expected === null)
    return value === expected ? undefined : name;
  if (typeof value !== 'object' || value === null) return name;
  const unknown = Object.keys(value).find((field) => !Object.hasOwn(expected, field));
  if (unknown !== undefined) return `${name}${unknown}: unknown`;
  const wanted = Object.entries(expected).filter(
    ([field]) => Object.hasOwn(value, field) || !OPTIONAL.includes(field),
  );
  return wanted
    .map(([field, each]) => problemIn((value as Message)[field], each, `${name}${field}.`))
    .find((each) => each);
}

function refusal(statusCode: number, body: Message): Refusal {
  return { status: statusCode, body: JSON.stringify({ statusCode, ...body }) };
}
