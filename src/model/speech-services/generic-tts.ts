// Voices behind protocols that many programs speak: of one's own, or of a service. One schema per provider.

import { z } from 'zod';

const language = z.string().trim().min(1).max(35).describe('BCP 47, or as the server names it.');
const voice = z.string().trim().min(1).max(200);

const wyoming = z
  .object({
    provider: z.literal('wyoming'),
    base_url: z.url({ protocol: /^tcp$/ }).default('tcp://localhost:10200'),
    voice: voice
      .optional()
      .describe("A voice of the server: en_US-lessac-medium. Default: the server's."),
    speaker: z.string().min(1).max(200).optional().describe('Of a voice with several speakers.'),
    language: language.optional(),
    streaming: z
      .boolean()
      .default(false)
      .describe('The server takes text in pieces (Piper: --streaming). Others speak late then.'),
  })
  .meta({
    title: 'Wyoming',
    description: 'A voice of your own behind the Wyoming protocol, such as Piper.',
  });

export type WyomingTtsSettings = z.output<typeof wyoming>;

export const genericTtsServices = { wyoming } as const;
