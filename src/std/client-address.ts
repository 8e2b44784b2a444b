// Address of a client: the peer's, or behind a trusted reverse proxy the one in `X-Forwarded-For`; and the name under
// which a client is counted.

import { BlockList, isIP, isIPv6 } from 'node:net';

/** Proxies in a row. Any client can write entries further to the left. */
const HOPS_MAX = 20;

/** Named networks, as in Fastify's `trustProxy`. */
const words: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.1/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** Client of a connection from `peer`: the last address in `forwarded` that is not a proxy. */
export type ClientOf = (peer: string | undefined, forwarded: string | undefined) => string;

/** `proxies`: addresses, networks and names, as in the settings. */
export function clientBehind(proxies: readonly string[]): ClientOf {
  const trusted = new BlockList();
  for (const each of proxies.flatMap((word) => words[word] ?? [word])) {
    const [address = '', bits] = each.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    trusted.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  const isTrusted = (address: string): boolean => {
    const version = isIP(address);
    return version !== 0 && trusted.check(address, version === 6 ? 'ipv6' : 'ipv4');
  };
  return (peer = '', forwarded = '') => {
    const hops = forwarded.split(',').slice(-HOPS_MAX);
    let client = peer;
    for (let hop = hops.pop()?.trim(); isTrusted(client) && hop; hop = hops.pop()?.trim()) {
      client = hop;
    }
    return client;
  };
}

/** Name of the client at an address: the address itself, or for IPv6 its network of 64 bits, which belongs to one
 *  client. */
export function clientName(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  const [bare = ''] = address.split('%');
  if (!isIPv6(bare)) return address;
  const [head = '', tail] = bare.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return groups.map((group) => group.replace(/^0+(?=.)/, '')).join(':');
}
