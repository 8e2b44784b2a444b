// The voices of this version: one schema per provider, the source of its type, check, form and mask.

import { z } from 'zod';
import { cloudTtsServices } from './cloud-tts.ts';
import { describedTtsServices } from './described-tts.ts';
import { genericTtsServices } from './generic-tts.ts';

export const VOICES = ['slt', 'rms', 'awb', 'kal16', 'kal'] as const;

const flite = z
  .object({ provider: z.literal('flite'), voice: z.enum(VOICES).default('slt') })
  .meta({ description: 'Speaks English on this machine.', languages: ['en'] });

export const ttsServices = {
  flite,
  ...cloudTtsServices,
  ...genericTtsServices,
  ...describedTtsServices,
} as const;

type Services = typeof ttsServices;
/** The settings of one synthesiser by its provider. */
export type TtsProviderSettings<P extends keyof Services = keyof Services> = z.output<Services[P]>;
