// Contents of Asterisk's configuration files for calls with this gateway. Texts only: nothing is read or sent. Source:
// asterisk §1, §2.1, §2.6, §4.

/** Transports of audio and events. `server`: the gateway connects to Asterisk for both. `client`: Asterisk connects
 *  to the gateway for audio. `incoming`: Asterisk connects for both. `audiosocket`, `rtp`: audio without
 *  chan_websocket. */
import { z } from 'zod';

/** Stands in the files for the password, which the gateway does not reveal. */
export const PASSWORD_WANTED = 'THE_PASSWORD_OF_THE_CONFIGURATION';

export const ADMIN_MODES = ['server', 'client', 'incoming', 'audiosocket', 'rtp'] as const;
export type AdminMode = (typeof ADMIN_MODES)[number];

export interface AdminWishes {
  mode: AdminMode;
  /** The gateway's URL for Asterisk: http(s), without a trailing slash. */
  gatewayUrl: string;
  /** ARI user and password: `app_name` and `app_password` of the configuration. */
  user: string;
  password: string;
  /** `stasis_app_name` of the configuration. */
  app: string;
  /** Section of websocket_client.conf: `ws_client_name` of the configuration. */
  clientName: string;
  /** Context of the dialplan for the calls. */
  context: string;
  /** Extensions for the agent; empty: every number that reaches the context. */
  numbers: readonly string[];
  /** Address of Asterisk's HTTP server. */
  bind: string;
  /** Whether that server has TLS. */
  isTls: boolean;
  /** `ari_endpoint` of a stored configuration; undefined if none is known. */
  endpoint?: string | undefined;
}

/** What a stored configuration says of the files. */
export interface StoredWishes {
  user: string;
  client: string;
  mode: string;
  app: string;
  isTls: boolean;
  endpoint?: string;
}

const storedCredentials = z.looseObject({
  ari_endpoint: z.string().catch(''),
  app_name: z.string().catch(''),
  stasis_app_name: z.string().optional().catch(undefined),
  ws_client_name: z.string().catch(''),
  media: z.string().catch('auto'),
  connection: z.string().catch('outgoing'),
});

const modeOfMedia: Readonly<Record<string, AdminMode>> = {
  websocket_client: 'client',
  audiosocket: 'audiosocket',
  rtp: 'rtp',
};

/** Reads the credentials of a configuration of Asterisk, as the API shows them. */
export function storedWishes(credentials: unknown): StoredWishes {
  const stored = storedCredentials.parse(credentials);
  const isIncoming = stored.connection === 'incoming';
  return {
    user: stored.app_name,
    client: stored.ws_client_name || 'patchbay',
    mode: isIncoming ? 'incoming' : (modeOfMedia[stored.media] ?? 'server'),
    app: stored.stasis_app_name ?? stored.app_name,
    isTls: stored.ari_endpoint.startsWith('https:'),
    endpoint: stored.ari_endpoint,
  };
}

export interface AdminFile {
  name: string;
  text: string;
}

export interface AdminPlan {
  files: AdminFile[];
  /** Commands for the PBX's shell, to run before the files are changed. */
  shell: string[];
  /** Commands for Asterisk's command line, in this order; for FreePBX, for its shell. */
  reloads: string[];
  /** Steps in a web interface. */
  steps: string[];
  checks: { command: string; shows: string }[];
  /** Members of `config` that the configuration must have, without the password. */
  configuration: Record<string, string>;
}

/** What a word in a file may be: one with other characters could add a line to it. */
export interface AdminWord {
  pattern: RegExp;
  /** The characters of the pattern, in words. */
  characters: string;
  lengthMin: number;
  lengthMax: number;
}

