// The recognisers of this version: one schema per provider, the source of its type, check, form and mask.

import { z } from 'zod';

const pocketsphinx = z
  .object({ provider: z.literal('pocketsphinx') })
  .describe('Recognises closed answers on this machine, in English.');

export const sttServices = { pocketsphinx } as const;
