// Egress rule: the addresses to which the gateway connects for users (tools, webhooks, language models of reviews,
// telephony configurations, PBXs), as protection against server-side request forgery (SSRF). While sign-up is closed,
// private networks are allowed; while it is open, only public addresses and those that the operator allows. Link-local
// addresses and cloud metadata services are never allowed. A name is resolved once for each connection, which goes to
// the checked addresses, so that DNS rebinding has no effect. Addresses in the operator's settings are not checked.

import { type LookupAddress, type LookupAllOptions, lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { GatewayError } from '../errors/gateway-error.ts';
import { addressClass } from './address-class.ts';

const URL_CHARACTERS_MAX = 4_000;

export interface EgressSettings {
  /** Whether anyone can create an organization: users are then untrusted. */
  isSignUpOpen: boolean;
  /** Host names, addresses and networks that are allowed besides public addresses: `crm.internal`, `10.1.0.0/16`. */
  allowed: readonly string[];
}

export interface Egress {
  /** Whether a connection may go to `address`, to which `host` resolved. */
  allows(address: string, host: string): boolean;
  /** Checks a URL before its name is resolved. Throws OUTSIDE_FORBIDDEN if it is not an allowed http or https
   *  address. */
  check(url: string): void;
  /** Checks a URL and the addresses that its name resolves to now. A name that does not resolve passes: connections
   *  check again. */
  checkResolved(url: string): Promise<void>;
  /** Resolves names for connections. Sockets do not call it for literal addresses, which `check` covers. */
  readonly lookup: LookupFunction;
  /** Opens the connections of an `Agent`. Checks literal addresses, too. */
  readonly connect: buildConnector.connector;
  /** Whether users are untrusted: errors then do not reveal the answer of a network or host, which would allow port
   *  scans. */
  readonly hidesFaults: boolean;
}

/** Rule for closed sign-up without allowed addresses, for components that are built without settings. */
export const CLOSED_EGRESS: EgressSettings = { isSignUpOpen: false, allowed: [] };

export type Resolve = (
  host: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

type Allows = (address: string, host: string) => boolean;

/** `resolve`: resolver like that of node:dns. */
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

/** Resolves a host. Rejects only with OUTSIDE_FORBIDDEN. */
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
