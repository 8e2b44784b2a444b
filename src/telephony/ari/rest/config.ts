// Asterisk's credentials for its REST interface: schema, form and secrets, and the account that is derived from
// valid ones. The name of the Stasis application is generated when a configuration is stored.
// Source: specification §2.2 (ari), contract §4.2.

import { z } from 'zod';
import {
  credentialsOf,
  fieldFacts,
  selectField,
  switchField,
  textField,
} from '../../provider/configuration-fields.ts';
import { incompleteCredentials } from '../../provider/rest-failure.ts';
import type { ProviderCredentials } from '../../provider/terms.ts';

const text = z.string().trim().min(1).max(500);
const source = z
  .string()
  .max(100)
  .default('patchbay')
  .describe("Name under which the requests appear in the dialler's log.");

const agentInterface = z.object({
  url: text.describe("Address of the dialler's interface for agents."),
  username: text.describe('User of that interface.'),
  password: text.describe('Password of that user; masked in responses.'),
  source,
});

/** Settings of a dialler at the PBX, as the reference's clients send them. Stored and masked, but not used. */
const externalPbx = z.object({
  type: z.literal('vicidial').default('vicidial').describe('Kind of the dialler.'),
  agent_api: agentInterface.describe("The dialler's interface for agents."),
  non_agent_api: z
    .object({
      url: text.nullable().default(null).describe('Address of the interface.'),
      username: text.nullable().default(null).describe('User of that interface.'),
      password: text
        .nullable()
        .default(null)
        .describe('Password of that user; masked in responses.'),
      source,
    })
    .nullable()
    .default(null)
    .describe("The dialler's interface for other programs. Null: none."),
  timeout_seconds: z
    .int()
    .min(1)
    .max(30)
    .default(8)
    .describe('Seconds that one of its answers may take.'),
});

/** Transport of the audio. `auto`: the best that the PBX has. */
const mediaKind = selectField(
  [
    { value: 'auto', label: 'The best that the PBX has' },
    { value: 'websocket_server', label: 'Media websocket, the gateway dials' },
    { value: 'websocket_client', label: 'Media websocket, Asterisk dials' },
    { value: 'audiosocket', label: 'AudioSocket (TCP)' },
    { value: 'rtp', label: 'RTP (UDP)' },
  ],
  {
    label: 'Way of the audio',
    description:
      'Leave it to the PBX unless the doctor says otherwise. Media websockets need Asterisk 20.18, 22.8, 23.2 or newer; the one that Asterisk dials needs the websocket client below. AudioSocket and RTP are for older ones, and need a port of the gateway that the PBX reaches.',
  },
);
export type MediaKind = z.infer<typeof mediaKind>;

function hasUser(address: string): boolean {
  const { username = '', password = '' } = URL.parse(address) ?? {};
  return `${username}${password}` !== '';
}

/** Whether it names the interface too, whose path is appended, or has a query. A proxy may have a path of its own. */
function isLonger(address: string): boolean {
  const { pathname = '', search = '', hash = '' } = URL.parse(address) ?? {};
  return /(^|\/)ari(\/|$)/i.test(pathname) || `${search}${hash}` !== '';
}

const serverUrl = z
  .url({ protocol: /^https?$/, hostname: /^.+$/, error: 'must begin with http:// or https://' })
  .max(500);

