// Vendors and servers of a user's own whose services all have OpenAI's interfaces for chat, transcription and speech.
// Other vendors have a chat model of this kind, too; theirs is in their own file.

import type { LlmServiceSettings } from '../../model/speech-services/services.ts';
import type { ModelMeans } from '../llm/client/model-client.ts';
import { createChatModel } from '../llm/openai/openai.ts';
import {
  createHuggingFaceStt,
  createOpenAiCompatibleStt,
  createOpenAiStt,
  createSpeachesStt,
  createWhisperCpp,
} from '../stt/openai-transcription/openai-transcription.ts';
import {
  createOpenAiCompatibleTts,
  createOpenAiTts,
  createSpeachesTts,
} from '../tts/openai-speech/openai-speech.ts';
import { bearer, below, type KeyCheck, type Vendor } from './vendor.ts';

const listsModels = (base?: string): KeyCheck => ({
  url: below(base, '/models'),
  headers: bearer,
  isKeyless: true,
});

export const openAiInterfaces = {
  openai: {
    llm: createChatModel,
    stt: createOpenAiStt,
    tts: createOpenAiTts,
    keyCheck: listsModels('https://api.openai.com/v1'),
  },
  groq: {
    llm: createChatModel,
    stt: createOpenAiStt,
    keyCheck: listsModels('https://api.groq.com/openai/v1'),
  },
  openrouter: {
    llm: createChatModel,
    keyCheck: { url: below('https://openrouter.ai/api/v1', '/key'), headers: bearer },
  },
  atlascloud: {
    llm: createChatModel,
    keyCheck: listsModels('https://api.atlascloud.ai/v1'),
  },
  together: {
    llm: createChatModel,
    keyCheck: listsModels('https://api.together.xyz/v1'),
  },
  fireworks: {
    llm: createChatModel,
    keyCheck: listsModels('https://api.fireworks.ai/inference/v1'),
  },
  deepseek: {
    llm: createChatModel,
    keyCheck: listsModels('https://api.deepseek.com/v1'),
  },
  cerebras: {
    llm: createChatModel,
    keyCheck: listsModels('https://api.cerebras.ai/v1'),
  },
  mistral: {
    llm: createChatModel,
    keyCheck: listsModels('https://api.mistral.ai/v1'),
  },
  huggingface: {
    llm: (settings: LlmServiceSettings<'huggingface'>, means: ModelMeans) => {
      const headers = settings.bill_to === undefined ? {} : { 'x-hf-bill-to': settings.bill_to };
      return createChatModel(settings, means, { headers });
    },
    stt: createHuggingFaceStt,
    keyCheck: { url: () => undefined, headers: bearer, keyPrefix: 'hf_' },
  },
  speaches: {
    llm: createChatModel,
    stt: createSpeachesStt,
    tts: createSpeachesTts,
    keyCheck: listsModels('http://localhost:8000/v1'),
  },
  openai_compatible: {
    llm: createChatModel,
    stt: createOpenAiCompatibleStt,
    tts: createOpenAiCompatibleTts,
    keyCheck: listsModels(),
  },
  ollama: { llm: createChatModel },
  vllm: { llm: createChatModel },
  llama_cpp: { llm: createChatModel },
  whisper_cpp: { stt: createWhisperCpp },
} satisfies Record<string, Vendor>;
