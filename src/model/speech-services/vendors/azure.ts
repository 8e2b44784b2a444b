// Azure: deployments of OpenAI models (`azure`), and Azure Speech (`azure_speech`).

import { z } from 'zod';
import {
  httpUrl,
  keyterms,
  limitedKey,
  llmFields,
  llmKey,
  llmModel,
  secretKey,
  serverLanguage,
  serverModel,
  serverVoice,
  serviceAddress,
  sttAddress,
} from '../service-fields.ts';
import { OPENAI_MODEL } from './openai.ts';

const llm = z
  .object({
    provider: z.literal('azure'),
    api_key: llmKey,
    endpoint: serviceAddress(/^https?$/).describe("The resource's own address, without a path."),
    model: llmModel(OPENAI_MODEL, ['gpt-5.4']).describe('The name of the deployment.'),
    ...llmFields,
  })
  .meta({
    title: 'Azure OpenAI',
    description: 'OpenAI models in a resource of Azure, through its v1 interface.',
    provider_docs_url: 'https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle',
  });

const stt = z
  .object({
    provider: z.literal('azure_speech'),
    ...limitedKey,
    model: z.string().min(1).default('latest_long').describe('For reports only.'),
    region: z
      .string()
      .regex(/^[a-z0-9]{1,40}$/, 'Letters and digits, such as westeurope.')
      .default('eastus'),
    language: z
      .string()
      .min(1)
      .default('en-US')
      .meta({ examples: ['en-US', 'en-GB', 'de-DE', 'es-ES', 'fr-FR', 'hi-IN'] }),
    base_url: sttAddress,
    keyterms,
  })
  .meta({
    title: 'Azure Speech',
    description: 'Recognises free speech in many languages. Never tried on a live account.',
    provider_docs_url: 'https://learn.microsoft.com/azure/ai-services/speech-service',
  });

const tts = z
  .object({
    provider: z.literal('azure_speech'),
    api_key: secretKey,
    model: serverModel.default('neural'),
    region: z
      .string()
      .regex(/^[a-z0-9]{1,40}$/, 'Letters and digits, such as westeurope.')
      .default('eastus'),
    voice: serverVoice.default('en-US-AriaNeural'),
    language: serverLanguage.optional().describe("Default: the voice's."),
    speed: z.number().min(0.5).max(2).default(1),
    base_url: httpUrl.optional().describe('Another cloud, or a container of your own.'),
  })
  .meta({ title: 'Azure Speech', description: 'Many languages; µ-law at 8 kHz.' });

export const azure = { llm, stt, tts } as const;
