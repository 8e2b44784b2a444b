// Checks the connection to Asterisk. One that the gateway opens: address, HTTP, TLS, user, rights. One that Asterisk
// opens: whether it is open, and if not, why its attempts failed. Source: asterisk §2.6, §4, §7.

import { codeOf } from '../../../errors/gateway-error.ts';
import {
  type CheckOutcome,
  type CheckSubject,
  fail,
  pass,
  skip,
  warn,
} from '../../provider/check.ts';
import { type Finding, PBX_PATH } from '../../provider/pbx.ts';
import { connectionFault, hostOf, TAKEN_ADVICE } from '../connection/connection-fault.ts';
import { NOT_CONNECTED } from '../connection/outbound-websocket.ts';
import type { RefusalCause, RefusedConnection } from '../connection/refused-connections.ts';
import { createChannelIds } from '../rest/channel-ids.ts';
import type { AriAnswer } from '../rest/client.ts';
import type { AriAccount } from '../rest/config.ts';
import { ariInfo } from '../rest/messages.ts';
import { type CheckContext, check } from './check.ts';
import { APPLICATION } from './system-checks.ts';

const REQUEST_MS_MAX = 6_000;
const ADDRESS: CheckSubject = { key: 'address', title: 'Address' };
const HTTP: CheckSubject = { key: 'http', title: 'HTTP' };
const TLS: CheckSubject = { key: 'tls', title: 'TLS' };
const USER: CheckSubject = { key: 'user', title: 'ARI user' };
const RIGHTS: CheckSubject = { key: 'rights', title: 'Rights' };

export interface LinkReport {
  findings: Finding[];
  /** As Asterisk reports it; undefined if it cannot be asked. */
  version: string | undefined;
}

export async function examineLink(context: CheckContext): Promise<LinkReport> {
  const { account } = context;
  let answer: AriAnswer | undefined;
  let tlsFault: CheckOutcome | undefined;
  const http = await check(context, { ...HTTP, msMax: REQUEST_MS_MAX }, async (signal) => {
    try {
      const query = { only: 'system' };
      answer = await context.client.send(
        { action: 'info', method: 'GET', path: 'asterisk/info', query },
        signal,
      );
    } catch (error) {
      if (signal.aborted) return silent(account);
      tlsFault = tlsFaultOf(account, error);
      if (tlsFault === undefined) return unreached(account, error);
      return pass(`${hostOf(account)} accepts connections.`);
    }
    return httpOutcome(account, answer);
  });
  const tls = tlsFault ?? (http.verdict === 'pass' ? tlsOutcome(account) : undefined);
  const isThere = tlsFault === undefined && http.verdict === 'pass';
  const user = isThere
    ? userOutcome(account, answer)
    : skip('Not checked: correct the connection first.');
  const findings: Finding[] = [
    addressFinding(account),
    http,
    { ...TLS, ...(tls ?? skip('Not checked: correct HTTP first.')) },
    { ...USER, ...user },
  ];
  const version = ariInfo.safeParse(answer?.body).data?.system?.version;
  if (answer?.status === 200 && version !== undefined) findings.push(await rights(context));
  else findings.push({ ...RIGHTS, ...skip('Not checked: correct the user first.') });
  const isUsable = findings.every(({ verdict }) => verdict !== 'fail');
  return { findings, version: isUsable ? version : undefined };
}

function addressFinding({ ari_endpoint }: AriAccount): Finding {
  const url = URL.parse(ari_endpoint);
  if (url?.search || url?.hash) {
    return {
      ...ADDRESS,
      ...fail('The address has a query or a fragment.', 'Remove what follows ? or #.'),
    };
  }
  if (url?.username || url?.password) {
    return {
      ...ADDRESS,
      ...warn(
        'There is a user or a password in the address, which every user can see.',
        'Remove them: the gateway uses app_name and app_password.',
      ),
    };
  }
  const path = url?.pathname.replace(/\/+$/, '') ?? '';
  if (/\/ari$/.test(path)) {
    return {
      ...ADDRESS,
      ...fail('The address ends with /ari.', 'Remove /ari: the gateway adds it itself.'),
    };
  }
  const other: Readonly<Record<string, string>> = {
    5060: 'SIP',
    5061: 'SIP over TLS',
    5038: 'the manager interface (AMI)',
    4569: 'IAX',
  };
  const wrong = other[url?.port ?? ''];
  if (wrong !== undefined) {
    return {
      ...ADDRESS,
      ...fail(
        `Port ${url?.port} is that of ${wrong}.`,
        "Give the port of Asterisk's HTTP server: 8088, or 8089 with https://. http show status shows it.",
      ),
    };
  }
  return { ...ADDRESS, ...pass(ari_endpoint) };
}

