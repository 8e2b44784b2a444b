// Schemas of telephony configurations, trunks and phone numbers. Source: specification §2.1, §4.1 to §4.3, contract §4
// and Appendix D.

import { z } from 'zod';
import { overflowPolicy } from '../../model/overflow.ts';
import { configuredProviderName } from '../../model/provider.ts';
import type { Trunk } from '../../model/telephony.ts';
import {
  configurationPatchSchema,
  configurationSchema,
  OTHER_FORMS,
  webhookKeys,
} from '../../telephony/registry/configuration.ts';
import { freeObject, idIn, idOut, isoTime, nameIn, storedObject, timeOut } from '../http/values.ts';

const configurationName = nameIn(64).describe(
  'A name that no other configuration of the organization has, of 1 to 64 characters.',
);
const trunkName = nameIn(64).describe(
  'A name that no other trunk of the configuration has, of 1 to 64 characters.',
);
const trunkEnabled = z.boolean().describe('Whether calls go out over the trunk.');
const trunkSettings =
  "What the provider's trunks can be set to, at most 20 keys. Cloudonix: `region`, `sip_domain`.";

export const trunkCreate = z.object({
  name: trunkName,
  enabled: trunkEnabled.default(true),
  settings: storedObject.default({}).meta({ description: trunkSettings }),
});

export const trunkUpdate = z.object({
  name: trunkName.nullish(),
  enabled: trunkEnabled
    .nullish()
    .describe('Whether calls go out over the trunk. Null or left out: unchanged.'),
  settings: storedObject
    .nullish()
    .meta({ description: 'Takes the place of all settings. Null or left out: unchanged.' }),
});

export const trunkOut = z
  .object({
    id: idOut,
    name: z.string(),
    enabled: z.boolean(),
    settings: freeObject,
    phone_number_count: z.int().describe('Phone numbers that go over it.'),
    created_at: timeOut,
    updated_at: timeOut,
  })
  .meta({ id: 'TrunkResponse', description: 'A trunk of a configuration.' });

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
    'Calls a second that are dialled over the configuration, 1 to 1,000. Null: as many as the provider accepts where it refuses more (Vonage: 3), else any number.',
});

/** Extension of the contract. */
const overflowIn = overflowPolicy
  .nullish()
  .describe(
    'What becomes of inbound calls when all places are taken. Null: they are refused as busy, or a number follows its configuration. Left out: unchanged.',
  );
const overflowOut = overflowPolicy
  .nullable()
  .describe('What becomes of inbound calls when all places are taken.');

export const configurationCreate = z.object({
  name: configurationName,
  is_default_outbound: z
    .boolean()
    .default(false)
    .describe(
      'Whether calls that name no configuration go out over this one, in place of another.',
    ),
  calls_per_second: callsPerSecond.default(null),
  overflow: overflowIn,
  config: configurationSchema.describe(
    "The provider's credentials and settings, one shape for each `provider`.",
  ),
});

/** Credentials without `provider`, which the route adds before they are checked. */
const withoutProvider = {
  type: 'object',
  description: 'Fields of the provider that the configuration has.',
  properties: { provider: { type: 'null', description: 'Left out, or null.' } },
};

export const configurationUpdate = z.object({
  name: configurationName.nullish(),
  calls_per_second: callsPerSecond.optional().meta({
    description:
      "Calls a second that are dialled over the configuration, 1 to 1,000. Null: the provider's own limit. Left out: unchanged.",
  }),
  overflow: overflowIn,
  config: configurationPatchSchema.nullish().meta({
    description:
      'Fields that change. `provider` is that of the configuration, or left out. Masked secrets stay as they are. Null or left out: unchanged.',
    [OTHER_FORMS]: [withoutProvider],
  }),
});

const connectivity = z.enum(['api', 'sip']);

