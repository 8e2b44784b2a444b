// Recognisers behind protocols that many programs speak: of one's own, or of a service. One schema per provider.

import { z } from 'zod';

const secretKey = z.string().trim().min(1).max(4_096).meta({ secret: true });

const vosk = z
  .object({
    provider: z.literal('vosk'),
    base_url: z.url({ protocol: /^wss?$/ }).default('ws://localhost:2700'),
    api_key: secretKey.optional().describe('Sent as a Bearer token, for a proxy that checks it.'),
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

export type VoskSettings = z.output<typeof vosk>;

export const genericSttServices = { vosk } as const;
