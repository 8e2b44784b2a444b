// Faults of asterisk §7.1 that a real PBX can have during the run, where the gateway opens the connection.

import { AriSession } from '../../fakes/asterisk/scenarios/ari-session.ts';
import { CALLER, OUT_CONTEXT } from '../asterisk-side.ts';
import { type Configured, type FaultPlace, type Findings, OWN } from './fault-place.ts';

export type Fault = (place: FaultPlace) => Promise<Findings>;

/** The gateway's path for audio. */
export const MEDIA_PATH = '/api/v1/telephony/ws/ari/';
const REFUSED_MS_MAX = 10_000;
/** The dialled number, and the configured one. */
const DIALLED = '0901001234';
const STORED = '+34901001234';

export const addressFaults: Readonly<Record<string, Fault>> = {
  'The address has the port of SIP': (place) =>
    place.examined({ ari_endpoint: place.ariUrl.replace(/\d+$/, '5060') }),
  'The address ends with `/ari`': (place) =>
    place.examined({ ari_endpoint: `${place.ariUrl}/ari` }),
  '`https://` to the plain port': (place) =>
    place.examined({ ari_endpoint: place.ariUrl.replace('http', 'https') }),
  'Wrong user or password': (place) => place.examined({ app_password: 'wrong' }),
  'The user may only read': async (place) => {
    const password = 'patchbay-run-reads';
    const user = [`[${OWN.reader}]`, 'type = user', 'read_only = yes', `password = ${password}`];
    await place.files({ 'ari.conf': `${user.join('\n')}\n` });
    return place.examined({ app_name: OWN.reader, app_password: password });
  },
  'Another program has taken the application': async (place) => {
    const made = await place.connected();
    const other = await AriSession.open(place.stage.pbx.account, made.app);
    place.atEnd(() => Promise.resolve(other.close()));
    await place.untilDown(made);
    return place.examine(made);
  },
};

export const moduleFaults: Readonly<Record<string, Fault>> = {
  'A module is missing': async (place) => {
    await place.withoutModule('chan_websocket.so');
    return place.examined({});
  },
  'The codec of `media_format` is missing': async (place) => {
    await place.withoutModule('codec_g722.so');
    return place.examined({ media_format: 'g722' });
  },
  '`func_dialplan` is not loaded': async (place) => {
    await place.withoutModule('func_dialplan.so');
    return place.examined({});
  },
  '`websocket_client.conf` has no such section': (place) => place.examined(clientMedia()),
  '`wss://` without `tls_enabled`': (place) =>
    withSection(place, (uri) => [`uri = ${uri.replace('ws:', 'wss:')}`, 'tls_enabled = no']),
  "No authorities for the gateway's certificate": (place) =>
    withSection(place, (uri) => [`uri = ${uri.replace('ws:', 'wss:')}`, 'tls_enabled = yes']),
  'Another password in `websocket_client.conf`': (place) =>
    withSection(place, (uri) => [`uri = ${uri}`, `username = ${CALLER}`, 'password = old']),
  'No gateway listens where `websocket_client.conf` leads': (place) =>
    withSection(place, (uri) => [`uri = ${uri.replace(/:\d+\//, ':9/')}`]),
};

export const dialplanFaults: Readonly<Record<string, Fault>> = {
  '`dial_template` names no endpoint': (place) =>
    place.examined({ dial_template: 'PJSIP/{number}@nope' }),
  'The trunk is not registered': async (place) => {
    const endpoint = [`[${OWN.dead}]`, 'type = endpoint', `aors = ${OWN.dead}`, 'allow = ulaw'];
    const aor = [`[${OWN.dead}]`, 'type = aor', 'max_contacts = 1'];
    await place.files({ 'pjsip.conf': `${[...endpoint, ...aor].join('\n')}\n` });
    return place.examined({ dial_template: `PJSIP/{number}@${OWN.dead}` });
  },
  '`Local/...` without `/n`': (place) =>
    place.examined({ dial_template: `Local/{number}@${OUT_CONTEXT}` }),
  '`transfer_context` is no context': (place) => place.examined({ transfer_context: 'nope' }),
  'The trunk sends numbers in another form': async (place) => {
    const made = await place.connected({}, [STORED]);
    place.names = { ...place.names, '15550100': DIALLED, '+15550100': STORED };
    const line = `exten => ${DIALLED},1,Stasis(${made.app},inbound,\${EXTEN})`;
    await place.files({ 'extensions.conf': `[${CALLER}](+)\n${line}\n` });
    const caller = await place.stage.callIn(DIALLED);
    await caller.refused(REFUSED_MS_MAX);
    return place.examine(made);
  },
  'No line for a number (`--numbers`)': (place) => numbersCalled(place, () => []),
  'The trunk has another context than the lines (`--numbers`)': (place) =>
    numbersCalled(
      place,
      () => [],
      ({ app }) => `[patchbay-in]\nexten => ${OWN.number},1,Stasis(${app},inbound,\${EXTEN})\n`,
    ),
  'The line names another application (`--numbers`)': (place) =>
    numbersCalled(place, () => [`exten => ${OWN.number},1,Stasis(old,inbound,\${EXTEN})`]),
  'Something else answers the number (`--numbers`)': (place) =>
    numbersCalled(place, () => [`exten => ${OWN.number},1,Answer()`, ' same => n,Wait(30)']),
};

export const clientMedia = () => ({ media: 'websocket_client', ws_client_name: OWN.section });

/** A section of websocket_client.conf, all right but for `wrong`. */
export async function withSection(
  place: FaultPlace,
  wrong: (uri: string, made: Configured) => readonly string[],
  fields: Record<string, unknown> = clientMedia(),
): Promise<Findings> {
  const made = await place.configured(fields);
  const { configuration, gatewayUrl } = place.stage;
  const settings = [
    'type = websocket_client',
    'connection_type = per_call_config',
    'protocols = media',
    `username = ${String(configuration['app_name'])}`,
    `password = ${String(configuration['app_password'])}`,
    ...wrong(`${gatewayUrl.replace('http', 'ws')}${MEDIA_PATH}${made.app}`, made),
  ];
  // Of two lines with one name Asterisk takes the later.
  await place.files({ 'websocket_client.conf': `[${OWN.section}]\n${settings.join('\n')}\n` });
  return place.examine(made);
}

async function numbersCalled(
  place: FaultPlace,
  lines: (made: Configured) => readonly string[],
  elsewhere: (made: Configured) => string = () => '',
): Promise<Findings> {
  const made = await place.connected({}, [OWN.number]);
  const context = [`[${OWN.context}]`, 'exten => 0,1,Hangup()', ...lines(made), ''];
  await place.files({ 'extensions.conf': `${context.join('\n')}\n${elsewhere(made)}` });
  return place.examine(made, { call_numbers: true, context: OWN.context });
}
