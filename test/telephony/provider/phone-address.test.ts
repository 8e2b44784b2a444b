import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  dialledAddress,
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

const abroad = [
  ['+44 (0)20 7946 0018', '+442079460018'],
  ['+49 (0) 89 1234567', '+49891234567'],
  ['+91 09262 175513', '+919262175513'],
  ['0049 (0)89 1234567', '+49891234567'],
  ['+39 06 6982 1234', '+390669821234'],
  ['+1.415.555.0144', '+14155550144'],
  ['\u202a+1 415 555\u200b0144\u202c', '+14155550144'],
  ['\uff0b\uff14\uff14 20 7946 0018', '+442079460018'],
  ['tel:+1-415-555-0144', '+14155550144'],
  ['tel:(020)79460018;phone-context=+44', '+442079460018'],
] as const;

describe('a number that is written for people', () => {
  it.each(abroad)('%j is dialled as %s everywhere', (raw, to) => {
    expect(dialledAddress(raw, { hasExtensions: false, callerId: '+14155550100' })).toEqual({ to });
    expect(normalizeAddress(raw, null)).toEqual(pstn(to));
  });

  it.each([
    ['(415) 555-0144', '+14155550100', '+14155550144'],
    ['4155550105', '+14155550100', '+14155550105'],
    ['14155550105', '+15550000001', '+14155550105'],
    ['4155550105', '+15550000001', '+14155550105'],
    ['011 44 20 7946 0018', '+14155550100', '+442079460018'],
    ['020 7946 0018', '+442079460000', '+442079460018'],
    ['442079460018', '+14155550100', '+442079460018'],
  ])('%s is completed by the country of the caller id %s', (raw, callerId, to) => {
    expect(dialledAddress(raw, { hasExtensions: false, callerId })).toEqual({ to });
  });

  it.each([
    ['911', 'emergency and short numbers'],
    ['112', 'emergency and short numbers'],
    ['12345', 'emergency and short numbers'],
    ['00', 'emergency and short numbers'],
    ['*98#', 'emergency and short numbers'],
    ['+1911', 'has 8 to 15 digits'],
    ['+44 00 112', 'has 8 to 15 digits'],
    ['+1234567890123456', 'has 8 to 15 digits'],
    ['555-0144', 'no number in the country of the caller id'],
    ['99999999999999', 'no number in the country of the caller id'],
    ['+999 123 456 789', 'no country has its country code'],
    ['bob', 'not a telephone number'],
    ['+1 415 555 0144 ext. 5', 'not a telephone number'],
    ['tel:bob', 'not a telephone number'],
    ['sip:', 'not a telephone number'],
    ['  ', 'not a telephone number'],
  ])('%j is refused over a hosted provider, with the reason', (raw, reason) => {
    const rules = { hasExtensions: false, callerId: '+14155550100' };
    expect(dialledAddress(raw, rules)).toEqual({ reason: expect.stringContaining(reason) });
  });

  it('needs its country code where the caller id has none', () => {
    const rules = { hasExtensions: false, callerId: null };
    const reason = expect.stringContaining('it has no country code');
    expect(dialledAddress('2175550105', rules)).toEqual({ reason });
  });
});

describe('where the far side has extensions', () => {
  const rules = { hasExtensions: true, callerId: '+14155550100' };

  it.each([
    ['alice', 'alice'],
    ['Front-Desk', 'Front-Desk'],
    ['PJSIP/Bob@trunk', 'PJSIP/Bob@trunk'],
    ['1001', '1001'],
    ['911', '911'],
    ['*98#', '*98#'],
    ['020 7946 0018', '02079460018'],
    ['(415) 555-0144', '4155550144'],
    ['+44 (0)20 7946 0018', '+442079460018'],
    ['sip:Jo@PBX.example.com:5060', 'sip:Jo@PBX.example.com:5060'],
  ])('%s is dialled as %s', (raw, to) => {
    expect(dialledAddress(raw, rules)).toEqual({ to });
  });

  it.each(['', '  ', '+', '+1', '+1234567890123456', 'sip:', '+1a', '()'])(
    '%j cannot be dialled',
    (raw) => {
      expect(dialledAddress(raw, rules)).toEqual({ reason: expect.any(String) });
    },
  );
});

/** Pairs of RFC 3261, 19.1.4, and its counterexamples. */
describe('SIP addresses are compared as RFC 3261 says', () => {
  const form = (raw: string) => normalizeAddress(raw, null)?.normalized;

  it.each([
    ['sip:%61lice@atlanta.com;transport=TCP', 'sip:alice@AtLanTa.CoM;Transport=tcp'],
    ['sip:a@b.com;user=phone;transport=udp', 'sip:a@b.com;transport=udp;user=phone'],
    ['sip:a@b.com?to=x&from=y', 'sip:a@b.com?from=y&to=x'],
    ['sip:a%2fb@c.com', 'sip:a%2Fb@c.com'],
  ])('%s equals %s', (one, other) => {
    expect(form(one)).toBe(form(other));
  });

  it.each([
    ['SIP:ALICE@AtLanTa.CoM', 'sip:alice@AtLanTa.CoM'],
    ['sip:bob@biloxi.com', 'sip:bob@biloxi.com:6000'],
    ['sip:bob@biloxi.com', 'sips:bob@biloxi.com'],
    ['sip:a%2fb@c.com', 'sip:a/b@c.com'],
  ])('%s differs from %s', (one, other) => {
    expect(form(one)).not.toBe(form(other));
  });
});
