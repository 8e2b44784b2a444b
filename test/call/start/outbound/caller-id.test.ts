// Calls over a provider whose calls need no number of ours as the caller: a PBX knows its trunks' own.
// Source: contract §4.1 (readiness), §6.1, §7.5.

import { beforeEach, describe, expect, it } from 'vitest';
import { codeOf } from '../../../../src/errors/gateway-error.ts';
import { RETRY_DEFAULT } from '../../../../src/model/campaign.ts';
import type {
  DialRequest,
  TelephonyProvider,
} from '../../../../src/telephony/provider/provider.ts';
import { providersOf } from '../../../../src/telephony/registry/registry.ts';
import { rows } from '../../../store/campaigns/dial-queue-fixture.ts';
import { CALLER, type CallHarness, withCallHarness } from '../../call-harness.ts';

const held = withCallHarness();
let dials: DialRequest[];
/** What was looked for at the provider. */
let sought: (string | null)[];

/** Takes every dial, under the name of a provider that shows numbers of its own. */
function fakePbx({ deps }: CallHarness): TelephonyProvider {
  const twilio = deps.providers.byName('twilio');
  if (twilio === undefined) throw new Error('no provider to be like');
  return {
    ...twilio,
    name: 'ari',
    formatAddress: (address) => address.replace('+', '00'),
    control: {
      ...twilio.control,
      dial: (_credentials, request) => {
        dials.push(request);
        return Promise.resolve({ callId: `channel-${dials.length}`, metadata: {} });
      },
      findCalls: (_credentials, { from }) => {
        sought.push(from);
        return Promise.resolve([]);
      },
    },
  };
}

beforeEach(async () => {
  dials = [];
  sought = [];
  const harness = await held.harness.prepare();
  const { store, owner } = harness.at;
  Object.assign(harness.deps.providers, providersOf([fakePbx(harness)]));
  const credentials = { provider: 'ari' };
  harness.configuration = await store.telephony.createConfiguration(owner.organizationId, {
    name: 'PBX',
    provider: 'ari',
    isDefaultOutbound: true,
    credentials,

    accountId: null,
    secretFields: [],
  });
});

async function refusalOf(starting: Promise<unknown>): Promise<string | undefined> {
  return starting.then(
    () => undefined,
    (error: unknown) => codeOf(error),
  );
}

describe('a call that needs no number of ours', () => {
  it('is dialled without a caller id, and its run says that the number is unknown', async () => {
    const { runId } = await held.harness.start();
    expect(dials).toMatchObject([{ from: null, to: CALLER.replace('+', '00') }]);
    const run = await held.harness.run(runId);
    expect(run.initialContext).toMatchObject({ caller_number: null, called_number: CALLER });
    const [created] = await held.harness.bodies(run, 'call.created');
    expect(created).toMatchObject({ provider: 'ari', from: null });
  });

  it('is dialled in test mode as well', async () => {
    await held.harness.startTest();
    expect(dials).toMatchObject([{ from: null }]);
  });

  it('shows a number of the configuration where it has one', async () => {
    await held.harness.addNumber('+14155550106');
    await held.harness.start();
    expect(dials).toMatchObject([{ from: '0014155550106' }]);
  });

  it('does not show one that is switched off', async () => {
    await held.harness.addNumber('+14155550106', { isActive: false });
    await held.harness.start();
    expect(dials).toMatchObject([{ from: null }]);
  });

  it('is refused where a number is asked for that the configuration has not', async () => {
    const starting = held.harness.start({ fromPhoneNumberId: held.harness.number.id });
    expect(await refusalOf(starting)).toBe('CALLER_ID_NOT_FOUND');
    expect(dials).toEqual([]);
  });
});

describe('a campaign over such a configuration', () => {
  async function claimed() {
    const { at, workflow, configuration, callControl } = held.harness;
    const { store, owner } = at;
    const campaign = await store.campaigns.create(owner.organizationId, {
      name: 'c',
      workflowId: workflow.id,
      configurationId: configuration.id,

      sourceId: `campaigns/${owner.organizationId}/a.csv`,
      retry: RETRY_DEFAULT,

      maxConcurrency: null,
      schedule: null,
      breaker: null,
      ratePerSecond: 1_000,
    });
    await store.contacts.add(campaign.id, rows(1));
    await at.sql("update campaigns set state = 'running'");
    const calls = callControl.campaignCalls;
    const route = await calls.routeOf(campaign);
    const [claim] = await store.contacts.claim(campaign.id, {
      count: 1,
      openMax: 1,
      ratePerSecond: 1_000,
      configuration,
      horizonMs: 1_000,
      leaseMs: 30_000,
    });
    if (claim === undefined) throw new Error('nobody is due');
    const made = calls.runOf(route, claim, 'csv_0');
    const run = await store.contacts.begin(claim, made);
    if (run === undefined) throw new Error('not begun');
    return { calls, route, claim, run };
  }

  it('has its calls placed without a caller id', async () => {
    const { calls, route, claim, run } = await claimed();
    expect(route.callers).toEqual([]);
    expect(await calls.place(route, claim, { run, waitMs: 0 })).toBe('placed');
    expect(dials).toMatchObject([{ from: null, to: claim.phoneNumber.replace('+', '00') }]);
    expect(run.initialContext).toMatchObject({ caller_number: null });
  });

  it('has a lost call looked for by whom it called alone', async () => {
    const { calls, run } = await claimed();
    expect(await calls.outcomeAfterCrash(run)).toBe('none');
    expect(sought).toEqual([null]);
  });
});