function unreached(account: AriAccount, error: unknown): CheckOutcome {
  if (codeOf(error) === 'PROVIDER_TIMEOUT') return silent(account);
  const cause = rootOf(error);
  const known = faultsByWord(account)[wordOf(cause)];
  if (known !== undefined) return known;
  return fail(
    connectionFault(account, cause).message,
    'http show status, on Asterisk, shows where its HTTP server listens.',
  );
}

function silent(account: AriAccount): CheckOutcome {
  return fail(
    `${hostOf(account)} does not answer.`,
    'A firewall drops the packets, the address is wrong, or Asterisk is stuck. Is the port open for the address of the gateway?',
  );
}

/** Findings by the system's error code. */
function faultsByWord(account: AriAccount): Readonly<Record<string, CheckOutcome>> {
  const host = hostOf(account);
  const isLocal = /^(localhost|127\.|\[::1\])/.test(host);
  const doubled =
    'Of two [general] sections Asterisk reads the first alone: added lines go into it, or into [general](+).';
  const closed = fail(
    `${host} closes the connection without an answer.`,
    'The port may be the one of TLS: give https:// with it. Otherwise it is not that of an HTTP server.',
  );
  return {
    ECONNREFUSED: fail(
      `Nothing listens at ${host}.`,
      isLocal
        ? `That address is the machine (or the container) of the gateway itself. If Asterisk is there: enabled = yes in http.conf, then core reload; http show status shows the port. ${doubled}`
        : `Asterisk's HTTP server is off or listens on 127.0.0.1 alone: enabled = yes and bindaddr in http.conf, then core reload; http show status shows the result. ${doubled}`,
    ),
    ENOTFOUND: fail(
      `The name in ${host} is not known.`,
      'Correct the address, or give its number.',
    ),
    EAI_AGAIN: fail(
      `The name in ${host} cannot be looked up.`,
      'Correct the address, or give its number: containers get this error for unknown names. Otherwise the name server of the gateway does not answer.',
    ),
    ECONNRESET: closed,
    UND_ERR_SOCKET: closed,
    UND_ERR_CONNECT_TIMEOUT: silent(account),
    ETIMEDOUT: silent(account),
  };
}

/** The finding of a TLS error; undefined for other errors. */
function tlsFaultOf(account: AriAccount, error: unknown): CheckOutcome | undefined {
  const host = hostOf(account);
  const word = wordOf(rootOf(error));
  if (/^(ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)|EPROTO)$/.test(word)) {
    return fail(
      `${host} does not speak TLS.`,
      'The port is that of plain HTTP: give http:// with it, or the TLS port (tlsbindaddr in http.conf, 8089) with https://.',
    );
  }
  if (/SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED/.test(word)) {
    return fail(
      `The certificate of ${host} is signed by an authority that the gateway does not know.`,
      'Use a certificate of a public authority, with the intermediate ones in tlscertfile; or start the gateway with NODE_EXTRA_CA_CERTS=/path/of/your/ca.pem.',
    );
  }
  if (word === 'CERT_HAS_EXPIRED') {
    return fail(
      `The certificate of ${host} has expired.`,
      'Renew it, then on Asterisk: core reload.',
    );
  }
  if (word === 'CERT_NOT_YET_VALID') {
    return fail(
      `The certificate of ${host} is not valid yet.`,
      'Set the clocks of the gateway and of the machine that made the certificate.',
    );
  }
  if (word === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return fail(
      `The certificate of ${host} is for another name.`,
      'Give the address with the name that is in the certificate.',
    );
  }
  if (!/^(ERR_SSL|ERR_TLS|CERT_)/.test(word)) return undefined;
  return fail(
    `No TLS connection to ${host}: ${word}.`,
    'Compare tlscertfile, tlscipher and tlsdisable... in http.conf with what the gateway can: TLS 1.2 and 1.3.',
  );
}

function wordOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** The first cause in the chain: the system's own error. */
function rootOf(error: unknown): Error {
  let root = error instanceof Error ? error : new Error('unknown');
  for (let depth = 0; depth < 5 && root.cause instanceof Error; depth++) root = root.cause;
  return root;
}

function httpOutcome(account: AriAccount, { status, body }: AriAnswer): CheckOutcome {
  const host = hostOf(account);
  if (status === 401 || (status === 200 && ariInfo.safeParse(body).data?.system !== undefined)) {
    return pass(`Asterisk answers at ${host}.`);
  }
  if (status === 404) {
    return fail(
      `An HTTP server answers at ${host}, but without ARI.`,
      'enabled = yes in ari.conf, then module reload res_ari.so (or module load res_ari.so). With a prefix in http.conf the address needs it: http://host:8088/prefix. http show status must list /ari/...',
    );
  }
  if (status === 403) {
    return fail(
      `${host} refuses every request of the gateway (403).`,
      "Allow the gateway's address in restrict (http.conf) and acl (ari.conf).",
    );
  }
  if (status >= 300 && status < 400) {
    return fail(
      `${host} redirects the gateway (${status}).`,
      'Give the address at which ARI itself answers: redirects are not followed, as they would carry the password along.',
    );
  }
  if (status === 503) {
    return fail(
      `${host} has no session left (503).`,
      'Raise sessionlimit in http.conf, or find out who keeps so many connections open.',
    );
  }
  return fail(
    `What answers at ${host} is not Asterisk (HTTP ${status}).`,
    "Give the address of Asterisk's HTTP server; a web interface beside it has another port.",
  );
}

function tlsOutcome({ ari_endpoint }: AriAccount): CheckOutcome {
  const url = URL.parse(ari_endpoint);
  if (url?.protocol === 'https:') return pass('The certificate is valid.');
  if (isNear(url?.hostname ?? '')) return pass('Plain HTTP, in a network of your own.');
  return warn(
    'The password and what callers say go over the internet in clear.',
    'tlsenable = yes in http.conf with a certificate, and https:// with the TLS port in the address; or a tunnel.',
  );
}

/** Whether the host is near: a name without a dot, or a private address. */
function isNear(host: string): boolean {
  const isName = /[a-z]/i.test(host) && !host.includes(':');
  if (isName) return !host.includes('.') || /\.(local|lan|internal|home\.arpa)$/.test(host);
  return /^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|\[::1\]|\[f[cde])/.test(
    host,
  );
}

function userOutcome({ app_name }: AriAccount, answer: AriAnswer | undefined): CheckOutcome {
  if (answer?.status !== 401) return pass(`${app_name} may log in.`);
  return fail(
    `Asterisk refuses the user ${app_name} with this password.`,
    'app_name is the section of ari.conf (not the Stasis application), app_password its password. ari show users lists the users of Asterisk; after a change: namespace reload res_ari.so.',
  );
}

/** Checks write access by a request without effect: the end of a channel that does not exist. */
function rights(context: CheckContext): Promise<Finding> {
  const { account, client, random } = context;
  return check(context, { ...RIGHTS, msMax: REQUEST_MS_MAX }, async (signal) => {
    const path = `channels/${createChannelIds(account.app, random).make('m')}`;
    const { status } = await client.send({ action: 'rights', method: 'DELETE', path }, signal);
    if (status === 404) return pass(`${account.app_name} may read and write.`);
    if (status === 403) {
      return fail(
        `${account.app_name} may only read.`,
        `read_only = no in the section [${account.app_name}] of ari.conf, then module reload res_ari.so.`,
      );
    }
    return warn(
      `The end of a channel that does not exist was answered with ${status}.`,
      'Is there a proxy before Asterisk that does not pass DELETE on?',
    );
  });
}

const CONNECTION: CheckSubject = { key: 'connection', title: 'Connection' };
/** Attempts that the finding names. */
const NAMED_MAX = 3;
/** Age of an attempt that still counts. Asterisk retries every half second, so the reason of an older one has passed. */
const RECENT_MS = 300_000;
const RELOAD = 'then module reload res_websocket_client.so and module reload res_ari.so';

