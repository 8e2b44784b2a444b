// Messages of ElevenLabs' multi-context websocket: one context for each utterance, audio as base64, times for each
// character. Source: ElevenLabs API reference, multi-stream-input (November 2026).

import { isObject } from '../../../std/json.ts';
import { beginsWord } from '../../../std/text/unspaced-text.ts';
import type { FaultKind } from '../../service/service-fault.ts';
import type {
  ContextAnswer,
  ContextMessages,
  ContextProtocol,
  ReportedFault,
} from '../../tts/streaming/context-connection.ts';
import type { WordTiming } from '../../tts/tts.ts';

export interface ElevenLabsVoiceSettings {
  stability: number;
  similarity_boost: number;
  style: number;
  use_speaker_boost: boolean;
  speed: number;
}

type Message = Record<string, unknown>;

/** The service closes the socket at six contexts. One is spare for a context that only the service still counts. */
const CONTEXTS_MAX = 4;
/** The service closes an idle context after 20 s by default, after 180 s with our parameters. */
const KEEPALIVE_MS = 15_000;
/** Bytes of one millisecond, µ-law at 8 kHz. */
const BYTES_PER_MS = 8;
/** Longest word. A longer run without a space is no word. */
const WORD_CHARACTERS_MAX = 200;

export function elevenLabsContexts(
  voiceSettings: ElevenLabsVoiceSettings,
  explainSilence: ContextProtocol['explainSilence'],
): ContextProtocol {
  return {
    contextsMax: CONTEXTS_MAX,
    keepalive: {
      afterMs: KEEPALIVE_MS,
      message: (id) => JSON.stringify({ text: '', context_id: id }),
    },
    begin: (id) => new ElevenLabsContext(id, voiceSettings),
    idOf(message) {
      const id = message['contextId'] ?? message['context_id'];
      return typeof id === 'string' ? id : undefined;
    },
    faultOf,
    ...(explainSilence !== undefined && { explainSilence }),
  };
}

class ElevenLabsContext implements ContextMessages {
  readonly #id: string;
  readonly #voiceSettings: ElevenLabsVoiceSettings;
  readonly #words = new WordsOfCharacters();
  #audioBytes = 0;
  #isBegun = false;
  #isEnded = false;

  constructor(id: string, voiceSettings: ElevenLabsVoiceSettings) {
    this.#id = id;
    this.#voiceSettings = voiceSettings;
  }

  text(text: string): string[] {
    const piece = this.#message({ text, flush: false });
    if (this.#isBegun) return [piece];
    this.#isBegun = true;
    // The first message of a context has only the settings: the service refuses a context that begins with text.
    return [this.#message({ text: ' ', voice_settings: this.#voiceSettings }), piece];
  }

  flush(): string[] {
    return [this.#message({ flush: true })];
  }

  /** Deferred until the first audio: closing a context earlier ends it without audio. */
  end(): string[] {
    this.#isEnded = true;
    return this.#audioBytes > 0 ? [...this.flush(), this.#close()] : this.flush();
  }

  afterFirstAudio(): string[] {
    return this.#isEnded ? [this.#close()] : [];
  }

  cancel(): string[] {
    return [this.#close()];
  }

  read(message: Message): ContextAnswer {
    const encoded = message['audio'];
    const audio = typeof encoded === 'string' ? Buffer.from(encoded, 'base64') : undefined;
    // Times are relative to the audio of their message.
    const words = this.#words.push(message['alignment'], this.#audioBytes / BYTES_PER_MS);
    this.#audioBytes += audio?.length ?? 0;
    const isDone = message['isFinal'] === true || message['is_final'] === true;
    return { audio, words: isDone ? [...words, ...this.#words.end()] : words, isDone };
  }

  #close(): string {
    return this.#message({ close_context: true });
  }

  #message(fields: Message): string {
    return JSON.stringify({ ...fields, context_id: this.#id });
  }
}

/** Assembles words from characters with times. A word may span messages. In scripts without spaces, each letter is a
 *  word. */
class WordsOfCharacters {
  #word: WordTiming | undefined;

  /** Returns the complete words. */
  push(alignment: unknown, offsetMs: number): WordTiming[] {
    if (!isObject(alignment)) return [];
    const characters = listIn(alignment, 'chars', 'characters');
    const starts = listIn(alignment, 'charStartTimesMs', 'char_start_times_ms');
    const lengths = listIn(alignment, 'charDurationsMs', 'char_durations_ms');
    const words: WordTiming[] = [];
    for (const [at, character] of characters.entries()) {
      const startMs = Number(starts[at]) + offsetMs;
      const endMs = startMs + Number(lengths[at] ?? 0);
      if (typeof character !== 'string' || !Number.isFinite(endMs)) continue;
      if (beginsWord(this.#word?.word ?? '', character)) words.push(...this.end());
      if (character.trim() !== '') this.#extend(character, startMs, endMs);
    }
    return words;
  }

  end(): WordTiming[] {
    const word = this.#word;
    this.#word = undefined;
    return word === undefined ? [] : [word];
  }

  #extend(character: string, startMs: number, endMs: number): void {
    const word = this.#word;
    if (word === undefined) this.#word = { word: character, startMs, endMs };
    else if (word.word.length < WORD_CHARACTERS_MAX) {
      word.word += character;
      word.endMs = endMs;
    }
  }
}

function listIn(alignment: Message, ...names: string[]): readonly unknown[] {
  for (const name of names) {
    const list = alignment[name];
    if (Array.isArray(list)) return list;
  }
  return [];
}

/** Kinds of faults by the service's codes; the first match applies. */
const KINDS: [RegExp, FaultKind][] = [
  [/quota|credits|payment|subscription/i, 'quota'],
  [/max_active_conversations|too_many_contexts/i, 'overload'],
  [/concurren|rate_limit|too_many/i, 'rate'],
  [/system_busy|queue_overflow|server_error|internal/i, 'overload'],
  [/api_key|unauthori[sz]ed|authentication|invalid_authorization/i, 'auth'],
  [/permission|forbidden|not_allowed/i, 'forbidden'],
];

function faultOf(message: Message): ReportedFault | undefined {
  const { error, message: words, code } = message as { [name: string]: unknown };
  if (typeof error !== 'string') return undefined;
  const detail = typeof words === 'string' ? words : error;
  return {
    kind: elevenLabsKind(`${error} ${detail}`) ?? 'request',
    detail,
    vendorCode: error.slice(0, 80),
    ...(typeof code === 'number' && { status: code }),
  };
}

/** Kind of a fault by the service's text. Undefined if it names no known fault. */
export function elevenLabsKind(words: string): FaultKind | undefined {
  return KINDS.find(([pattern]) => pattern.test(words))?.[1];
}
