// The egress rule: where the gateway connects to when an address is a user's (tools, webhooks, language models of
// reviews, telephony configurations, PBXs). It is the guard against server-side request forgery (SSRF). While sign-up is
// closed, private networks are open; while it is open, public addresses alone and what the operator names. Link-local
// addresses and the metadata services of clouds are never reached. A name is resolved once for each connection, and the
// connection goes to the addresses that were checked: DNS rebinding gains nothing. Addresses that the operator gives by
// settings are not users' and do not pass here.

import { type LookupAddress, type LookupAllOptions, lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { GatewayError } from '../errors/gateway-error.ts';
import { addressClass } from './address-class.ts';

const URL_CHARACTERS_MAX = 4_000;

export interface EgressSettings {
  /** Anyone may get an organization: users are untrusted. */
  isSignUpOpen: boolean;
  /** Host names, addresses and networks that are open beside public addresses: `crm.internal`, `10.1.0.0/16`. */
  allowed: readonly string[];
}

export interface Egress {
  /** Whether a connection may go to `address`, to which `host` resolved. */
  allows(address: string, host: string): boolean;
  /** Throws OUTSIDE_FORBIDDEN for what is no http or https address, before its name is resolved. */
  check(url: string): void;
  /** The same, with all that its name resolves to now. A name that does not resolve passes: connections check again. */
  checkResolved(url: string): Promise<void>;
  /** Resolves names for connections. Sockets do not ask it for a literal address: `check` comes before. */
  readonly lookup: LookupFunction;
  /** Opens the connections of an `Agent`; literal addresses are checked here too. */
  readonly connect: buildConnector.connector;
  /** Users are untrusted: errors do not reveal what a network or a host answered, which would be a port scanner. */
  readonly hidesFaults: boolean;
}

/** Sign-up is closed and nothing is named: for what is built without settings. */
export const CLOSED_EGRESS: EgressSettings = { isSignUpOpen: false, allowed: [] };

export type Resolve = (
  host: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

type Allows = (address: string, host: string) => boolean;

/** `resolve`: as node:dns resolves names. */
export function createEgress(
  settings: EgressSettings = CLOSED_EGRESS,
  resolve: Resolve = systemLookup,
): Egress {
  const allows = allowance(settings);
  const lookup = checkedLookup(allows, resolve);
  const checkHost = (host: string): void => {
    const bare = host.replace(/^\[|\]$/g, '');
    if (isIP(bare) !== 0 && !allows(bare, bare)) throw forbiddenAddress(bare);
  };
  const check = (text: string): void => checkHost(httpUrl(text).hostname);
  const open = buildConnector({ lookup });
  return {
    allows,
    hidesFaults: settings.isSignUpOpen,
    check,
    lookup,
    async checkResolved(url) {
      check(url);
      await resolved(lookup, httpUrl(url).hostname.replace(/^\[|\]$/g, ''));
    },
    connect(options, callback) {
      try {
        checkHost(options.hostname);
      } catch (error) {
        callback(error instanceof Error ? error : new Error('refused'), null);
        return;
      }
      open(options, callback);
    },
  };
}

function httpUrl(text: string): URL {
  const url = text.length <= URL_CHARACTERS_MAX ? URL.parse(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw forbidden('the address');
  return url;
}

function allowance({ isSignUpOpen, allowed }: EgressSettings): Allows {
  const networks = new BlockList();
  const hosts = new Set<string>();
  for (const each of allowed) {
    const [address = '', bits] = each.split('/');
    const version = isIP(address);
    const family = version === 6 ? 'ipv6' : 'ipv4';
    if (version === 0) hosts.add(each.toLowerCase());
    else if (bits === undefined) networks.addAddress(address, family);
    else networks.addSubnet(address, Number(bits), family);
  }
  return (address, host) => {
    const kind = addressClass(address);
    if (kind === 'never') return false;
    if (kind === 'public' || !isSignUpOpen || hosts.has(host.toLowerCase())) return true;
    return networks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  };
}

function checkedLookup(allows: Allows, resolve: Resolve): LookupFunction {
  return (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      const refused = (addresses ?? []).find(({ address }) => !allows(address, host));
      if (error !== null || first === undefined) {
        callback(error ?? forbidden('a name without an address'), '', 0);
      } else if (refused !== undefined) {
        callback(forbiddenAddress(refused.address), '', 0);
      } else if (options.all === true) {
        callback(null, addresses);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}

/** Rejects with OUTSIDE_FORBIDDEN only. */
function resolved(lookup: LookupFunction, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    lookup(host, {}, (error) => {
      if (error instanceof GatewayError) reject(error);
      else resolve();
    });
  });
}

function forbiddenAddress(address: string): GatewayError {
  const isNever = addressClass(address) === 'never';
  return forbidden(isNever ? 'a link-local or metadata address' : 'a private network');
}

function forbidden(reason: string): GatewayError {
  return new GatewayError('OUTSIDE_FORBIDDEN', { reason });
}
