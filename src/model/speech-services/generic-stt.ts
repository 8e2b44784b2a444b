// Recognisers behind protocols that many programs speak: of one's own, or of a service. One schema per provider.

import { z } from 'zod';

const secretKey = z.string().trim().min(1).max(4_096).meta({ secret: true });
const language = z.string().trim().min(1).max(35).describe('BCP 47, or as the server names it.');

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

const wyoming = z
  .object({
    provider: z.literal('wyoming'),
    base_url: z.url({ protocol: /^tcp$/ }).default('tcp://localhost:10300'),
    model: z.string().min(1).max(200).optional().describe("The server's default if not set."),
    language: language.optional(),
    streaming: z
      .boolean()
      .default(false)
      .describe('The server sends words while it still recognises.'),
  })
  .meta({
    title: 'Wyoming',
    description: 'A recogniser of your own behind the Wyoming protocol, such as faster-whisper.',
  });

export type WyomingSttSettings = z.output<typeof wyoming>;

export const genericSttServices = { vosk, wyoming } as const;
