// Schemas of model configurations. Source: contract §10.4.

import { z } from 'zod';
import { CONTEXT_LIMITS } from '../../model/json-limits.ts';
import {
  type ConfiguredSections,
  configuredSections,
} from '../../model/speech-services/model-configuration.ts';
import { maskServices } from '../../model/speech-services/service-masks.ts';
import { isTimeZone } from '../../std/calendar-day.ts';
import { isObject } from '../../std/json.ts';
import type { OrganizationPreferences } from '../../store/accounts/organizations.ts';
import type { StoredServiceFault } from '../../store/library/service-faults.ts';
import { freeObject, idOut, isoTime, timeOut, within } from '../http/values.ts';

/** Request in the reference platform's form: modes that this gateway does not have are refused by name. */
export const modelConfigurationIn = within(
  z
    .object({
      version: z.literal(2).default(2).describe('Version of the form, always 2.'),
      mode: z
        .enum(['byok', 'dograh'])
        .describe('`byok`: services with keys of your own. This gateway refuses `dograh`.'),
      byok: z
        .object({
          mode: z
            .enum(['pipeline', 'realtime'])
            .describe(
              '`pipeline`: recognition, model and voice apart. This gateway refuses `realtime`.',
            ),
          pipeline: configuredSections
            .nullish()
            .describe("The services by job. A job that is left out is done by the gateway's own."),
          realtime: freeObject.nullish().describe('Refused: this gateway has no such services.'),
        })
        .nullish()
        .describe('The services, for the mode `byok`.'),
      dograh: freeObject.nullish().describe('Refused: this gateway has no such services.'),
    })
    .meta({
      id: 'OrganizationAIModelConfigurationV2',
      description: 'Which services recognise, answer and speak in the calls of the organization.',
    }),
  CONTEXT_LIMITS,
);

const section = freeObject.nullable().meta({ description: "Null: the gateway's own service." });

const effectiveConfiguration = z
  .object({
    llm: section,
    tts: section,
    stt: section,
    embeddings: section,
    realtime: z.null(),
    is_realtime: z.literal(false),
    test_phone_number: z.string().nullable(),
    timezone: z.string().nullable(),
  })
  .meta({
    id: 'EffectiveAIModelConfiguration',
    description: 'The services that calls use; keys are masked.',
  });

const serviceFault = z
  .object({
    model: z.enum(['llm', 'tts', 'stt']),
    provider: z.string(),
    kind: z.string().describe('`auth`, `forbidden`, `quota` or `request`.'),
    message: z.string().describe("The service's words, without keys."),
    workflow_run_id: idOut.describe('The last call that met it.'),
    first_at: timeOut,
    last_at: timeOut,
  })
  .meta({ id: 'ServiceFault' });

export const modelConfigurationOut = z
  .object({
    configuration: freeObject.nullable().meta({ description: 'Null: none is stored.' }),
    effective_configuration: effectiveConfiguration,
    source: z
      .enum(['organization_v2', 'legacy_user_v1', 'empty'])
      .meta({ description: 'Whose services calls use.' }),
    service_faults: z.array(serviceFault).meta({
      description:
        'Faults that calls met and that go on until a key, an account or a setting changes. Not part of the reference.',
    }),
  })
  .meta({
    id: 'OrganizationAIModelConfigurationResponse',
    description: 'The stored services, and those that calls use; keys are masked.',
  });

export const migrationPreview = z
  .object({ configuration: freeObject, effective_configuration: effectiveConfiguration })
  .meta({ id: 'ModelConfigurationMigrationPreview', description: 'What would be stored.' });

const price = freeObject.nullable();

/** Prices of the reference's hosted service, which this gateway does not have. */
export const pricing = z
  .object({ platform_usage: price, dograh_model: price })
  .meta({ id: 'ModelConfigurationPricingResponse', description: 'No prices.' });

export const serviceCheck = z
  .object({
    ok: z.boolean().describe('No service refuses its key or lacks its voice.'),
    services: z.array(
      z.object({
        model: z.enum(['llm', 'tts', 'stt', 'embeddings']),
        position: z.int().describe('0: the primary service; then its fallbacks.'),
        provider: z.string(),
        verdict: z.enum(['ok', 'refused', 'unverified']),
        message: z.string().describe("Why, in the service's words; empty if it is `ok`."),
        warning: z
          .string()
          .optional()
          .describe('When the service ends the model, and what replaces it.'),
        duration_ms: z.int().describe('Milliseconds.'),
      }),
    ),
  })
  .meta({ id: 'ServiceCheck', description: 'What each service says.' });

const sections = configuredSections.shape;

export const userConfigurationIn = within(
  configuredSections.extend({
    llm: sections.llm.describe('The language model. Null or left out: unchanged.'),
    tts: sections.tts.describe('The voice. Null or left out: unchanged.'),
    stt: sections.stt.describe('The speech recognition. Null or left out: unchanged.'),
    realtime: freeObject.nullish().describe('Accepted and ignored.'),
    is_realtime: z
      .boolean()
      .nullish()
      .describe('True is refused: this gateway has no such services.'),
    test_phone_number: z
      .string()
      .trim()
      .max(64)
      .nullish()
      .describe(
        'The number that test calls ring, best with `+` and country code; at most 64 characters. An empty text clears it. Null or left out: unchanged.',
      ),
    timezone: z
      .string()
      .max(64)
      .refine((name) => isTimeZone(name), 'not a time zone of the IANA database')
      .nullish()
      .describe('The time zone of reports, by its IANA name. Null or left out: unchanged.'),
  }),
  CONTEXT_LIMITS,
);

export const userConfigurationOut = effectiveConfiguration;

export const keyStatuses = z
  .object({ status: z.array(z.object({ model: z.string(), message: z.string() })) })
  .meta({ id: 'APIKeyStatusResponse', description: 'What services say of their keys.' });

/** Sections in their stored form. */
export function asConfiguration(pipeline: ConfiguredSections) {
  return { version: 2, mode: 'byok', byok: { mode: 'pipeline', pipeline } };
}

export function serviceFaultOnWire(fault: StoredServiceFault): z.infer<typeof serviceFault> {
  return {
    model: fault.job,
    provider: fault.service,
    kind: fault.kind,
    message: fault.detail,
    workflow_run_id: fault.runId,
    first_at: isoTime(fault.firstAt),
    last_at: isoTime(fault.lastAt),
  };
}

/** Sections in use, with masked secrets. */
export function effectiveOnWire(
  sections: ConfiguredSections,
  preferences: OrganizationPreferences | undefined,
): z.infer<typeof effectiveConfiguration> {
  const shown = maskServices(sections);
  const masked = isObject(shown) ? shown : {};
  const of = (name: keyof ConfiguredSections) => {
    const found = masked[name];
    return isObject(found) ? found : null;
  };
  return {
    llm: of('llm'),
    tts: of('tts'),
    stt: of('stt'),
    embeddings: of('embeddings'),
    realtime: null,
    is_realtime: false,
    test_phone_number: preferences?.testPhoneNumber ?? null,
    timezone: preferences?.timezone ?? null,
  };
}