const setupStep = z.object({
  key: z.string(),
  title: z.string(),
  description: z.string(),
  complete: z.boolean(),
  blocks_outbound: z.boolean().describe('Whether calls cannot go out before it is complete.'),
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
  provider: configuredProviderName,
  connectivity,
  is_default_outbound: z.boolean(),
  inactive: z.boolean(),
  inactive_since: timeOut.nullable(),
  inactive_reason: z.string().nullable(),
  calls_per_second: callsPerSecond,
  overflow: overflowOut,
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
  .meta({
    id: 'TelephonyConfigurationDetail',
    description: 'A telephony configuration; secrets in `credentials` are masked.',
  });

export const configurationListItem = z
  .object({
    ...configurationFields,
    phone_number_count: z.int().describe('Active phone numbers.'),
    is_ready_for_outbound: z.boolean().describe('Whether calls can go out over it now.'),
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
  .object(
    Object.fromEntries(
      webhookKeys.map((key) => [
        warningName(key),
        z.int().describe(`Configurations of ${key.provider} without \`${key.field}\`.`),
      ]),
    ),
  )
  .meta({
    id: 'TelephonyConfigWarningsResponse',
    description: 'How many configurations lack what webhooks are verified with.',
  });

export const providersMetadata = z
  .object({
    providers: z.array(
      z.object({
        provider: configuredProviderName,
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
  })
  .describe('The providers, by name, with the fields of a form for each.');

const countryCode = z
  .string()
  .length(2)
  .meta({
    description:
      'Two letters (ISO 3166-1) of the country whose rules complete a number without `+`. Null or left out: the number has `+`.',
    examples: ['US'],
  });
const label = z.string().max(64).describe('A note for people, of at most 64 characters.');
const extraMetadata = 'Facts of your own, kept with the number: at most 64 kB and 2,000 values.';

export const phoneNumberCreate = z.object({
  address: z
    .string()
    .min(1)
    .max(255)
    .meta({
      description:
        'The number with `+` and country code (8 to 15 digits, E.164); or a SIP URI, or an extension of a PBX. 1 to 255 characters; it cannot be changed later.',
      examples: ['+14155550100'],
    }),
  country_code: countryCode.nullish(),
  label: label.nullish(),
  inbound_workflow_id: idIn
    .nullish()
    .describe(
      'Id of the agent that answers calls to the number; it must be valid. Null or left out: nobody answers.',
    ),
  telephony_trunk_id: idIn
    .nullish()
    .describe(
      'Id of the trunk over which its calls go. Null or left out: none; only for providers with trunks.',
    ),
  is_active: z
    .boolean()
    .default(true)
    .describe('False: no call goes out with the number, and calls to it are refused.'),
  is_default_caller_id: z
    .boolean()
    .default(false)
    .describe('Whether calls that name no number go out with this one, in place of another.'),
  overflow: overflowIn,
  extra_metadata: storedObject.default({}).describe(extraMetadata),
});

export const phoneNumberUpdate = z.object({
  label: label
    .nullish()
    .describe('A note for people, of at most 64 characters. Null clears it. Left out: unchanged.'),
  inbound_workflow_id: idIn
    .nullish()
    .describe(
      'Id of the agent that answers calls to the number; it must be valid. Null or left out: unchanged.',
    ),
  clear_inbound_workflow: z
    .boolean()
    .default(false)
    .describe('True: nobody answers calls to the number from here on.'),
  telephony_trunk_id: idIn
    .nullish()
    .describe('Id of the trunk over which its calls go. Null or left out: unchanged.'),
  clear_trunk: z.boolean().default(false).describe('True: the number goes over no trunk.'),
  is_active: z
    .boolean()
    .nullish()
    .describe(
      'False: no call goes out with the number, and calls to it are refused. Null or left out: unchanged.',
    ),
  overflow: overflowIn,
  country_code: countryCode
    .nullish()
    .describe('Two letters (ISO 3166-1) of its country. Null clears it. Left out: unchanged.'),
  extra_metadata: storedObject
    .nullish()
    .describe(`${extraMetadata} They take the place of all. Null or left out: unchanged.`),
});
export type PhoneNumberUpdate = z.infer<typeof phoneNumberUpdate>;

export const providerSync = z.object({
  ok: z.boolean().describe('Whether the provider did what the change asks for.'),
  message: z.string().nullable().describe('Why not.'),
});
export type ProviderSync = z.infer<typeof providerSync>;

export const phoneNumberOut = z
  .object({
    id: idOut,
    telephony_configuration_id: idOut,
    address: z.string().describe('As it was sent.'),
    address_normalized: z.string().describe('The form by which calls find it.'),
    address_type: z.enum(['pstn', 'sip_uri', 'sip_extension']),
    country_code: z.string().nullable(),
    label: z.string().nullable(),
    inbound_workflow_id: idOut.nullable(),
    inbound_workflow_name: z.string().nullable(),
    telephony_trunk_id: idOut.nullable(),
    is_active: z.boolean(),
    is_default_caller_id: z.boolean(),
    overflow: overflowOut,
    extra_metadata: freeObject,
    created_at: timeOut,
    updated_at: timeOut,
    provider_sync: providerSync.nullable(),
  })
  .meta({ id: 'PhoneNumberResponse', description: 'A phone number of a configuration.' });
