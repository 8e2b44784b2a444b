// The one guard against server-side request forgery (SSRF), and the one client that keeps it: requests to
// addresses that an organization names. Only http and https, only to public addresses (checked once the name is
// resolved, so that DNS rebinding gains nothing) and those that the operator has opened, no redirects, no more of
// an answer than asked for. Deadlines are the caller's. Sources: IANA special-purpose address registries (IPv4,
// IPv6), RFC 6890.

import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Agent, type Dispatcher, request } from 'undici';
import { GatewayError } from '../../errors/gateway-error.ts';

/** Connections to one receiver. */
const CONNECTIONS_MAX = 16;
const URL_CHARACTERS_MAX = 4_000;
const ANSWER_BYTES_MAX = 262_144;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export interface GuardedRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  /** Undefined for none. */
  body: string | undefined;
}

export interface GuardedResponse {
  status: number;
  /** The body, or its begin. */
  text: string;
}

export interface GuardedHttp {
  /** Any status is a reply; redirects are not followed. Rejects with OUTSIDE_FORBIDDEN, the network's
   *  error, or the signal's reason. */
  send(request: GuardedRequest, signal: AbortSignal): Promise<GuardedResponse>;
  /** Throws OUTSIDE_FORBIDDEN for what is no address to call, whatever its name resolves to. */
  check(url: string): void;
  /** Resolves names for connections; refuses those that are not public. */
  readonly lookup: LookupFunction;
  close(): Promise<void>;
}

/** The headers of a stored credential. Throws CREDENTIAL_NOT_FOUND. */
export type CredentialHeaders = (
  organizationId: string,
  uuid: string,
) => Promise<Record<string, string>>;

/** `isAllowed` decides about addresses; default: public ones. */
export function createGuardedHttp(isAllowed: SsrfGuard = isPublicAddress): GuardedHttp {
  const lookup = guardedLookup(isAllowed);
  const agent = new Agent({
    connections: CONNECTIONS_MAX,
    pipelining: 1,
    connect: { lookup },
  });
  const check = (text: string): void => {
    const url = text.length <= URL_CHARACTERS_MAX && URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol)) throw forbidden('the address');
    if (url.username !== '' || url.password !== '') throw forbidden('a password in the address');
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0 && !isAllowed(host, host)) throw forbidden('a private network');
  };
  return {
    check,
    lookup,
    async send({ method, url, headers, body }, signal) {
      check(url);
      const known = METHODS.find((each) => each === method);
      if (known === undefined) throw forbidden('the method');
      const options = { method: known, headers, signal, dispatcher: agent, body: body ?? null };
      const response = await request(url, options);
      return { status: response.statusCode, text: await beginOf(response.body) };
    },
    close: () => agent.destroy(),
  };
}

function guardedLookup(isAllowed: SsrfGuard): LookupFunction {
  return (host, options, callback) => {
    systemLookup(host, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) {
        callback(error ?? forbidden('a name without an address'), '', 0);
      } else if (!addresses.every(({ address }) => isAllowed(address, host))) {
        callback(forbidden('a private network'), '', 0);
      } else if (options.all === true) {
        callback(null, addresses);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}

async function beginOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    if (!Buffer.isBuffer(chunk)) continue;
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= ANSWER_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).subarray(0, ANSWER_BYTES_MAX).toString();
}

function forbidden(reason: string): GatewayError {
  return new GatewayError('OUTSIDE_FORBIDDEN', { reason });
}

/** Whether `address`, to which `host` resolved, may be called. */
export type SsrfGuard = (address: string, host: string) => boolean;

/** `opened` holds host names, addresses and networks, as in `crm.internal`, `10.1.0.0/16`. */
export function ssrfGuard(opened: readonly string[]): SsrfGuard {
  const networks = new BlockList();
  const hosts = new Set<string>();
  for (const each of opened) {
    const [address = '', bits] = each.split('/');
    const version = isIP(address);
    const family = version === 6 ? 'ipv6' : 'ipv4';
    if (version === 0) hosts.add(each.toLowerCase());
    else if (bits === undefined) networks.addAddress(address, family);
    else networks.addSubnet(address, Number(bits), family);
  }
  return (address, host) => {
    if (isPublicAddress(address)) return true;
    const version = isIP(address);
    if (version === 0) return false;
    if (hosts.has(host.toLowerCase())) return true;
    return networks.check(address, version === 6 ? 'ipv6' : 'ipv4');
  };
}

const special = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  special.addSubnet(network, bits, 'ipv4');
}
// Tunnels to IPv4 (Teredo, 6to4), benchmarks and documentation, inside the global range.
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  special.addSubnet(network, bits, 'ipv6');
}
/** All that is handed out to networks of the public internet. */
const global = new BlockList();
global.addSubnet('2000::', 3, 'ipv6');

/** False for anything that is no address. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !special.check(address, 'ipv4');
  return version === 6 && global.check(address, 'ipv6') && !special.check(address, 'ipv6');
}
