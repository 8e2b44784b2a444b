import { describe, expect, it } from 'vitest';
import { providerName } from '../../../src/model/provider.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { createProviders } from '../../../src/telephony/registry/registry.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const providers = createProviders({ clock: new FakeClock(), random: systemRandom });

describe('the registry of providers', () => {
  it('finds what is built by its name, and nothing else', () => {
    const built = providerName.options.filter((name) => providers.byName(name) !== undefined);
    expect(built).toContain('twilio');
    for (const name of built) expect(providers.byName(name)?.name).toBe(name);
  });

  it('holds calls over Twilio, with a short lead and marks that come back after a clear', () => {
    const twilio = providers.hosted.find(({ name }) => name === 'twilio');
    expect(twilio?.capabilities.transferAwaits).toBe('acceptance');
    expect(twilio?.createMedia().traits).toEqual({
      marks: true,
      lead: { aimMs: 60, maxMs: 160, stallMsMax: 160, stepMs: 80 },
    });
  });
});
