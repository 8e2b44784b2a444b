import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isDialable,
  lacksCountry,
  normalizeAddress,
} from '../../../src/telephony/provider/phone-address.ts';
import { rounds } from '../../rounds.ts';

const pstn = (normalized: string) => ({ normalized, type: 'pstn' });
const sip = (normalized: string) => ({ normalized, type: 'sip_uri' });
const extension = (normalized: string) => ({ normalized, type: 'sip_extension' });

describe('a phone address in its comparable form', () => {
  it.each([
    ['+1 (415) 555-1234', null, pstn('+14155551234')],
    ['14155551234', null, pstn('+14155551234')],
    ['0014155551234', null, pstn('+14155551234')],
    ['(415) 555\u20111234', 'US', pstn('+14155551234')],
    ['14155551234', 'us', pstn('+14155551234')],
    ['089 1234567', 'DE', pstn('+49891234567')],
    ['49891234567', 'DE', pstn('+49891234567')],
    ['0612345678', 'FR', pstn('+33612345678')],
    ['+123456789012345', null, pstn('+123456789012345')],
  ])('reads %s (%s) as a number', (raw, country, expected) => {
    expect(normalizeAddress(raw, country)).toEqual(expected);
  });

  it('takes three spellings of one number as equal (numbers were compared as strings)', () => {
    const spellings = ['+49 89 1234567', '49891234567', '0891234567', '0049891234567'];
    const normal = spellings.map((raw) => normalizeAddress(raw, 'DE')?.normalized);
    expect(new Set(normal)).toEqual(new Set(['+49891234567']));
  });

  it('keeps the leading zero of an Italian number, which is part of it', () => {
    expect(normalizeAddress('06 6982 1234', 'IT')).toEqual(pstn('+390669821234'));
  });

  it('does not take an area code that equals the dial code for the dial code', () => {
    expect(normalizeAddress('04921 123456', 'DE')).toEqual(pstn('+494921123456'));
  });

  it.each([
    ['SIP:Alice@PBX.Example.com:5060', 'sip:Alice@pbx.example.com'],
    ['sips:bob@host:5061', 'sips:bob@host'],
    ['sip:bob@host:5061', 'sip:bob@host:5061'],
    ['sip:pbx.example.com', 'sip:pbx.example.com'],
    ['sip:100@[2001:DB8::1]:5060;transport=tcp', 'sip:100@[2001:db8::1];transport=tcp'],
  ])('lowers the host of %s and drops the default port', (raw, expected) => {
    expect(normalizeAddress(raw, null)).toEqual(sip(expected));
  });

  it.each([
    ['1001', '1001'],
    ['Front-Desk', 'front-desk'],
    ['1234567', '1234567'],
    ['+123', '+123'],
    ['1234567890123456', '1234567890123456'],
  ])('takes %s as an extension', (raw, expected) => {
    expect(normalizeAddress(raw, null)).toEqual(extension(expected));
  });

  it.each(['', '   ', 'sip:', 'sip:a b@host', 'sip:a@b@c', '10\u000001', 'x'.repeat(256)])(
    'refuses %j',
    (raw) => {
      expect(normalizeAddress(raw, null)).toBeUndefined();
    },
  );

  it('accepts a number whose country cannot be known', () => {
    expect(lacksCountry('0891234567', null)).toBe(true);
    expect(lacksCountry('(415) 555-1234', null)).toBe(true);
    expect(lacksCountry('(415) 555-1234', 'US')).toBe(false);
    expect(lacksCountry('+14155551234', null)).toBe(false);
    expect(lacksCountry('1001', null)).toBe(false);
    expect(lacksCountry('0049 89 123456', null)).toBe(false);
    // Too few digits behind the 00 to be a number with its country code.
    expect(lacksCountry('001 234 567', null)).toBe(true);
  });

  it('is stable: the normal form of a normal form is itself', () => {
    const phoneLike = fc.string({
      unit: fc.constantFrom(...'0123456789+-() sipSIP:@.;[]#*'),
      maxLength: 40,
    });
    const country = fc.constantFrom(null, 'US', 'DE', 'IT', 'IN', 'RU', 'ZZ', '');
    fc.assert(
      fc.property(fc.oneof(phoneLike, fc.string()), country, (raw, hint) => {
        const first = normalizeAddress(raw, hint);
        if (first === undefined) return;
        expect(first.normalized.length).toBeGreaterThan(0);
        if (first.type === 'pstn') expect(first.normalized).toMatch(/^\+\d{8,15}$/);
        expect(normalizeAddress(first.normalized, hint)).toEqual(first);
        expect(normalizeAddress(first.normalized, null)).toEqual(first);
      }),
      { numRuns: rounds(2_000) },
    );
  });
});

describe('an address', () => {
  it.each([
    '+14155550100',
    '0014155550100',
    '14155550100',
    '911',
    'sip:jo@pbx.example.com',
    '*98#',
  ])('%s can be dialled', (raw) => {
    expect(isDialable(raw, { hasExtensions: false })).toBe(true);
  });

  it.each(['', '  ', '+', '+1', '+1234567890123456', 'sip:', '+1a', '()'])(
    '%j cannot be dialled anywhere',
    (raw) => {
      expect(isDialable(raw, { hasExtensions: true })).toBe(false);
    },
  );

  it.each(['alice', '1001', 'desk-2'])('%s can be dialled where there are extensions', (raw) => {
    expect(isDialable(raw, { hasExtensions: true })).toBe(true);
  });

  it('of letters cannot be dialled where there are none', () => {
    expect(isDialable('alice', { hasExtensions: false })).toBe(false);
  });
});