export const ariCredentials = credentialsOf('ari', {
  ari_endpoint: serverUrl
    .refine((text) => !hasUser(text), 'leave the user out: it is app_name, with app_password')
    .refine((text) => !isLonger(text), 'give the address of the server alone, without /ari')
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
  /** `{number}`: digits; `{e164}`: with a plus before them. */
  dial_template: z
    .string()
    .trim()
    .min(1)
    .max(255)
    .regex(/^[A-Za-z0-9]+\/.*\{(number|e164)\}/, 'must be like PJSIP/{number}@trunk')
    .register(fieldFacts, {
      label: 'How numbers are dialled',
      type: 'text',
      description:
        "Asterisk's dial string: {number} is the number without its plus, {e164} with it. PJSIP/{number}@TRUNK through a trunk, PJSIP/{number} for telephones of the PBX itself, Local/{number}@from-internal/n through its own rules (FreePBX).",
      placeholder: 'PJSIP/{number}@trunk',
    })
    .default('PJSIP/{number}'),
  early_media: switchField({
    label: 'Record what sounds before an answer',
    description:
      'Announcements, ring-back and busy tones of calls out are part of the recording. The call rings all the same, and the agent neither hears nor speaks before the answer. Each call that rings takes as much as one that talks.',
  }),
  /** Context in which transferred callers continue in the dialplan; empty: the destination is dialled and added
   *  to the caller's bridge. */
  transfer_context: z
    .string()
    .trim()
    .max(80)
    .register(fieldFacts, {
      label: 'Context for transfers',
      type: 'text',
      description:
        'A caller who is transferred goes on in this context of the dialplan, at the extension that is the destination: for queues and rules of the PBX. Leave it empty, and the gateway calls the destination and brings it into the call.',
      placeholder: 'from-internal',
    })
    .default(''),
  /** `incoming`: Asterisk opens the connection to us (ari.conf, outbound_websocket). */
  connection: selectField(
    [
      { value: 'outgoing', label: 'The gateway dials Asterisk' },
      { value: 'incoming', label: 'Asterisk dials the gateway' },
    ],
    {
      label: 'Who opens the connection',
      description:
        'The gateway, wherever it reaches the ARI address. Asterisk, from behind a NAT or firewall that lets nothing in: it needs outbound_websocket in ari.conf and 20.18, 22.8, 23.2 or newer.',
    },
  ).default('outgoing'),
  media: mediaKind.default('auto'),
  ws_client_name: z
    .string()
    .trim()
    .max(255)
    .register(fieldFacts, {
      label: 'Websocket client',
      type: 'text',
      description:
        'The connection in websocket_client.conf over which Asterisk sends us the audio, where it is Asterisk that dials.',
      placeholder: 'patchbay',
    })
    .default(''),
  media_format: selectField(
    [
      { value: 'auto', label: 'What fits (µ-law, or 8 kHz linear over AudioSocket)' },
      { value: 'ulaw', label: 'µ-law, 8 kHz' },
      { value: 'alaw', label: 'A-law, 8 kHz' },
      { value: 'slin16', label: 'Linear, 16 kHz' },
      { value: 'g722', label: 'G.722, 16 kHz' },
    ],
    {
      label: 'Format of the audio',
      description:
        "The one that the PBX's trunks use costs it no conversion: µ-law in America and Japan, A-law elsewhere, G.722 where telephones speak wideband.",
    },
  ).default('auto'),
  external_pbx: externalPbx
    .nullable()
    .describe('Settings of a dialler beside the PBX. Stored and masked, but not used. Null: none.')
    .default(null),
});

/** A configuration as it may be stored: the rules of the address came later than some of them. */
const storedConfig = ariCredentials.schema.extend({ ari_endpoint: serverUrl });

export type AriConfig = z.infer<typeof ariCredentials.schema>;

export interface AriAccount extends AriConfig {
  /** The Stasis application, which no other configuration has. Contract §0: configurations stored without one
   *  use the user's name. */
  app: string;
}

/** Throws PROVIDER_AUTH if the credentials cannot be Asterisk's. */
export function accountOf(credentials: ProviderCredentials): AriAccount {
  const config = storedConfig.safeParse({ ...credentials, provider: 'ari' });
  if (!config.success) throw incompleteCredentials('ari', config.error);
  return { ...config.data, app: applicationOf(credentials) ?? config.data.app_name };
}

/** The Stasis application; undefined without one. */
export function applicationOf(credentials: ProviderCredentials): string | undefined {
  for (const name of ['stasis_app_name', 'app_name']) {
    const value = credentials[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

export function basicAuth({ app_name, app_password }: AriAccount): string {
  return `Basic ${Buffer.from(`${app_name}:${app_password}`).toString('base64')}`;
}

/** The REST interface's address, without a trailing slash. */
export function restUrl({ ari_endpoint }: AriAccount): string {
  return `${ari_endpoint.replace(/\/+$/, '')}/ari`;
}
