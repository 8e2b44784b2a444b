// AssemblyAI: recognition by universal streaming.

import { z } from 'zod';
import { extraQuery, keyterms, limitedKey, sttAddress, turns } from '../service-fields.ts';

const stt = z
  .object({
    provider: z.literal('assemblyai'),
    ...limitedKey,
    model: z
      .string()
      .min(1)
      .default('u3-rt-pro')
      .meta({
        description: 'The service decides when the caller has finished.',
        examples: [
          'u3-rt-pro',
          'universal-3-6-pro',
          'universal-3-5-pro',
          'universal-streaming-english',
          'universal-streaming-multilingual',
        ],
        allow_custom_input: true,
      }),
    language: z
      .string()
      .min(1)
      .default('en')
      .meta({ examples: ['en', 'es', 'de', 'fr', 'pt', 'it'] }),
    base_url: sttAddress,
    keyterms,
    format_turns: z
      .boolean()
      .optional()
      .describe(
        'Punctuation from the universal-streaming models, which takes longer. Default: no.',
      ),
    agent_context: z
      .boolean()
      .optional()
      .describe(
        'Sends what the agent has said; the u3 and universal-3 models recognise answers by it. ' +
          'Default: yes.',
      ),
    end_of_turn_confidence_threshold: z.number().min(0).max(1).optional(),
    eager_end_of_turn_confidence: z
      .number()
      .min(0.05)
      .max(1)
      .optional()
      .describe(
        'How sure the service must be of a probable end, at which the language model is asked ahead. More ' +
          'requests, less delay. Default: not at all.',
      ),
    min_turn_silence: z.int().min(50).max(10_000).optional().describe('Milliseconds.'),
    max_turn_silence: z.int().min(50).max(10_000).optional().describe('Milliseconds.'),
    turns,
    extra_query: extraQuery,
  })
  .meta({
    title: 'AssemblyAI',
    description: 'Recognises free speech in six languages, by universal streaming.',
    provider_docs_url: 'https://www.assemblyai.com/docs',
  });

export const assemblyai = { stt } as const;
