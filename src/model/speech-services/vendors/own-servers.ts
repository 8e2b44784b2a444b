// Servers of a user's own: programs that many run under one protocol, and servers built for another platform's.

import { z } from 'zod';
import {
  concurrencyLimit,
  describedHttpUrl,
  httpUrl,
  keyterms,
  language,
  llmFields,
  llmModel,
  llmUrl,
  NAME_CHARACTERS_MAX,
  named,
  optionalLlmKey,
  secretKey,
  serverLanguage,
  serverModel,
  serverSpeed,
  serverVoice,
  serviceAddress,
  socketUrl,
  transcriptionFields,
} from '../service-fields.ts';

/** Schema of a user's own server. */
function localModel<P extends string>(
  provider: P,
  row: {
    title: string;
    url: string;
    usual: string;
    examples: readonly string[];
    description: string;
  },
) {
  return z
    .object({
      provider: z.literal(provider),
      base_url: llmUrl(row.url),
      api_key: optionalLlmKey,
      model: llmModel(row.usual, row.examples),
      ...llmFields,
    })
    .meta({ title: row.title, description: row.description });
}

const speaches = localModel('speaches', {
  title: 'Local models',
  url: 'http://localhost:11434/v1',
  usual: 'llama3',
  examples: ['mistral', 'phi3', 'qwen2', 'gemma2', 'deepseek-r1'],
  description: 'Any server of your own with the chat interface.',
});

const ollama = localModel('ollama', {
  title: 'Ollama',
  url: 'http://localhost:11434/v1',
  usual: 'llama3.1',
  examples: ['qwen3', 'mistral', 'gpt-oss'],
  description:
    'An Ollama server of your own. A longer context than 4,096 tokens is set in its Modelfile.',
});

const vllm = localModel('vllm', {
  title: 'vLLM',
  url: 'http://localhost:8000/v1',
  usual: 'meta-llama/Llama-3.1-8B-Instruct',
  examples: ['Qwen/Qwen3-8B'],
  description: 'A vLLM server of your own, started with --enable-auto-tool-choice.',
});

const llamaCpp = localModel('llama_cpp', {
  title: 'llama.cpp',
  url: 'http://localhost:8080/v1',
  usual: 'default',
  examples: [],
  description: 'A llama.cpp server of your own, started with --jinja.',
});

const openaiCompatible = z
  .object({
    provider: z.literal('openai_compatible'),
    base_url: serviceAddress(/^https?$/).describe('Up to and including the version.'),
    api_key: optionalLlmKey,
    model: z.string().trim().min(1).max(NAME_CHARACTERS_MAX),
    ...llmFields,
  })
  .meta({
    title: 'OpenAI-compatible',
    description: 'Any other service with the chat interface of OpenAI.',
  });

const vosk = z
  .object({
    provider: z.literal('vosk'),
    base_url: serviceAddress(/^wss?$/).default('ws://localhost:2700'),
    api_key: secretKey.optional().describe('Sent as a Bearer token, for a proxy that checks it.'),
    concurrency_limit: concurrencyLimit,
    model: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe("The name of the server's model, for reports only."),
    phrases: z
      .boolean()
      .default(true)
      .describe("A question's closed list of answers becomes the server's phrase list."),
  })
  .meta({ title: 'Vosk server', description: 'A Vosk server of your own, over its websocket.' });

const wyomingStt = z
  .object({
    provider: z.literal('wyoming'),
    base_url: serviceAddress(/^tcp$/).default('tcp://localhost:10300'),
    model: z.string().min(1).max(200).optional().describe("The server's default if not set."),
    language: serverLanguage.optional(),
    streaming: z
      .boolean()
      .default(false)
      .describe('The server sends words while it still recognises.'),
  })
  .meta({
    title: 'Wyoming',
    description: 'A recogniser of your own behind the Wyoming protocol, such as faster-whisper.',
  });