/** A section, a user, an application or a context, as Asterisk can parse it. */
export const ADMIN_NAME: AdminWord = {
  pattern: /^[A-Za-z0-9_.-]*$/,
  characters: 'letters, digits, and _ . -',
  lengthMin: 1,
  lengthMax: 80,
};
export const ADMIN_PASSWORD: AdminWord = {
  pattern: /^[A-Za-z0-9_.~!@%^*+=:-]*$/,
  characters: 'letters, digits, and _ . ~ ! @ % ^ * + = : -',
  lengthMin: 8,
  lengthMax: 200,
};
export const ADMIN_NUMBER: AdminWord = {
  pattern: /^\+?[0-9*#]*$/,
  characters: 'digits, * and #, with + before them or without',
  lengthMin: 1,
  lengthMax: 40,
};
export const ADMIN_ADDRESS: AdminWord = {
  pattern: /^[0-9a-fA-F.:]*$/,
  characters: 'those of an IP address',
  lengthMin: 2,
  lengthMax: 45,
};

/** Media path of the gateway, before the application's name. */
const MEDIA_PATH = '/api/v1/telephony/ws/ari/';
const EVENTS_PATH = '/api/v1/telephony/pbx/';
/** Header of a completed section: Asterisk reads only one of two plain sections with the same name. */
const GENERAL =
  '[general](+)               ; completes the [general] above; in a file without one: [general]';
/** Longest call, in seconds: longer than any call that is wanted. The gateway sets it when it takes the call
 *  (telephony/ari/calls/call-limit). */
const CALL_S = 3_600;
/** Longest time from the line before Stasis to the gateway's answer, in seconds. Asterisk keeps a ringing caller of a
 *  gateway that may not answer (read_only), or whose connection is lost, for as long as this allows. */
const RING_S = 60;
const CA_FILE = '/etc/ssl/certs/ca-certificates.crt';

export function adminPlan(wishes: AdminWishes): AdminPlan {
  const { mode } = wishes;
  const dialsUs = mode === 'client' || mode === 'incoming';
  return {
    shell: [],
    steps: [],
    files: [
      { name: 'http.conf', text: httpConf(wishes) },
      { name: 'ari.conf', text: ariConf(wishes) },
      ...(dialsUs ? [{ name: 'websocket_client.conf', text: websocketClientConf(wishes) }] : []),
      { name: 'extensions.conf', text: extensionsConf(wishes) },
    ],
    reloads: [
      'module reload http',
      ...(dialsUs ? ['module reload res_websocket_client.so'] : []),
      'module reload res_ari.so',
      'dialplan reload',
    ],
    checks: checksOf(wishes),
    configuration: configurationOf(wishes),
  };
}

function httpConf(wishes: AdminWishes): string {
  const { mode, bind, isTls } = wishes;
  if (mode === 'incoming') {
    return lines(
      GENERAL,
      'enabled = yes              ; ARI needs it, but it need not be reachable from outside',
      'bindaddr = 127.0.0.1',
      'bindport = 8088',
    );
  }
  const tls = [
    `tlsenable = yes            ; the ARI address is then ${endpointOf(wishes) ?? 'https://<name in the certificate>:8089'}`,
    `tlsbindaddr = ${bracketed(bind)}:8089`,
    'tlscertfile = /etc/asterisk/keys/fullchain.pem',
    'tlsprivatekey = /etc/asterisk/keys/privkey.pem',
  ];
  return lines(
    GENERAL,
    'enabled = yes',
    isTls
      ? 'bindaddr = 127.0.0.1       ; plain HTTP for this machine alone'
      : `bindaddr = ${bind}          ; let the firewall admit only the gateway`,
    'bindport = 8088',
    ...(isTls ? tls : []),
  );
}

function ariConf({ mode, user, password, app, clientName }: AdminWishes): string {
  const outbound = [
    '',
    `[${clientName}_events]`,
    'type = outbound_websocket',
    `websocket_client_id = ${clientName}_events`,
    `apps = ${app}`,
    'subscribe_all = no',
    `local_ari_user = ${user}`,
  ];
  return lines(
    GENERAL,
    'enabled = yes',
    '',
    `[${user}]`,
    'type = user',
    'read_only = no',
    `password = ${password}`,
    ...(mode === 'incoming' ? outbound : []),
  );
}

function websocketClientConf(wishes: AdminWishes): string {
  const { mode, clientName } = wishes;
  const media = clientSection(wishes, {
    name: clientName,
    type: 'per_call_config',
    speaks: 'media',
  });
  if (mode === 'client') return lines(...media);
  const name = `${clientName}_events`;
  return lines(...media, '', ...clientSection(wishes, { name, type: 'persistent', speaks: 'ari' }));
}

function clientSection(
  { gatewayUrl, user, password, app }: AdminWishes,
  section: { name: string; type: string; speaks: 'media' | 'ari' },
): string[] {
  const isTls = gatewayUrl.startsWith('https:');
  const path = `${section.speaks === 'media' ? MEDIA_PATH : EVENTS_PATH}${app}`;
  const tls = [
    'tls_enabled = yes          ; wss:// alone is not enough',
    `ca_list_file = ${CA_FILE}`,
    'verify_server_cert = yes',
    'verify_server_hostname = yes',
  ];
  return [
    `[${section.name}]`,
    'type = websocket_client',
    `connection_type = ${section.type}`,
    `uri = ${gatewayUrl.replace(/^http/, 'ws')}${path}`,
    `protocols = ${section.speaks}`,
    `username = ${user}`,
    `password = ${password}`,
    'connection_timeout = 500',
    'reconnect_interval = 500',
    'reconnect_attempts = 3',
    ...(isTls ? tls : ['tls_enabled = no']),
  ];
}

function extensionsConf({ mode, app, context, numbers }: AdminWishes): string {
  const wanted = numbers.length === 0 ? ['_[+0-9].'] : numbers;
  // Streams have no timestamps, so the gateway cannot put packets in order; for RTP it does.
  const jitterBuffer =
    ' same => n(jitter),Set(JITTERBUFFER(adaptive)=default)     ; puts the packets of the telephone in order: the gateway gets a stream';
  return lines(
    `[${context}]                 ; the trunk's endpoint: context = ${context}; or from another: include => ${context}`,
    ...wanted.flatMap((extension) => [
      `exten => ${extension},1,Set(TIMEOUT(absolute)=${RING_S})     ; seconds to answer: a gateway that cannot answer lets no caller ring for ever`,
      ...(mode === 'rtp' ? [] : [jitterBuffer]),
      ` same => n(stasis),Stasis(${app},inbound,\${EXTEN},${CALL_S})     ; ${CALL_S}: seconds of a call, set by the gateway when it answers: more than max_call_duration`,
      ` same => n,GotoIf($["\${STASISSTATUS}"="FAILED"]?away)`,
      ' same => n,Hangup()',
      ' same => n(away),Set(TIMEOUT(absolute)=0)',
      ' same => n,Congestion(5)     ; no gateway is connected, or a call gets no audio: Dial() or Voicemail() go here',
      ' same => n,Hangup()',
    ]),
  );
}

function checksOf({ mode, user, context, numbers, app, isTls }: AdminWishes): AdminPlan['checks'] {
  const socket = mode === 'server' || mode === 'client' || mode === 'incoming';
  const number = numbers[0] ?? '1000';
  return [
    {
      command: 'http show status',
      shows: `${isTls ? 'HTTPS Server Enabled' : 'Server Enabled and Bound'}; /ari/... in the list${socket ? ', and /media/...' : ''}`,
    },
    { command: 'ari show users', shows: `${user} with "No" for read only` },
    ...(socket
      ? [
          {
            command: 'module show like websocket',
            shows: 'chan_websocket, res_http_websocket, res_websocket_client, each Running',
          },
        ]
      : []),
    ...(mode === 'audiosocket'
      ? [{ command: 'module show like audiosocket', shows: 'chan_audiosocket, res_audiosocket' }]
      : []),
    ...(mode === 'rtp' ? [{ command: 'module show like chan_rtp', shows: 'chan_rtp' }] : []),
    ...(mode === 'incoming'
      ? [{ command: 'ari show websocket sessions', shows: `${app}, once the gateway runs` }]
      : [{ command: 'ari show apps', shows: `${app}, once the gateway runs` }]),
    {
      command: `dialplan show ${number}@${context}`,
      shows: `Stasis(${app},inbound,\${EXTEN},${CALL_S})`,
    },
  ];
}

function configurationOf(wishes: AdminWishes): Record<string, string> {
  const { mode, user, clientName, isTls } = wishes;
  const media: Record<AdminMode, string> = {
    server: 'websocket_server',
    client: 'websocket_client',
    incoming: 'websocket_client',
    audiosocket: 'audiosocket',
    rtp: 'rtp',
  };
  const dialsUs = mode === 'client' || mode === 'incoming';
  return {
    provider: 'ari',
    ari_endpoint:
      endpointOf(wishes) ??
      (mode === 'incoming' ? 'http://127.0.0.1:8088' : serverUrl('PBX', isTls)),
    app_name: user,
    media: media[mode],
    connection: mode === 'incoming' ? 'incoming' : 'outgoing',
    ...(dialsUs ? { ws_client_name: clientName } : {}),
  };
}

/** Asterisk's address as the gateway reaches it: the stored one, with the scheme and port that TLS needs; undefined if
 *  none is known. */
export function endpointOf({ mode, isTls, endpoint }: AdminWishes): string | undefined {
  if (endpoint === undefined || !URL.canParse(endpoint)) return undefined;
  const { protocol, hostname } = new URL(endpoint);
  const isAsWished = mode === 'incoming' || (protocol === 'https:') === isTls;
  return isAsWished ? endpoint : serverUrl(hostname, isTls);
}

function serverUrl(host: string, isTls: boolean): string {
  return isTls ? `https://${host}:8089` : `http://${host}:8088`;
}

/** The address in brackets if it is IPv6, for use before a port. */
function bracketed(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}

function lines(...all: string[]): string {
  return `${all.join('\n')}\n`;
}

/** Files for additions: FreePBX includes that of ari.conf after all sections; http.conf has no place for a second
 *  [general]. */
const FILE_NAMES: Readonly<Record<string, string>> = {
  'ari.conf': 'ari_additional_custom.conf',
  'extensions.conf': 'extensions_custom.conf',
  'websocket_client.conf': 'websocket_client.conf',
};

/** The plan for FreePBX, which writes http.conf, ari.conf and extensions.conf itself: its settings, the files that it
 *  leaves to the administrator, and the steps in its web interface. `plan`: that for a plain Asterisk. */
export function freePbxPlan(plan: AdminPlan, wishes: AdminWishes): AdminPlan {
  return {
    ...plan,
    shell: settingsOf(wishes),
    files: plan.files.flatMap(({ name, text }): AdminFile[] => {
      const own = FILE_NAMES[name];
      return own === undefined ? [] : [{ name: own, text: withoutGeneral(text) }];
    }),
    reloads: [
      'fwconsole reload',
      ...plan.reloads
        .filter((command) => command !== 'dialplan reload')
        .map((command) => `asterisk -rx '${command}'`),
    ],
    steps: stepsOf(wishes),
    configuration: { ...plan.configuration, dial_template: 'Local/{number}@from-internal/n' },
  };
}

/** Settings from which FreePBX writes [general] of both files. */
function settingsOf({ mode, bind, isTls }: AdminWishes): string[] {
  const isLocal = mode === 'incoming' || isTls;
  return [
    'fwconsole setting HTTPENABLED 1',
    `fwconsole setting HTTPBINDADDRESS ${isLocal ? '127.0.0.1' : bind}`,
    ...(isTls && mode !== 'incoming'
      ? ['fwconsole setting HTTPTLSENABLE 1', `fwconsole setting HTTPTLSBINDADDRESS ${bind}`]
      : []),
    'fwconsole setting ENABLE_ARI 1',
  ];
}

function stepsOf(wishes: AdminWishes): string[] {
  const { context, numbers, mode, isTls } = wishes;
  const address = endpointOf(wishes) ?? 'ari_endpoint';
  const wanted = numbers.length === 0 ? ['8000'] : numbers;
  return [
    ...wanted.map(
      (number) =>
        `Admin, Custom Destinations: Target ${context},${number},1; Description "Agent ${number}"; Return No`,
    ),
    'Connectivity, Inbound Routes: DID Number as the trunk sends it, Set Destination: Custom Destinations, Agent ...',
    ...(isTls && mode !== 'incoming'
      ? [`Admin, Certificate Management: a certificate for the name in ${address}, set as default`]
      : []),
    ...(mode === 'incoming'
      ? []
      : ['Connectivity, Firewall: the port of the mini-HTTP server for the gateway alone']),
    'Apply Config',
  ];
}

function withoutGeneral(text: string): string {
  return text.replace(/^\[general\]\(\+\)[^\n]*\n(?:[^[\n][^\n]*\n)*\n*/, '');
}
