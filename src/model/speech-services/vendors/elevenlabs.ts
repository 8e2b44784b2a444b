// ElevenLabs: recognition (Scribe), and voices.

import { z } from 'zod';
import {
  type Announcement,
  about,
  describedAddress,
  httpUrl,
  keyterms,
  language,
  limitedKey,
  named,
  voiceLanguage,
} from '../service-fields.ts';

const stt = z
  .object({
    provider: z.literal('elevenlabs'),
    ...limitedKey,
    model: named('scribe_v2_realtime'),
    language: language.default('en').describe('`auto` detects it.'),
    base_url: describedAddress(/^(wss?|https?)$/).default('https://api.elevenlabs.io'),
    keyterms,
  })
  .meta(about('ElevenLabs Scribe', '90 languages.', 'https://elevenlabs.io/docs'));

const tts = z
  .object({
    provider: z.literal('elevenlabs'),
    ...limitedKey,
    voice: z
      .string()
      .min(1)
      .default('21m00Tcm4TlvDq8ikWAM')
      .describe("A voice's id, or its name and id: Rachel - 21m00Tcm4TlvDq8ikWAM.")
      .meta({ allow_custom_input: true }),
    model: z
      .string()
      .min(1)
      .default('eleven_flash_v2_5')
      .meta({
        examples: ['eleven_flash_v2_5', 'eleven_multilingual_v2'],
        allow_custom_input: true,
      }),
    speed: z.number().min(0.1).max(2).default(1).describe('The service takes 0.7 to 1.2.'),
    base_url: httpUrl.default('https://api.elevenlabs.io').describe('A residency host, if any.'),
    language: voiceLanguage,
    stability: z.number().min(0).max(1).default(0.5),
    similarity_boost: z.number().min(0).max(1).default(0.75),
    style: z.number().min(0).max(1).default(0),
    use_speaker_boost: z.boolean().default(true),
  })
  .describe('ElevenLabs. Many languages, word times, µ-law at 8 kHz.');

const retirements: Announcement = {
  source: 'https://elevenlabs.io/docs/overview/models',
  ends: [
    [undefined, 'eleven_flash_v2_5', 'eleven_turbo_v2_5'],
    [undefined, 'eleven_flash_v2', 'eleven_turbo_v2'],
  ],
};

/** Id of a voice, also from the form "Name - id" of voice lists. */
export function elevenLabsVoiceId(voice: string): string {
  return voice.split(' - ').at(-1)?.trim() ?? voice;
}

export const elevenlabs = { stt, tts, retirements } as const;
