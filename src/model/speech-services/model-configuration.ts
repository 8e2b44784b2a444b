// The model configuration of an organization or a workflow, version 2: the services for recognition, language model and
// voice. It has the shape only; the fields of a service are those of its row in services.ts. Source: contract §10.4.

import { z } from 'zod';

/** Services after the first of a section: each may delay a call by one more attempt. */
const FALLBACKS_MAX = 4;
const PROVIDER_CHARACTERS_MAX = 64;

/** One service: its provider and the fields of that provider. */
const configuredService = z
  .looseObject({
    provider: z
      .string()
      .min(1)
      .max(PROVIDER_CHARACTERS_MAX)
      .describe(
        'The service. `getDefaultConfigurations` lists the services of each job with their further fields, such as `api_key`, `model` and `voice`.',
      ),
  })
  .meta({ id: 'ConfiguredService', description: 'A service, with its own fields.' });
export type ConfiguredService = z.infer<typeof configuredService>;

/** The service of one job, and its fallbacks, in order. Null: the gateway's own. */
const configuredSection = configuredService
  .extend({
    fallbacks: z
      .array(configuredService)
      .max(FALLBACKS_MAX)
      .nullish()
      .describe(
        'Services that take over when this one fails, in order; at most 4. Not part of the reference.',
      ),
  })
  .meta({ id: 'ConfiguredSection', description: 'The service of a job, and its fallbacks.' });
export type ConfiguredSection = z.infer<typeof configuredSection>;

export const configuredSections = z.object({
  llm: configuredSection
    .nullish()
    .describe("The language model. Null or left out: the gateway's own."),
  tts: configuredSection.nullish().describe("The voice. Null or left out: the gateway's own."),
  stt: configuredSection
    .nullish()
    .describe("The speech recognition. Null or left out: the gateway's own."),
  embeddings: configuredService.nullish().describe('Stored, and not used by this version.'),
});
export type ConfiguredSections = z.infer<typeof configuredSections>;

export const modelConfiguration = z.object({
  version: z.literal(2).default(2),
  mode: z.literal('byok'),
  byok: z.object({ mode: z.literal('pipeline'), pipeline: configuredSections }),
});

/** Sections of a stored configuration in either shape; undefined if there is none that this version can read. */
export function storedSectionsOf(
  stored: Readonly<Record<string, unknown>> | undefined,
): ConfiguredSections | undefined {
  if (stored === undefined) return undefined;
  const whole = modelConfiguration.safeParse(stored).data;
  return whole?.byok.pipeline ?? configuredSections.safeParse(stored).data;
}

/** The primary service of a section, then its fallbacks. */
export function servicesIn({ fallbacks, ...primary }: ConfiguredSection): ConfiguredService[] {
  return [primary, ...(fallbacks ?? [])];
}
