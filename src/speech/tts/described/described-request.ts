// Voices with one HTTP request for each sentence that are described as data, by a user or a vendor's file.

import { serviceFaults } from '../../../metrics/speech-metrics.ts';
import {
  type DescriptionValues,
  type RequestVoiceDescription,
  requestVoiceDescription,
} from '../../../model/speech-services/description.ts';
import type { TtsServiceSettings } from '../../../model/speech-services/services.ts';
import { ByteParts } from '../../../std/byte-parts.ts';
import { parseJson } from '../../../std/json.ts';
import {
  addressOf,
  errorIn,
  filled,
  headersOf,
  meetsConditions,
  secretsOf,
  textAt,
  valueAt,
} from '../../service/description/message-template.ts';
import { ServiceFault } from '../../service/service-fault.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { createHttpSpeech, type SpeechBytes } from '../http-speech.ts';
import { SpeechBody } from '../openai-speech/speech-body.ts';
import { SpeechDecoder } from '../speech-decoder.ts';
import type { TextToSpeech } from '../tts.ts';
import type { DescribedVoiceSettings } from './described-voice.ts';

/** Largest answer: a minute of audio in hex. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

/** Creates voices of a service, and has its description. */
export interface RequestVoice {
  (settings: DescribedVoiceSettings, means: ServiceMeans): TextToSpeech;
  readonly description: RequestVoiceDescription;
}

type Format = RequestVoiceDescription['audio']['format'];

/** A service from its description, which passes the same checks as a user's own. `formats`: formats of models that
 *  differ. */
export function requestVoice(
  described: unknown,
  formats: Readonly<Record<string, Format>> = {},
): RequestVoice {
  const description = requestVoiceDescription.parse(described);
  return Object.assign(
    (settings: DescribedVoiceSettings, means: ServiceMeans) => {
      const { audio } = description;
      const { [settings.model]: format = audio.format } = formats;
      return create(settings, { ...description, audio: { ...audio, format } }, means);
    },
    { description },
  );
}

export function createHttpTts(
  settings: TtsServiceSettings<'http_tts'>,
  means: ServiceMeans,
): TextToSpeech {
  return create(settings, settings.description, means);
}

function create(
  settings: DescribedVoiceSettings,
  description: RequestVoiceDescription,
  means: ServiceMeans,
): TextToSpeech {
  const { provider: service, model, base_url: baseUrl, api_key: key } = settings;
  const valuesOf = (text: string, voice = settings.voice): DescriptionValues => ({
    language: undefined,
    speed: undefined,
    ...settings,

    description: undefined,
    key,
    voice,
    text,
    voice_number: Number(voice) || voice,
    secret: settings.api_secret,
  });
  const common = valuesOf('');
  const secrets = secretsOf(common);
  return createHttpSpeech({
    service,
    model,
    secrets,
    means,
    prepare: { url: new URL(baseUrl).origin, headers: headersOf(description.headers, common) },
    requestOf: (text, voice) => {
      const values = valuesOf(text, voice);
      return {
        url: addressOf(baseUrl, description, values),
        headers: {
          'content-type': 'application/json',
          ...headersOf(description.headers, values),
        },
        body: JSON.stringify(filled(description.body, values)),
      };
    },
    decoder: () => decoderOf(description, service, secrets),
    silence: { kind: 'overload', detail: 'no audio for a text' },
  });
}

function decoderOf(
  description: RequestVoiceDescription,
  service: string,
  secrets: readonly string[],
): SpeechBytes {
  const { in: where } = description.audio;
  const samples = samplesOf(description);
  if (where === 'body') return samples;
  let billedCharacters: unknown;
  const take = (message: unknown): Int16Array => {
    const error = errorIn(message, description.errors);
    if (error !== undefined) {
      serviceFaults.inc({ kind: 'tts', service, fault: error.kind });
      throw new ServiceFault('tts', service, error.kind, { ...error, redact: secrets });
    }
    const { path, encoding, skip } = description.audio;
    if (description.characters !== undefined) {
      billedCharacters = valueAt(message, description.characters) ?? billedCharacters;
    }
    if (skip !== undefined && meetsConditions(message, skip)) return new Int16Array();
    return samples.push(Buffer.from(textAt(message, path) ?? '', encoding));
  };
  const bytes = where === 'json' ? wholeJson(take, samples) : eventsOf(take, samples);
  return {
    ...bytes,
    get billedCharacters() {
      return billedCharacters;
    },
  };
}

function samplesOf({ audio: { format } }: RequestVoiceDescription): SpeechBytes {
  if (format !== 'ulaw8') return new SpeechBody(Number(format.slice('s16@'.length)));
  const ulaw = new SpeechDecoder('ulaw8');
  return { push: (chunk) => ulaw.decode(chunk), end: () => new Int16Array() };
}

function wholeJson(take: (message: unknown) => Int16Array, samples: SpeechBytes): SpeechBytes {
  const parts = new ByteParts();
  return {
    push(chunk) {
      parts.push(chunk);
      if (parts.bytes > ANSWER_BYTES_MAX) throw new RangeError('the answer is too long');
      return new Int16Array();
    },
    end() {
      const message = parseJson(parts.take().toString());
      if (message === undefined) throw new RangeError('an answer that is no JSON');
      return joined([take(message), samples.end()]);
    },
  };
}

function eventsOf(take: (message: unknown) => Int16Array, samples: SpeechBytes): SpeechBytes {
  const lines = new EventLines(ANSWER_BYTES_MAX);
  const spoken = (data: string): Int16Array => {
    const message = parseJson(data);
    return message === undefined ? new Int16Array() : take(message);
  };
  return {
    push: (chunk) => joined(lines.push(chunk).map(spoken)),
    end: () => joined([...lines.end().map(spoken), samples.end()]),
  };
}

function joined(parts: readonly Int16Array[]): Int16Array {
  const [only, ...more] = parts.filter(({ length }) => length > 0);
  if (only === undefined || more.length === 0) return only ?? new Int16Array();
  const all = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

const LINE_FEED = 10;

/** Server-sent events with data only: one JSON object per line. An incomplete line is kept in pieces, so that small chunks
 *  cost no more than large ones. */
export class EventLines {
  readonly #bytesMax: number;
  readonly #parts = new ByteParts();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Returns the data of the lines that `chunk` completes. Throws a RangeError for a line that is too long. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      this.#keep(chunk.subarray(from, end));
      lines.push(...this.end());
      from = end + 1;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
    return lines;
  }

  /** Returns the last line if it has data. An error may arrive as plain JSON instead. */
  end(): string[] {
    const line = this.#parts.take().toString().trim();
    const data = line.startsWith('data:') ? line.slice('data:'.length).trim() : line;
    return data.startsWith('{') ? [data] : [];
  }

  #keep(part: Buffer): void {
    this.#parts.push(part);
    if (this.#parts.bytes > this.#bytesMax) throw new RangeError('an event is too long');
  }
}
