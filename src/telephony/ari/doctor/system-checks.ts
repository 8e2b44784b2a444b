// Checks Asterisk itself: release, modules, the application, its connection of websocket_client.conf.
// Source: asterisk §2.6, §4, §6, §7.

import { z } from 'zod';
import {
  type CheckOutcome,
  type CheckSubject,
  fail,
  pass,
  skip,
  warn,
} from '../../provider/check.ts';
import type { Finding } from '../../provider/pbx.ts';
import { isLoopback, mayBeOnThisMachine } from '../media/gateway-address.ts';
import type { MediaChoice, MediaWay } from '../media/transport-selection.ts';
import { judgeRelease } from '../media/transport-selection.ts';
import type { AriAccount } from '../rest/config.ts';
import { type CheckContext, check } from './check.ts';

const REQUEST_MS_MAX = 8_000;
const VERSION: CheckSubject = { key: 'version', title: 'Version' };
const MODULES: CheckSubject = { key: 'modules', title: 'Modules' };
export const APPLICATION: CheckSubject = { key: 'application', title: 'Application' };
const CLIENT: CheckSubject = { key: 'websocket_client', title: 'websocket_client.conf' };
const RELOAD = 'then module reload res_websocket_client.so';
const SOCKET_PATH = '/api/v1/telephony/ws/ari';

export function versionFinding(account: AriAccount, version: string): Finding {
  return { ...VERSION, ...judgeRelease(version, account.connection === 'incoming') };
}

const modulesSchema = z.array(z.looseObject({ name: z.string(), status: z.string().catch('') }));

const always = ['res_stasis', 'app_stasis', 'bridge_simple', 'bridge_softmix'];
const ofWay: Readonly<Record<MediaWay, readonly string[]>> = {
  websocket_server: ['chan_websocket', 'res_http_websocket'],
  websocket_client: ['chan_websocket', 'res_http_websocket', 'res_websocket_client'],
  audiosocket: ['chan_audiosocket', 'res_audiosocket'],
  rtp: ['chan_rtp'],
};
const ofFormat: Readonly<Record<string, string>> = {
  ulaw: 'codec_ulaw',
  alaw: 'codec_alaw',
  g722: 'codec_g722',
  slin16: 'codec_resample',
};

export function modulesFinding(
  context: CheckContext,
  { way, format }: MediaChoice,
): Promise<Finding> {
  return check(context, { ...MODULES, msMax: REQUEST_MS_MAX }, async (signal) => {
    const request = { action: 'modules', method: 'GET', path: 'asterisk/modules' } as const;
    const modules = await context.client.get(request, modulesSchema, signal);
    const isRunning = new Map(
      modules.map(({ name, status }) => [name.replace(/\.so$/, ''), status !== 'Not Running']),
    );
    const codec = ofFormat[format];
    const wanted = [...always, ...ofWay[way], ...(codec === undefined ? [] : [codec])];
    const missing = wanted.filter((name) => isRunning.get(name) !== true);
    if (missing.length === 0) return pass(`Everything for ${way} with ${format} is loaded.`);
    const absent = missing.filter((name) => !isRunning.has(name));
    return fail(
      `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not ${absent.length > 0 ? 'loaded' : 'running'}.`,
      `${missing.map((name) => `module load ${name}.so`).join('; ')}. If that fails: is it kept out by noload in modules.conf, left out of the build, or in a package of its own? Another way of the audio may be there: "media" of the configuration.`,
    );
  });
}

/** Checks whether a client is connected for the application, and which one. */
export function applicationFinding(context: CheckContext): Promise<Finding> {
  const { account, client, live } = context;
  const app = account.app;
  return check(context, { ...APPLICATION, msMax: REQUEST_MS_MAX }, async (signal) => {
    if (live?.state.kind === 'down' && live.state.code === 'PBX_APP_TAKEN') {
      return fail(
        `Another program has taken ${app} over and gets its calls.`,
        'Give every program an application of its own (a second gateway: a configuration of its own), and stop the other one. ari show apps and ari show websocket sessions show who it is.',
      );
    }
    const path = `applications/${encodeURIComponent(app)}`;
    const { status } = await client.send({ action: 'application', method: 'GET', path }, signal);
    const isOurs = live?.state.kind === 'up';
    if (status === 200 && isOurs) return pass(`This gateway is connected as ${app}.`);
    if (status === 200) {
      return warn(
        `A client other than this process of the gateway is connected as ${app}.`,
        'Right if another node of the gateway holds the connection. Otherwise another program gets the calls: it must use an application of its own.',
      );
    }
    if (status !== 404) return warn(`Asterisk answers with ${status}.`, 'See its log.');
    const why = live?.state.kind === 'down' ? ` ${live.state.message}` : '';
    return fail(
      `No client is connected as ${app}: calls that the dialplan sends there fail.${why}`,
      live?.state.kind === 'down'
        ? 'If everything else is right: the gateway tries again within half a minute; run this again then.'
        : 'The gateway connects every active configuration within seconds. Is this one inactive (reactivate it), and is the gateway running?',
    );
  });
}

const attributes = z.array(z.object({ attribute: z.string(), value: z.string() }));

