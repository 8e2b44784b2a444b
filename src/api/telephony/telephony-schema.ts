// Schemas of telephony configurations, trunks and phone numbers. Source: specification §2.1, §4.1 to §4.3, contract §4
// and Appendix D.

import { z } from 'zod';
import { providerName } from '../../model/provider.ts';
import type { Trunk } from '../../model/telephony.ts';
import {
  configurationPatchSchema,
  configurationSchema,
  webhookKeys,
} from '../../telephony/registry/configuration.ts';
import { freeObject, idIn, idOut, isoTime, nameIn, storedObject, timeOut } from '../http/values.ts';

const configurationName = nameIn(64);
const trunkName = nameIn(64);

export const trunkCreate = z.object({
  name: trunkName,
  enabled: z.boolean().default(true),
  settings: storedObject
    .default({})
    .meta({ description: "What the provider's trunks can be set to." }),
});

export const trunkUpdate = z.object({
  name: trunkName.nullish(),
  enabled: z.boolean().nullish(),
  settings: storedObject.nullish().meta({ description: 'Takes the place of all settings.' }),
});

export const trunkOut = z
  .object({
    id: idOut,
    name: z.string(),
    enabled: z.boolean(),
    settings: freeObject,
    phone_number_count: z.int(),
    created_at: timeOut,
    updated_at: timeOut,
  })
  .meta({ id: 'TrunkResponse' });

export function trunkOnWire(trunk: Trunk): z.infer<typeof trunkOut> {
  return {
    id: trunk.id,
    name: trunk.name,
    enabled: trunk.enabled,
    settings: trunk.settings,
    phone_number_count: trunk.phoneNumbers,
    created_at: isoTime(trunk.createdAt),
    updated_at: isoTime(trunk.updatedAt),
  };
}

/** Extension of the contract. */
const callsPerSecond = z.int().min(1).max(1_000).nullable().meta({
  description:
    'Calls a second that are dialled over the configuration. Null: as many as the provider accepts where it refuses more (Vonage: 3), else any number.',
});

export const configurationCreate = z.object({
  name: configurationName,
  is_default_outbound: z.boolean().default(false),
  calls_per_second: callsPerSecond.default(null),
  config: configurationSchema,
});

export const configurationUpdate = z.object({
  name: configurationName.nullish(),
  calls_per_second: callsPerSecond
    .optional()
    .meta({ description: "Null: the provider's own limit; left out, it stays." }),
  config: configurationPatchSchema.nullish(),
});

const connectivity = z.enum(['api', 'sip']);

const setupStep = z.object({
  key: z.string(),
  title: z.string(),
  description: z.string(),
  complete: z.boolean(),
  blocks_outbound: z.boolean(),
});

export const setupChecklist = z.object({
  ready_for_outbound: z.boolean(),
  outbound_blocked_reason: z.string().nullable(),
  steps: z.array(setupStep),
  docs_url: z.string().nullable(),
});
export type SetupChecklist = z.infer<typeof setupChecklist>;

/** Fields of a configuration, in lists and alone. */
const configurationFields = {
  id: idOut,
  name: z.string(),
  provider: providerName,
  connectivity,
  is_default_outbound: z.boolean(),
  inactive: z.boolean(),
  inactive_since: timeOut.nullable(),
  inactive_reason: z.string().nullable(),
  calls_per_second: callsPerSecond,
};

export const configurationDetail = z
  .object({
    ...configurationFields,
    credentials: freeObject,
    sip_connectivity: freeObject.nullable(),
    setup_checklist: setupChecklist.nullable(),
    supports_trunks: z.boolean(),
    trunks: z.array(trunkOut),
    created_at: timeOut,
    updated_at: timeOut,
  })
  .meta({ id: 'TelephonyConfigurationDetail' });

export const configurationListItem = z
  .object({
    ...configurationFields,
    phone_number_count: z.int(),
    is_ready_for_outbound: z.boolean(),
    outbound_blocked_reason: z.string().nullable(),
    created_at: timeOut,
    updated_at: timeOut,
  })
  .meta({ id: 'TelephonyConfigurationListItem' });

/** Name of a warning in the contract's form, such as `telnyx_missing_webhook_public_key_count`. */
export function warningName({ provider, field }: { provider: string; field: string }): string {
  return `${provider}_missing_${field}_count`;
}

export const configurationWarnings = z
  .object(Object.fromEntries(webhookKeys.map((key) => [warningName(key), z.int()])))
  .meta({ id: 'TelephonyConfigWarningsResponse' });

export const providersMetadata = z.object({
  providers: z.array(
    z.object({
      provider: providerName,
      display_name: z.string(),
      connectivity,
      fields: z.array(
        z.object({
          name: z.string(),
          label: z.string(),
          type: z.string(),
          required: z.boolean(),
          sensitive: z.boolean(),
          description: z.string().nullable(),
          placeholder: z.string().nullable(),
          options: z.array(z.object({ value: z.string(), label: z.string() })).nullable(),
          visible_when: z.null(),
          section: z.null(),
        }),
      ),
      docs_url: z.string().nullable(),
    }),
  ),
});

const countryCode = z.string().length(2);
const label = z.string().max(64);

export const phoneNumberCreate = z.object({
  address: z.string().min(1).max(255),
  country_code: countryCode.nullish(),
  label: label.nullish(),
  inbound_workflow_id: idIn.nullish(),
  telephony_trunk_id: idIn.nullish(),
  is_active: z.boolean().default(true),
  is_default_caller_id: z.boolean().default(false),
  extra_metadata: storedObject.default({}),
});

export const phoneNumberUpdate = z.object({
  label: label.nullish(),
  inbound_workflow_id: idIn.nullish(),
  clear_inbound_workflow: z.boolean().default(false),
  telephony_trunk_id: idIn.nullish(),
  clear_trunk: z.boolean().default(false),
  is_active: z.boolean().nullish(),
  country_code: countryCode.nullish(),
  extra_metadata: storedObject.nullish(),
});
export type PhoneNumberUpdate = z.infer<typeof phoneNumberUpdate>;

export const providerSync = z.object({ ok: z.boolean(), message: z.string().nullable() });
export type ProviderSync = z.infer<typeof providerSync>;

export const phoneNumberOut = z
  .object({
    id: idOut,
    telephony_configuration_id: idOut,
    address: z.string(),
    address_normalized: z.string(),
    address_type: z.enum(['pstn', 'sip_uri', 'sip_extension']),
    country_code: z.string().nullable(),
    label: z.string().nullable(),
    inbound_workflow_id: idOut.nullable(),
    inbound_workflow_name: z.string().nullable(),
    telephony_trunk_id: idOut.nullable(),
    is_active: z.boolean(),
    is_default_caller_id: z.boolean(),
    extra_metadata: freeObject,
    created_at: timeOut,
    updated_at: timeOut,
    provider_sync: providerSync.nullable(),
  })
  .meta({ id: 'PhoneNumberResponse' });
