// Voices with one HTTP request for each sentence that are described as data, by the user or by a preset.

import { serviceFaults } from '../../../metrics/speech-metrics.ts';
import type {
  HttpTtsSettings,
  RequestTtsPresetSettings,
} from '../../../model/speech-services/schemas/described-tts.ts';
import type {
  DescriptionValues,
  RequestVoiceDescription,
} from '../../../model/speech-services/schemas/description.ts';
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
import { SpeechBody } from '../openai-compatible/speech-body.ts';
import { SpeechDecoder } from '../speech-decoder.ts';
import type { TextToSpeech } from '../tts.ts';
import { EventLines } from './event-lines.ts';
import { requestPresetOf } from './request-presets.ts';

/** Largest answer: a minute of audio in hex. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

export function createHttpTts(settings: HttpTtsSettings, means: ServiceMeans): TextToSpeech {
  return create(settings, settings.description, means);
}

export function createRequestTtsPreset(
  settings: RequestTtsPresetSettings,
  means: ServiceMeans,
): TextToSpeech {
  return create(settings, requestPresetOf(settings.provider, settings.model), means);
}

function create(
  settings: HttpTtsSettings | RequestTtsPresetSettings,
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
    secret: 'api_secret' in settings ? settings.api_secret : undefined,
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