/** Checks the websocket_client.conf section for audio over connections that Asterisk opens. Reports no other field of
 *  it. */
export function clientFinding(context: CheckContext): Promise<Finding> {
  const { account, client } = context;
  const name = account.ws_client_name;
  return check(context, { ...CLIENT, msMax: REQUEST_MS_MAX }, async (signal) => {
    if (name === '') {
      return fail(
        'The configuration names no connection (ws_client_name).',
        'Add a section to websocket_client.conf and give its name as ws_client_name: npx patchbay asterisk config --mode client prints one.',
      );
    }
    const path = `asterisk/config/dynamic/res_websocket_client/websocket_client/${encodeURIComponent(name)}`;
    const { status, body } = await client.send({ action: 'look', method: 'GET', path }, signal);
    if (status === 404) {
      return fail(
        `websocket_client.conf has no section ${name}.`,
        `Add [${name}] (npx patchbay asterisk config --mode client prints it), then module reload res_websocket_client.so; or correct ws_client_name.`,
      );
    }
    const found = attributes.safeParse(body).data;
    if (status !== 200 || found === undefined) {
      return skip('Asterisk does not show its files; the audio test checks it.');
    }
    const values = new Map(found.map(({ attribute, value }) => [attribute, value]));
    return sectionOutcome(context, (key) => values.get(key) ?? '');
  });
}

function sectionOutcome(
  { account, publicUrl }: CheckContext,
  value: (key: string) => string,
): CheckOutcome {
  const name = account.ws_client_name;
  const uri = URL.parse(value('uri'));
  const isTls = value('tls_enabled') === 'yes';
  if (value('connection_type') !== 'per_call_config') {
    return fail(
      `[${name}] has connection_type = ${value('connection_type')}.`,
      `connection_type = per_call_config, ${RELOAD}.`,
    );
  }
  const mismatch = schemeFault(name, uri, isTls);
  if (mismatch !== undefined) return mismatch;
  if (leadsToPbx(account, uri)) {
    return fail(
      `[${name}] leads to ${uri?.host}, which is the PBX itself.`,
      `The gateway's address as the PBX reaches it in uri, and in PATCHBAY_PUBLIC_URL; ${RELOAD}.`,
    );
  }
  const wanted = URL.parse(publicUrl);
  // Without the application the socket reaches the first call worker.
  const short = `${wanted?.pathname.replace(/\/+$/, '') ?? ''}${SOCKET_PATH}`;
  if (uri === null || ![short, `${short}/${account.app}`].includes(uri.pathname)) {
    return fail(
      `[${name}] has the path ${uri?.pathname ?? '(none)'}: the gateway accepts no media there.`,
      `uri = ${publicUrl.replace(/^http/, 'ws')}${SOCKET_PATH}/${account.app}, ${RELOAD}.`,
    );
  }
  if (isTls && trustsNobody(value)) {
    return warn(
      `[${name}] names no authorities (ca_list_file): Asterisk may trust no certificate.`,
      `ca_list_file = /etc/ssl/certs/ca-certificates.crt, ${RELOAD}.`,
    );
  }
  const login = loginFault(account, value);
  if (login !== undefined) {
    return warn(
      `[${name}] has another ${login} than the configuration. The gateway knows calls by their channel ids and takes the audio all the same; a proxy before it may not.`,
      `username = ${account.app_name} and password = the configuration's app_password, ${RELOAD}.`,
    );
  }
  if (uri.host !== wanted?.host) {
    return warn(
      `[${name}] leads to ${uri.host}; the gateway calls itself ${wanted?.host ?? publicUrl}.`,
      'Right if both are this gateway. Otherwise correct uri, or PATCHBAY_PUBLIC_URL.',
    );
  }
  if (value('protocols') !== 'media') {
    return warn(`[${name}] has not protocols = media.`, `Add it, ${RELOAD}.`);
  }
  return pass(`[${name}] leads to this gateway.`);
}

function schemeFault(name: string, uri: URL | null, isTls: boolean): CheckOutcome | undefined {
  if (uri?.protocol === 'wss:' && !isTls) {
    return fail(
      `[${name}] has a wss:// address without tls_enabled: Asterisk speaks plain HTTP to it.`,
      `tls_enabled = yes, ${RELOAD}.`,
    );
  }
  if (uri?.protocol !== 'ws:' || !isTls) return undefined;
  return fail(
    `[${name}] has tls_enabled with a ws:// address.`,
    `wss:// in uri, or tls_enabled = no, ${RELOAD}.`,
  );
}

function trustsNobody(value: (key: string) => string): boolean {
  const isVerified = value('verify_server_cert') === 'yes';
  return isVerified && value('ca_list_file') === '' && value('ca_list_path') === '';
}

/** The fault of the stored login, without its user and password. */
function loginFault(account: AriAccount, value: (key: string) => string): string | undefined {
  const isUser = value('username') === account.app_name;
  const isPassword = value('password') === account.app_password;
  if (isUser && isPassword) return undefined;
  if (isUser) return 'password';
  return isPassword ? 'username' : 'username and password';
}

function leadsToPbx(account: AriAccount, uri: URL | null): boolean {
  return isLoopback(uri?.hostname ?? '') && !mayBeOnThisMachine(account);
}
