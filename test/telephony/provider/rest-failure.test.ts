// Refusals of providers over REST: their class, and the provider's own words without numbers and keys.

import { describe, expect, it } from 'vitest';
import { type ProviderFault, restFailure } from '../../../src/telephony/provider/rest-failure.ts';

const asked = { provider: 'twilio', action: 'dial', repeatable: false } as const;
const words = (fault: ProviderFault, status = 400) => restFailure(status, asked, fault).message;

describe("a provider's refusal", () => {
  it('has its code and its words', () => {
    const fault = { code: '21211', message: "The 'To' number is not valid" };
    expect(words(fault)).toBe("twilio refused the request: 21211: The 'To' number is not valid");
    expect(words({ ...fault, class: 'destination' })).toBe(
      "twilio refused the destination: 21211: The 'To' number is not valid",
    );
  });

  it.each([
    ['The number +14155550101 is not valid', 'The number [...] is not valid'],
    ['415 555-0101 is busy', '[...] is busy'],
    ['(415) 555.0101', '[...]'],
    ['no route to sip:ada@pbx.example.com:5060', 'no route to [...]'],
    ['see https://example.com/a?key=1', 'see [...]'],
    ['ada@example.com is unknown', '[...] is unknown'],
    ['Authenticate with AC0123456789abcdef0123456789abcdef', 'Authenticate with [...]'],
    ['two\n  lines', 'two lines'],
  ])('keeps nothing of %j but %j', (message, shown) => {
    expect(words({ message })).toContain(shown);
    expect(words({ message })).not.toMatch(/\d{5,}|ada|example|AC0/);
  });

  it('is cut to 200 characters', () => {
    expect(words({ message: 'x '.repeat(5_000) }).length).toBeLessThan(240);
  });

  it('has its status where the provider says nothing', () => {
    expect(words({})).toBe('twilio refused the request: HTTP 400');
    expect(words({ code: '7' })).toBe('twilio refused the request: HTTP 400, error 7');
  });

  it.each([
    [401, undefined, 'PROVIDER_AUTH'],
    [403, undefined, 'PROVIDER_AUTH'],
    [403, 'capacity', 'PROVIDER_CAPACITY'],
    [402, 'capacity', 'PROVIDER_CAPACITY'],
    [429, undefined, 'PROVIDER_CAPACITY'],
    [422, 'destination', 'PROVIDER_DESTINATION'],
    [400, 'auth', 'PROVIDER_AUTH'],
    [404, undefined, 'PROVIDER_REFUSED'],
    [500, 'destination', 'PROVIDER_UNCERTAIN'],
  ] as const)('%i of the class %s is %s', (status, kind, code) => {
    expect(restFailure(status, asked, { class: kind }).code).toBe(code);
  });

  it('is certain for an idempotent request', () => {
    expect(restFailure(503, { ...asked, repeatable: true }, {}).code).toBe('PROVIDER_FAILED');
  });
});
