// Asterisk's credentials for its REST interface: schema, form and secrets. Source: specification §2.2
// (ari), contract §4.2. The name of the Stasis application is minted when a configuration is stored.

import { z } from 'zod';
import { fieldFacts, type ProviderVariant, textField } from '../variant.ts';

const text = z.string().trim().min(1).max(500);

const agentInterface = z.object({
  url: text,
  username: text,
  password: text,
  source: z.string().max(100).default('patchbay'),
});

/** A dialler beside the PBX, as the reference's clients send it. Kept and masked, not acted upon. */
const externalPbx = z.object({
  type: z.literal('vicidial').default('vicidial'),
  agent_api: agentInterface,
  non_agent_api: z
    .object({
      url: text.nullable().default(null),
      username: text.nullable().default(null),
      password: text.nullable().default(null),
      source: z.string().max(100).default('patchbay'),
    })
    .nullable()
    .default(null),
  timeout_seconds: z.int().min(1).max(30).default(8),
});

const formFields = {
  ari_endpoint: z
    .url({ protocol: /^https?$/, hostname: /^.+$/ })
    .max(500)
    .register(fieldFacts, {
      label: 'ARI address',
      type: 'text',
      description: "Where Asterisk's HTTP server listens, without /ari.",
      placeholder: 'http://pbx.example.com:8088',
    }),
  app_name: textField({
    label: 'ARI user',
    type: 'text',
    description: 'The user name in ari.conf.',
  }),
  app_password: textField({
    label: 'ARI password',
    type: 'password',
    sensitive: true,
    description: 'The password of that user in ari.conf.',
  }),
  ws_client_name: z.string().trim().max(255).register(fieldFacts, {
    label: 'Websocket client',
    type: 'text',
    description: 'The connection in websocket_client.conf over which Asterisk sends us the audio.',
    placeholder: 'patchbay',
  }),
};
/** How the audio comes and goes. `auto`: the best of what the PBX has. */
export const mediaKind = z.enum([
  'auto',
  'websocket_server',
  'websocket_client',
  'audiosocket',
  'rtp',
]);
export type MediaKind = z.infer<typeof mediaKind>;

const mediaFormat = z.enum(['auto', 'ulaw', 'alaw', 'slin16', 'g722']);

/** Beyond the reference's: each has a default that keeps what was stored before working. */
const more = {
  /** `{number}`: digits; `{e164}`: with a plus before them. */
  dial_template: z
    .string()
    .trim()
    .min(1)
    .max(255)
    .regex(/^[A-Za-z0-9]+\/.*\{(number|e164)\}/, 'must be like PJSIP/{number}@trunk'),
  media: mediaKind,
  media_format: mediaFormat,
  /** Where a caller who is handed over goes on in the dialplan; empty: who they are handed to is called
   *  and brought into their call. */
  transfer_context: z.string().trim().max(80),
  /** `incoming`: Asterisk opens the connection to us (ari.conf, outbound_websocket). */
  connection: z.enum(['outgoing', 'incoming']),
};
const fields = { ...formFields, ...more, external_pbx: externalPbx.nullable() };
const provider = z.literal('ari');

export const ariConfig = z.object({
  provider,
  ...fields,
  ws_client_name: fields.ws_client_name.default(''),
  dial_template: more.dial_template.default('PJSIP/{number}'),
  media: mediaKind.default('auto'),
  media_format: mediaFormat.default('auto'),
  transfer_context: more.transfer_context.default(''),
  connection: more.connection.default('outgoing'),
  external_pbx: fields.external_pbx.default(null),
});

export const ariConfigPatch = z.object(fields).partial().extend({ provider });

export const ariVariant: ProviderVariant = {
  displayName: 'Asterisk (ARI)',
  connectivity: 'sip',
  accountIdField: null,
  fields: formFields,
  readableKeys: ['external_pbx', 'stasis_app_name', ...Object.keys(more)],
  mintKeys: (random) => ({ stasis_app_name: `patchbay_${random.bytes(6).toString('hex')}` }),
  callerIdOptional: true,
  nestedSecrets: [
    'external_pbx.agent_api.username',
    'external_pbx.agent_api.password',
    'external_pbx.non_agent_api.username',
    'external_pbx.non_agent_api.password',
  ],
  docsUrl: 'https://docs.asterisk.org/Configuration/Interfaces/Asterisk-REST-Interface-ARI/',
};
