import { describe, expect, it } from 'vitest';
import { providerName } from '../../src/model/provider.ts';
import { providerByName, providers } from '../../src/telephony/registry.ts';

describe('the registry of providers', () => {
  it('finds what is built by its name, and nothing else', () => {
    const built = providerName.options.filter((name) => providerByName(name) !== undefined);
    expect(built).toEqual(providers.map(({ name }) => name).sort());
    for (const name of built) expect(providerByName(name)?.name).toBe(name);
  });

  it('holds calls over Twilio, with a short lead and marks that come back after a clear', () => {
    expect(providerByName('twilio')?.capabilities).toMatchObject({
      answerStyle: 'markup',
      marks: 'echo-on-clear',
      leadMs: { aim: 100, max: 160 },
      closeEndsCall: true,
      idempotentDial: false,
    });
  });
});