export function incomingLink(context: CheckContext): LinkReport {
  const { live, account } = context;
  const open = { ...CONNECTION, ...pass('Asterisk has opened the connection.') };
  if (live?.state.kind === 'up') return { findings: [open], version: live.state.version ?? '' };
  if (live?.state.kind === 'down' && live.state.code === 'PBX_APP_TAKEN') {
    const taken = fail(
      `Another program has taken ${account.app} over: its calls do not reach this gateway.`,
      `Give every program an application of its own. ${TAKEN_ADVICE.incoming}`,
    );
    // Further requests may get no answer: Asterisk drops those of an application that is gone.
    return { findings: [open, { ...APPLICATION, ...taken }], version: undefined };
  }
  return { findings: [{ ...CONNECTION, ...missingOutcome(context) }], version: undefined };
}

function missingOutcome(context: CheckContext): CheckOutcome {
  const { account, refused, egress, clock, live } = context;
  const isRecent = ({ lastAt }: RefusedConnection): boolean => clock.now() - lastAt < RECENT_MS;
  const ours = refused.of(account.app).filter(isRecent);
  const [last] = ours;
  if (last !== undefined) {
    return fail(
      `Asterisk's connection is refused: ${shown(ours, account.app)}.`,
      adviceFor(last, account.app_name),
    );
  }
  if (live?.state.kind === 'down' && live.state.code !== NOT_CONNECTED.code) {
    return fail(
      `Asterisk's connection was opened and is of no use: ${live.state.message}`,
      'ari show websocket sessions and ari show apps, on Asterisk, show who is connected. The rights are those of the user in ari.conf that local_ari_user names; after a change: module reload res_ari.so.',
    );
  }
  // While anybody may sign up, these belong to other organizations.
  const others = egress.hidesFaults ? [] : refused.unknown().filter(isRecent);
  const wanted = addressFor(context);
  if (others.length > 0) {
    return fail(
      `Asterisk has not connected for ${account.app}. Refused: ${shown(others, account.app)}.`,
      `If that is this PBX: uri = ${wanted} in the persistent section of websocket_client.conf, and apps = ${account.app} in ari.conf; ${RELOAD}.`,
    );
  }
  return fail(
    'Asterisk has not connected to this process of the gateway, and no attempt has arrived in the last five minutes.',
    `ari.conf needs a section with type = outbound_websocket, apps = ${account.app}, local_ari_user = ${account.app_name}; websocket_client.conf the section that it names, connection_type = persistent, uri = ${wanted}. Asterisk's log says why it does not get here: "Client start error" with wss:// is a certificate of an authority that it does not trust (ca_list_file) or a host and port where nobody listens; "Bad status line" is tls_enabled = yes missing. ari show websocket sessions lists what it tries. npx patchbay asterisk config --mode incoming prints both files.`,
  );
}

function addressFor({ account, publicUrl }: CheckContext): string {
  return `${publicUrl.replace(/^http/, 'ws')}${PBX_PATH}${account.app}`;
}

function shown(refused: readonly RefusedConnection[], own: string): string {
  const named = refused.slice(0, NAMED_MAX).map(({ app, cause, client, attempts, lastAt }) => {
    const times = attempts === 1 ? 'once, at' : `${attempts} times, the last at`;
    return `from ${client} ${words(app, own)[cause]} (${times} ${new Date(lastAt).toISOString()})`;
  });
  const rest = refused.length - named.length;
  return `${named.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`;
}

const words = (app: string, own: string): Readonly<Record<RefusalCause, string>> => ({
  password: 'with another password than the configuration has',
  user: 'as another user than the configuration has',
  'no-login': 'without a user and a password',
  application:
    app === own
      ? 'while this process of the gateway was not waiting for it'
      : `for the application ${app}, which no configuration has`,
});

function adviceFor({ cause }: RefusedConnection, user: string): string {
  if (cause === 'application') {
    return 'One node of the gateway has the configuration, seconds after a change of it. If there are several nodes, their load balancer must pass the connection on to that one.';
  }
  const section = 'in the persistent section of websocket_client.conf';
  const ofCause: Partial<Record<RefusalCause, string>> = {
    password: `password = the configuration's app_password ${section}`,
    user: `username = ${user} ${section}`,
  };
  return `${ofCause[cause] ?? `username = ${user} and password = the configuration's app_password ${section}`}, ${RELOAD}.`;
}
