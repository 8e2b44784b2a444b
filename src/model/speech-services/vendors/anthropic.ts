// Anthropic: Claude, through the Messages interface.

import { z } from 'zod';
import { type Announcement, llmFields, llmKey, llmModel, llmUrl } from '../service-fields.ts';

const llm = z
  .object({
    provider: z.literal('anthropic'),
    base_url: llmUrl('https://api.anthropic.com/v1'),
    api_key: llmKey,
    model: llmModel('claude-haiku-5-5', [
      'claude-haiku-4-5',
      'claude-sonnet-5-5',
      'claude-opus-5-5',
    ]),
    ...llmFields,
  })
  .meta({
    title: 'Anthropic',
    description: 'Claude, through the Messages interface.',
    provider_docs_url: 'https://docs.claude.com/en/docs/about-claude/models/overview',
  });

const retirements: Announcement = {
  source: 'https://platform.claude.com/docs/en/about-claude/model-deprecations',
  ends: [
    ['2026-02-19', 'claude-haiku-5-5', 'claude-3-5-haiku'],
    ['2026-06-15', 'claude-sonnet-5', 'claude-sonnet-4'],
    ['2026-06-15', 'claude-opus-5-5', 'claude-opus-4'],
    ['2026-11-30', 'claude-sonnet-5', 'claude-sonnet-4-5'],
  ],
};

export const anthropic = { llm, retirements } as const;
