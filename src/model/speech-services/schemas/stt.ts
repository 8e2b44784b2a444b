// The recognisers of this version: one schema per provider, the source of its type, check, form and mask.

import { z } from 'zod';
import { cloudSttServices } from './cloud-stt.ts';
import { describedSttServices } from './described-stt.ts';
import { genericSttServices } from './generic-stt.ts';

const pocketsphinx = z.object({ provider: z.literal('pocketsphinx') }).meta({
  description: 'Recognises closed answers on this machine, in English.',
  languages: ['en'],
});

export const sttServices = {
  pocketsphinx,
  ...cloudSttServices,
  ...genericSttServices,
  ...describedSttServices,
} as const;

type Services = typeof sttServices;
/** The settings of one recogniser by its provider. */
export type SttProviderSettings<P extends keyof Services = keyof Services> = z.output<Services[P]>;
