import { describe, expect, it } from 'vitest';
import type { ApiDeps } from '../../../src/api/http/api-deps.ts';
import { checkOwnership, syncInbound } from '../../../src/api/telephony/provider-sync.ts';
import type { PhoneNumber, TelephonyConfiguration } from '../../../src/model/telephony.ts';
import type {
  ProviderControl,
  TelephonyProvider,
} from '../../../src/telephony/provider/provider.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

const at = new Date(0);
const configuration: TelephonyConfiguration = {
  id: '1',
  organizationId: '1',
  name: 'c',
  provider: 'twilio',
  isDefaultOutbound: false,
  credentials: {},
  inactiveSince: null,
  inactiveReason: null,
  callsPerSecond: null,
  createdAt: at,
  updatedAt: at,
};
const number: PhoneNumber = {
  id: '1',
  organizationId: '1',
  configurationId: '1',
  address: '+15550100',
  addressNormalized: '+15550100',
  addressType: 'pstn',
  countryCode: null,
  label: null,
  inboundWorkflowId: '1',
  trunkId: null,
  isActive: true,
  isDefaultCallerId: false,
  extraMetadata: {},
  createdAt: at,
  updatedAt: at,
};

/** A provider that heeds no signal and never answers. */
function silent(clock: FakeClock): ApiDeps {
  const control: Pick<ProviderControl, 'ownsNumber' | 'configureInbound' | 'detachInbound'> = {
    ownsNumber: () => new Promise(() => undefined),
    configureInbound: () => new Promise(() => undefined),
    detachInbound: () => new Promise(() => undefined),
  };
  const provider = { name: 'twilio', formatAddress: (address: string) => address, control };
  const deps: Partial<ApiDeps> = {
    clock,
    log: quietLog().log,
    publicUrl: 'https://gw.example.com',
    providerByName: () => provider as unknown as TelephonyProvider, // All that is asked of it here.
  };
  return deps as ApiDeps; // Neither store nor call service is used.
}

describe('a provider that does not answer', () => {
  it('is waited for ten seconds before a number is refused', async () => {
    const clock = new FakeClock();
    const asked = checkOwnership(silent(clock), configuration, number);
    clock.advance(10_000);
    await expect(asked).rejects.toMatchObject({ code: 'PROVIDER_TIMEOUT' });
    expect(clock.timers).toBe(0);
  });

  it('gives a warning when inbound calls are pointed at us', async () => {
    const clock = new FakeClock();
    const synced = syncInbound(silent(clock), configuration, number, true);
    clock.advance(10_000);
    expect(await synced).toEqual({ ok: false, message: 'twilio did not answer in time' });
  });
});
