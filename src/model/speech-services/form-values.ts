// Values that forms of the reference's clients send for a service: text for all inputs but numbers and choices, empty
// text for unused inputs. Not `api_key`: an empty one is refused, not taken for the stored one.

import { z } from 'zod';
import { parseJson } from '../../std/json.ts';
import { jsonTextExcess } from '../../std/json-size.ts';
import { CONTEXT_LIMITS } from '../json-limits.ts';
import type { ConfiguredSection, ConfiguredService } from './model-configuration.ts';
import { type SpeechJob, serviceRow } from './service-rows.ts';

/** A copy of a section, and its fallbacks, with the values of its texts. */
export function formSection(
  job: SpeechJob,
  { fallbacks, ...primary }: ConfiguredSection,
): ConfiguredSection {
  const others = fallbacks?.map((service) => formService(job, service));
  return {
    ...formService(job, primary),
    ...(fallbacks === undefined ? {} : { fallbacks: others ?? null }),
  };
}

function formService(job: SpeechJob, service: ConfiguredService): ConfiguredService {
  const { provider } = service;
  return { ...formFields(job, provider, service), provider };
}

/** A copy of some fields of a provider's service with the values of their texts, without empty ones. A text without a
 *  valid value is unchanged, and its row refuses it. */
export function formFields(
  job: SpeechJob,
  provider: string,
  fields: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const shape = serviceRow(job, provider)?.shape ?? {};
  const entries = Object.entries(fields).flatMap(([name, value]) => {
    const field = Object.hasOwn(shape, name) && name !== 'api_key' ? shape[name] : undefined;
    if (typeof value !== 'string' || !(field instanceof z.ZodType)) return [[name, value]];
    const meant = valueIn(value, field);
    return meant === undefined ? [] : [[name, meant]];
  });
  return Object.fromEntries(entries);
}

/** The value of a text; undefined if it has none. */
function valueIn(text: string, field: z.ZodType): unknown {
  const takes = (value: unknown): boolean => field.safeParse(value).success;
  if (takes(text)) return text;
  if (text.trim() === '') return takes(undefined) ? undefined : text;
  const isSmall = jsonTextExcess(text, CONTEXT_LIMITS) === undefined;
  const values = [isSmall ? parseJson(text) : undefined, listIn(text)];
  return values.find((value) => value !== undefined && takes(value)) ?? text;
}

function listIn(text: string): string[] {
  return text.split(',').flatMap((part) => part.trim() || []);
}
