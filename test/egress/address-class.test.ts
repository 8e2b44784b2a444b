// Classes of addresses, at the edges of every network of IANA's registries and for whatever carries an IPv4 address.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressClass } from '../../src/egress/address-class.ts';

describe('an address', () => {
  it.each([
    '169.254.169.254',
    '169.254.170.2',
    '169.254.0.1',
    '0.0.0.0',
    '0.1.2.3',
    '224.0.0.1',
    '255.255.255.255',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '::',
    'fe80::1',
    'fe80::1%eth0',
    'febf:ffff::1',
    'ff02::1',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
    'fd00:42::42',
    'fd00:a9fe:a9fe::1',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::169.254.169.254',
    '::ffff:0:169.254.169.254',
    '64:ff9b::169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a9fe:a9fe',
    '64:ff9b:1:a9fe:a9:fe00::',
    '2002:a9fe:a9fe::1',
    '2001:0:a9fe:a9fe::1',
    '2001:0:808:808:0:0:5601:5601',
    'no address',
    '',
  ])('%s is always refused', (address) => {
    expect(addressClass(address)).toBe('never');
  });

  it.each([
    '10.1.2.3',
    '172.31.255.255',
    '192.168.0.1',
    '127.0.0.1',
    '100.64.0.1',
    '::1',
    'fd00::1',
    'fc00::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '2002:808:808::1',
  ])('%s is private', (address) => {
    expect(addressClass(address)).toBe('private');
  });

  it.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111'])(
    '%s is public',
    (address) => {
      expect(addressClass(address)).toBe('public');
    },
  );
});

/** First and last of every IPv4 network that is not of the public internet, as whole numbers. */
const NETWORKS = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
].map((text) => {
  const [address = '', bits = ''] = text.split('/');
  const first = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  return { first, last: first + 2 ** (32 - Number(bits)) - 1 };
});
const EDGES = NETWORKS.flatMap(({ first, last }) => [first - 1, first, last, last + 1]).filter(
  (value) => value >= 0 && value < 2 ** 32,
);
const ipv4 = fc.oneof(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.constantFrom(...EDGES));
const dotted = (value: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');

const isPublic = (address: string): boolean => addressClass(address) === 'public';

describe('public addresses', () => {
  it('of IPv4 are all but the special networks, to their edges', () => {
    fc.assert(
      fc.property(ipv4, (value) => {
        const isSpecial = NETWORKS.some(({ first, last }) => value >= first && value <= last);
        expect(isPublic(dotted(value))).toBe(!isSpecial);
      }),
    );
  });

  it('are none that carry an IPv4 address inside', () => {
    fc.assert(
      fc.property(ipv4, fc.constantFrom('::ffff:', '::', '64:ff9b::', '2002:'), (value, prefix) => {
        const hex = value.toString(16).padStart(8, '0');
        const pair = `${hex.slice(0, 4)}:${hex.slice(4)}`;
        const whole = prefix === '2002:' ? `2002:${pair}::1` : `${prefix}${pair}`;
        expect(isPublic(whole)).toBe(false);
      }),
    );
  });

  it('of IPv6 are in 2000::/3 alone, without tunnels, benchmarks and documentation', () => {
    const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
    const first = fc.constantFrom(0x2001, 0x2002, 0x3fff, 0x2000, 0x4000, 0xfe80, 0xfd00, 0xff02);
    fc.assert(
      fc.property(fc.option(first), groups, (start, rest) => {
        const [a = 0, b = 0, ...more] = start === null ? rest : [start, ...rest.slice(1)];
        const text = [a, b, ...more].map((group) => group.toString(16)).join(':');
        const isGlobal = a >= 0x2000 && a <= 0x3fff;
        const isSpecial =
          (a === 0x2001 && (b < 0x200 || b === 0xdb8)) ||
          a === 0x2002 ||
          (a === 0x3fff && b < 0x1000);
        expect(isPublic(text), text).toBe(isGlobal && !isSpecial);
      }),
    );
  });

  it('are no other text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        if (addressClass(text) !== 'never') expect(text).toMatch(/^[0-9a-f.:%]+/i);
      }),
    );
  });
});
