// The reason why the connection to a PBX is down, with what to do about it. Source: asterisk §2.6, §4, §7.

import { codeOf, type ErrorCode, GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import type { PbxListener } from '../../provider/pbx.ts';
import type { AriAccount } from '../rest/config.ts';

export interface ConnectionFault {
  code: ErrorCode;
  message: string;
  /** Whether retries cannot help until someone changes the configuration. */
  isPermanent: boolean;
}

/** Messages by error code of the system and of TLS. */
const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the name is not known',
  EAI_AGAIN: 'the name cannot be looked up at present',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  ECONNRESET: 'the connection was reset',
  ETIMEDOUT: 'there is no answer',
  late: 'there is no answer',
  closed: 'the connection was closed',
  silent: 'the connection is dead: pings are not answered',
};

/** Messages for certificate errors. */
const certificates: readonly (readonly [RegExp, string])[] = [
  [
    /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED/,
    'its certificate is signed by an authority that the gateway does not know (start the gateway with NODE_EXTRA_CA_CERTS=/path/of/your/ca.pem)',
  ],
  [/CERT_HAS_EXPIRED/, 'its certificate has expired'],
  [
    /CERT_NOT_YET_VALID/,
    "its certificate is not valid yet (or one of the machines' clocks is wrong)",
  ],
  [/ERR_TLS_CERT_ALTNAME_INVALID/, 'its certificate is for another name than the address has'],
];

/** The fault of a socket's error, or of one of our own codes above. */
export function connectionFault(account: AriAccount, error: Error | string): ConnectionFault {
  if (error instanceof GatewayError) {
    return { code: error.code, message: error.message, isPermanent: true };
  }
  const word = typeof error === 'string' ? error : wordOf(error);
  const host = hostOf(account);
  const why = unreachable[word];
  if (why !== undefined) return fault('PBX_UNREACHABLE', { host, reason: why }, false);
  // TLS to a plain server, and the reverse, give an answer that cannot be parsed. Node's code depends on where the
  // error occurs: writing or reading.
  if (/wrong version number|EPROTO|ERR_SSL_(WRONG_VERSION|PACKET_LENGTH)/i.test(word)) {
    return fault(
      'PBX_TLS',
      { host, reason: 'the port does not speak TLS: use http:// or the TLS port' },
      true,
    );
  }
  if (isTls(word)) return fault('PBX_TLS', { host, reason: certificateFault(word) }, true);
  if (/Parse Error|HPE_/.test(word)) {
    return fault('PBX_TLS', { host, reason: 'the port does not speak HTTP: use https://' }, true);
  }
  return fault('PBX_UNREACHABLE', { host, reason: word }, false);
}

/** The fault of an upgrade that was answered with another HTTP status. */
export function refusalFault(account: AriAccount, status: number): ConnectionFault {
  const host = hostOf(account);
  const user = account.app_name;
  if (status === 401) return fault('PBX_UNAUTHORIZED', { host, user }, true);
  if (status === 403) return readOnlyFault(account);
  if (status === 404) return fault('PBX_NO_ARI', { host }, true);
  const reason = `it answered ${status}`;
  return fault('PBX_UNREACHABLE', { host, reason }, false);
}

/** The fault when Asterisk refuses to change anything for our user. */
export function readOnlyFault(account: AriAccount): ConnectionFault {
  return fault('PBX_READ_ONLY', { host: hostOf(account), user: account.app_name }, true);
}

/** The fault of an open socket on which a required request failed. */
export function requestFault(account: AriAccount, error: unknown): ConnectionFault {
  const code = codeOf(error);
  const facts = { host: hostOf(account), user: account.app_name };
  if (code === 'PROVIDER_AUTH') return fault('PBX_UNAUTHORIZED', facts, true);
  if (code === 'PBX_READ_ONLY') return readOnlyFault(account);
  return fault('PBX_UNREACHABLE', { ...facts, reason: 'requests fail' }, false);
}

/** The fault when another program is, or was, connected as the application. */
export function takenFault(account: AriAccount): ConnectionFault {
  const advice = TAKEN_ADVICE[account.connection];
  return fault('PBX_APP_TAKEN', { host: hostOf(account), app: account.app, advice }, true);
}

/** What to do about a taken application: Asterisk returns it to a client that connects, and not to a connection that it
 *  opened itself. */
export const TAKEN_ADVICE: Readonly<Record<AriAccount['connection'], string>> = {
  outgoing: 'Stop it; this gateway connects within seconds of its end.',
  incoming:
    'Stop it first; then, on the PBX: asterisk -rx "ari shutdown websocket session NAME" and asterisk -rx "ari start outbound-websocket NAME". NAME is the section with type = outbound_websocket in ari.conf (ari show outbound-websockets lists it). Asterisk does not give the application back by itself.',
};

export function fault(
  code: ErrorCode,
  facts: Record<string, string>,
  isPermanent: boolean,
): ConnectionFault {
  return { code, message: new GatewayError(code, facts).message, isPermanent };
}

export function hostOf({ ari_endpoint }: AriAccount): string {
  return new URL(ari_endpoint).host; // The configuration's schema has checked it.
}

function wordOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return code === '' || code === 'EPROTO' ? error.message.slice(0, 100) : code;
}

function certificateFault(word: string): string {
  return certificates.find(([words]) => words.test(word))?.[1] ?? word;
}

function isTls(word: string): boolean {
  return /^(ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_SSL)/.test(word);
}

/** Codes of faults at the address: no Asterisk with this user and password is there. Which of them it is would help a
 *  port scanner. */
const OF_ADDRESS: ReadonlySet<ErrorCode> = new Set([
  'PBX_UNREACHABLE',
  'PBX_TLS',
  'PBX_UNAUTHORIZED',
  'PBX_NO_ARI',
]);

/** The same listener, without the answers of the network or of a service that is no Asterisk. They are logged. */
export function withoutFaultsOfAddress(listener: PbxListener, log: Log): PbxListener {
  return {
    ...listener,
    onState(state) {
      if (state.kind !== 'down' || !OF_ADDRESS.has(state.code)) return listener.onState(state);
      log.info({ code: state.code, reason: state.message }, 'PBX not reached');
      const message = 'No Asterisk answers at the address with this user and password.';
      listener.onState({ ...state, code: 'PBX_UNREACHABLE', message, isPermanent: false });
    },
  };
}
