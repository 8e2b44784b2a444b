// Whose call it is where a provider gives the called number without its country: digits may be a whole number, or one
// that lacks its country.

import { describe, expect, it } from 'vitest';
import { createCallControl } from '../../../../src/app/call-parts.ts';
import { type HostedProvider, isHosted } from '../../../../src/telephony/provider/provider.ts';
import { providersOf } from '../../../../src/telephony/registry/registry.ts';
import { type CallHarness, inboundRequest, NUMBER, withCallHarness } from '../../call-harness.ts';

const held = withCallHarness();
const INDIAN = '+912271264296';

/** Rings `to` over a provider whose numbers are Indian where they do not say, and gives the called numbers of the runs. */
async function called(harness: CallHarness, to: string): Promise<unknown[]> {
  const twilio = harness.deps.providers.byName('twilio');
  if (twilio === undefined || !isHosted(twilio)) throw new Error('no provider');
  const provider: HostedProvider = {
    ...twilio,
    webhook: {
      ...twilio.webhook,
      parse: (request) => {
        const event = twilio.webhook.parse(request);
        return event.kind === 'inbound-call' ? { ...event, to, toCountry: 'IN' } : event;
      },
    },
  };
  const calls = createCallControl({ ...harness.deps, providers: providersOf([provider]) });
  await calls.inbound(inboundRequest(), null);
  const runs = await harness.runs();
  return runs.map(({ initialContext }) => initialContext['called_number']);
}

async function withIndianNumber(): Promise<CallHarness> {
  const harness = await held.harness.prepare();
  await harness.addNumber(INDIAN, { inboundWorkflowId: harness.workflow.id });
  return harness;
}

describe('a called number', () => {
  it.each(['02271264296', '2271264296'])(
    '%s is found as the Indian number that it is, and named with its country',
    async (to) => {
      expect(await called(await withIndianNumber(), to)).toEqual([INDIAN]);
    },
  );

  it.each(['912271264296', INDIAN])('%s is whole already', async (to) => {
    expect(await called(await withIndianNumber(), to)).toEqual([to]);
  });

  it.each([NUMBER, NUMBER.slice(1)])(
    '%s of another country is found as it is, not with the assumed country',
    async (to) => {
      const harness = await held.harness.prepare();
      expect(await called(harness, to)).toEqual([to]);
    },
  );

  it('of no configuration is refused', async () => {
    expect(await called(await withIndianNumber(), '2271264297')).toEqual([]);
  });
});
