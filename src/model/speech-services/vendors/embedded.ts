// The services without a key, on this machine: used where nothing is configured, and as the last fallback.

import { z } from 'zod';

export const EMBEDDED = { stt: 'pocketsphinx', tts: 'flite' } as const;

export const VOICES = ['slt', 'rms', 'awb', 'kal16', 'kal'] as const;

const scripted = z
  .object({ provider: z.literal('scripted') })
  .meta({ title: 'Scripted', description: "Walks the agent's graph without a model." });

const pocketsphinx = z.object({ provider: z.literal('pocketsphinx') }).meta({
  description: 'Recognises closed answers on this machine, in English.',
  languages: ['en'],
});

const flite = z
  .object({ provider: z.literal('flite'), voice: z.enum(VOICES).default('slt') })
  .meta({ description: 'Speaks English on this machine.', languages: ['en'] });

export const embedded = { llm: scripted, stt: pocketsphinx, tts: flite } as const;
