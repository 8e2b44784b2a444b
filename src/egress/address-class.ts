// Class of an IP address: public internet, private network, or never allowed for requests (link-local, cloud metadata,
// multicast, unspecified). An IPv6 address that contains an IPv4 address is at least as restricted as that one, and
// never public. Sources: IANA special-purpose address registries (IPv4, IPv6), RFC 6890, RFC 6052 (NAT64), RFC 3056
// (6to4), RFC 4380 (Teredo); metadata addresses from the clouds' documentation.

import { BlockList, isIP } from 'node:net';

export type AddressClass = 'public' | 'private' | 'never';

const never = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8], // "This network": the system connects to itself.
  ['169.254.0.0', 16], // Link-local; the metadata of most clouds.
  ['224.0.0.0', 3], // Multicast, reserved, broadcast.
  ['100.100.100.200', 32], // Metadata of Alibaba Cloud, inside the shared range.
  ['168.63.129.16', 32], // The host agent of Azure, inside the public range.
  ['192.0.0.192', 32], // Metadata of Oracle Cloud (classic).
] as const) {
  never.addSubnet(network, bits, 'ipv4');
}
for (const [network, bits] of [
  ['::', 128],
  ['fe80::', 10],
  ['ff00::', 8],
  ['fd00:ec2::', 32], // Metadata of Amazon: instances, containers, pods.
  ['fd20:ce::254', 128], // Google Cloud.
  ['fd00:42::42', 128], // Scaleway.
  ['fd00:a9fe:a9fe::1', 128], // Linode.
] as const) {
  never.addSubnet(network, bits, 'ipv6');
}

/** IPv4 networks that are not part of the public internet. */
const privateV4 = new BlockList();
for (const [network, bits] of [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
] as const) {
  privateV4.addSubnet(network, bits, 'ipv4');
}

/** IPv6 networks of the public internet, without the special ones inside: protocols, Teredo, benchmarks, documentation,
 *  6to4. */
const globalV6 = new BlockList();
globalV6.addSubnet('2000::', 3, 'ipv6');
const specialV6 = new BlockList();
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  specialV6.addSubnet(network, bits, 'ipv6');
}

/** Position of an IPv4 address in IPv6 addresses of a network: the byte at which it starts, and whether its bits are
 *  inverted. */
interface Carrier {
  network: readonly [string, number];
  at: readonly (readonly number[])[];
  inverted?: true;
}
const LAST = [12, 13, 14, 15];
const carriers: readonly Carrier[] = [
  { network: ['::', 96], at: [LAST] },
  { network: ['::ffff:0:0', 96], at: [LAST] },
  { network: ['::ffff:0:0:0', 96], at: [LAST] },
  { network: ['64:ff9b::', 96], at: [LAST] },
  // RFC 8215: an operator's own NAT64, with a prefix of 48, 56, 64 or 96 bits (RFC 6052, 2.2).
  { network: ['64:ff9b:1::', 48], at: [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], LAST] },
  { network: ['2002::', 16], at: [[2, 3, 4, 5]] },
  { network: ['2001::', 32], at: [[4, 5, 6, 7]] },
  { network: ['2001::', 32], at: [LAST], inverted: true },
];
const carrying = carriers.map((carrier) => {
  const list = new BlockList();
  list.addSubnet(...carrier.network, 'ipv6');
  return { ...carrier, list };
});

/** Class of an address. 'never' for anything that is not an IP address. */
export function addressClass(address: string): AddressClass {
  const [bare = ''] = address.split('%');
  const version = isIP(bare);
  if (version === 4) return classOfV4(bare);
  return version === 6 ? classOfV6(bare) : 'never';
}

function classOfV4(address: string): AddressClass {
  if (never.check(address, 'ipv4')) return 'never';
  return privateV4.check(address, 'ipv4') ? 'private' : 'public';
}

function classOfV6(address: string): AddressClass {
  const bytes = bytesOfV6(address);
  // Its form is that of an IPv4 address in IPv6.
  if (bytes.every((byte, i) => byte === (i === 15 ? 1 : 0))) return 'private';
  if (never.check(address, 'ipv6')) return 'never';
  const embedded = carrying
    .filter(({ list }) => list.check(address, 'ipv6'))
    .flatMap(({ at, inverted }) => at.map((places) => dotted(bytes, places, inverted)));
  if (embedded.some((each) => classOfV4(each) === 'never')) return 'never';
  const isPublic = globalV6.check(address, 'ipv6') && !specialV6.check(address, 'ipv6');
  return isPublic ? 'public' : 'private';
}

function dotted(bytes: readonly number[], places: readonly number[], inverted?: true): string {
  return places.map((place) => (bytes[place] ?? 0) ^ (inverted ? 0xff : 0)).join('.');
}

/** Bytes of an IPv6 address in any text form, such as `::ffff:127.0.0.1`: a URL writes it in groups alone. */
function bytesOfV6(address: string): number[] {
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [before = [], after = []] = groups.split('::').map(groupsOf);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return [...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff]);
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}