const path = z.string().max(200).regex(/^\//, 'Begins with a slash.');

const speachesStt = z
  .object({
    provider: z.literal('speaches'),
    model: serverModel.default('Systran/faster-distil-whisper-small.en').meta({
      examples: ['Systran/faster-distil-whisper-small.en', 'Systran/faster-whisper-large-v3'],
    }),
    language: serverLanguage.optional(),
    base_url: httpUrl.default('http://localhost:8000/v1'),
    api_key: secretKey.optional(),
  })
  .meta({ title: 'Speaches', description: 'faster-whisper on a server of your own.' });

const whisperCpp = z
  .object({
    provider: z.literal('whisper_cpp'),
    base_url: httpUrl.default('http://localhost:8080'),
    path: path.default('/inference').describe('As the server was started with.'),
    language: serverLanguage.optional(),
    api_key: secretKey.optional().describe('Sent as a Bearer token, for a proxy that checks it.'),
  })
  .meta({ title: 'whisper.cpp', description: 'Its server: one utterance at a time.' });

const compatibleStt = z
  .object({
    provider: z.literal('openai_compatible'),
    base_url: httpUrl.describe('What comes before the path: https://speech.example.com/v1'),
    model: serverModel,
    api_key: secretKey.optional(),
    path: path.default('/audio/transcriptions'),
    response_format: z
      .enum(['json', 'verbose_json'])
      .default('json')
      .describe(
        'verbose_json has times, and the probability that there is no speech; not every server has it.',
      ),
    sample_rate: z.union([z.literal(8_000), z.literal(16_000)]).default(8_000),
    ...transcriptionFields,
  })
  .meta({
    title: 'OpenAI-compatible',
    description: 'Any server with the transcription interface of OpenAI.',
  });

const ownServer = (title: string) => ({
  title,
  description: 'A server of your own that speaks this protocol, unchanged.',
});

const vapiTranscriber = z
  .object({
    provider: z.literal('vapi_transcriber'),
    base_url: socketUrl,
    api_key: secretKey.optional().describe('Sent as x-vapi-secret.'),
    model: named('custom'),
  })
  .meta(ownServer("Vapi's custom transcriber"));

const jambonzStt = z
  .object({
    provider: z.literal('jambonz_stt'),
    base_url: socketUrl,
    api_key: secretKey.optional().describe('Sent as a Bearer token.'),
    model: named('custom'),
    language: language.default('en-US'),
    keyterms,
  })
  .meta(ownServer("jambonz's custom speech recognition"));

const wyomingTts = z
  .object({
    provider: z.literal('wyoming'),
    base_url: serviceAddress(/^tcp$/).default('tcp://localhost:10200'),
    voice: serverVoice
      .optional()
      .describe("A voice of the server: en_US-lessac-medium. Default: the server's."),
    speaker: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Speaker of a voice with several speakers.'),
    language: serverLanguage.optional(),
    streaming: z
      .boolean()
      .default(false)
      .describe('The server takes text in pieces (Piper: --streaming). Others speak late then.'),
  })
  .meta({
    title: 'Wyoming',
    description: 'A voice of your own behind the Wyoming protocol, such as Piper.',
  });

const speachesTts = z
  .object({
    provider: z.literal('speaches'),
    model: serverModel.default('kokoro').meta({ examples: ['kokoro', 'hexgrad/Kokoro-82M'] }),
    voice: serverVoice.default('af_heart'),
    base_url: httpUrl.default('http://localhost:8000/v1'),
    speed: serverSpeed,
    api_key: secretKey.optional(),
  })
  .meta({
    title: 'Speaches',
    description: 'Kokoro or Piper on a server of your own: Speaches or Kokoro-FastAPI.',
  });

const compatibleTts = z
  .object({
    provider: z.literal('openai_compatible'),
    base_url: httpUrl.describe('What comes before /audio/speech: https://speech.example.com/v1'),
    model: serverModel,
    voice: serverVoice,
    api_key: secretKey.optional(),
    speed: serverSpeed,
    response_format: z.enum(['pcm', 'wav']).default('pcm'),
    sample_rate: z
      .union([8_000, 16_000, 22_050, 24_000, 44_100, 48_000].map((rate) => z.literal(rate)))
      .default(24_000)
      .describe('Sample rate of audio without a WAV header.'),
  })
  .meta({
    title: 'OpenAI-compatible',
    description: 'Any server with the speech interface of OpenAI.',
  });

const piper = z
  .object({
    provider: z.literal('piper_http'),
    base_url: describedHttpUrl.default('http://localhost:5000'),
    api_key: secretKey.optional().describe('Sent as a Bearer token, for a proxy that checks it.'),
    model: z.string().trim().min(1).max(200).default('piper'),
    voice: named('en_US-lessac-medium'),
  })
  .meta({ title: 'Piper', description: "Piper's HTTP server, of your own." });

export const ownServers = {
  llm: { speaches, ollama, vllm, llama_cpp: llamaCpp, openai_compatible: openaiCompatible },
  stt: {
    vosk,
    wyoming: wyomingStt,
    speaches: speachesStt,
    whisper_cpp: whisperCpp,
    openai_compatible: compatibleStt,
    vapi_transcriber: vapiTranscriber,
    jambonz_stt: jambonzStt,
  },
  tts: {
    wyoming: wyomingTts,
    speaches: speachesTts,
    openai_compatible: compatibleTts,
    piper_http: piper,
  },
} as const;
