import { describe, expect, it } from 'vitest';
import { providerName } from '../../src/model/provider.ts';
import { hostedProviders, providerByName, providers } from '../../src/telephony/registry.ts';

describe('the registry of providers', () => {
  it('finds what is built by its name, and nothing else', () => {
    const built = providerName.options.filter((name) => providerByName(name) !== undefined);
    expect(built).toEqual(providers.map(({ name }) => name).sort());
    for (const name of built) expect(providerByName(name)?.name).toBe(name);
  });

  it('holds calls over Twilio, with a short lead and marks that come back after a clear', () => {
    const twilio = hostedProviders.find(({ name }) => name === 'twilio');
    expect(twilio?.capabilities).toMatchObject({
      answerStyle: 'markup',
      closeEndsCall: true,
      idempotentDial: false,
    });
    expect(twilio?.createMedia().traits).toEqual({
      marks: 'echo-on-clear',
      clear: true,
      leadMs: { aim: 100, max: 160 },
    });
  });
});
