// Hugging Face: models behind its router, and transcription of whole utterances.

import { z } from 'zod';
import {
  httpUrl,
  llmFields,
  llmKey,
  llmModel,
  llmUrl,
  NAME_CHARACTERS_MAX,
  secretKey,
  serverModel,
} from '../service-fields.ts';

const llm = z
  .object({
    provider: z.literal('huggingface'),
    base_url: llmUrl('https://router.huggingface.co/v1'),
    api_key: llmKey,
    model: llmModel('openai/gpt-oss-120b:cerebras', [
      'deepseek-ai/DeepSeek-R1:fastest',
      'Qwen/Qwen3-Coder-480B-A35B-Instruct',
    ]),
    bill_to: z
      .string()
      .trim()
      .min(1)
      .max(NAME_CHARACTERS_MAX)
      // The value is sent as a header.
      .regex(/^[\x21-\x7e]+$/)
      .optional()
      .describe('The organization that pays.'),
    ...llmFields,
  })
  .meta({
    title: 'Hugging Face',
    description: 'Inference providers behind the router of Hugging Face.',
    provider_docs_url: 'https://huggingface.co/docs/inference-providers/index',
  });

const stt = z
  .object({
    provider: z.literal('huggingface'),
    api_key: secretKey,
    model: serverModel.default('openai/whisper-large-v3-turbo').meta({
      examples: ['openai/whisper-large-v3-turbo', 'openai/whisper-large-v3'],
    }),
    base_url: httpUrl.default('https://router.huggingface.co/hf-inference'),
    bill_to: z.string().trim().min(1).max(200).optional().describe('The organization that pays.'),
    return_timestamps: z.boolean().default(false).describe('Without effect: times are not used.'),
  })
  .meta({ title: 'Hugging Face', description: 'Transcribes each utterance as a whole.' });

export const huggingface = { llm, stt } as const;
