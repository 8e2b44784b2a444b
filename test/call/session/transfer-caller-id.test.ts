// The number that the destination of a cold transfer sees.

import { describe, expect, it } from 'vitest';
import { CallTransfer, type CallTransferOptions } from '../../../src/call/session/call-transfer.ts';
import { systemRandom } from '../../../src/std/random.ts';
import type { TransferTarget } from '../../../src/telephony/provider/provider.ts';
import { createProviders } from '../../../src/telephony/registry/registry.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

const clock = new FakeClock();
const providers = createProviders({ clock, random: systemRandom });

/** A call to `called` is transferred. */
async function shown(name: 'ari' | 'cloudonix' | 'vonage', called: string): Promise<string[]> {
  const targets: TransferTarget[] = [];
  const provider = providers.byName(name);
  if (provider === undefined) throw new Error('no provider');
  const control = {
    ...provider.control,
    transfer: (_credentials: unknown, _callId: string, target: TransferTarget) => {
      targets.push(target);
      return Promise.resolve();
    },
  };
  const run = { id: '7', callType: 'inbound', initialContext: { called_number: called } };
  const plan = { run, provider: { ...provider, control }, configuration: { credentials: {} } };
  const options: Partial<CallTransferOptions> = {
    plan: plan as unknown as CallTransferOptions['plan'], // All that a cold transfer reads.
    random: systemRandom,
    callId: () => 'call',
    publicUrl: 'https://gw.example.com',
    clock,
    log: quietLog().log,
  };
  const transfer = new CallTransfer(options as CallTransferOptions);
  const action = { type: 'transfer', toolRunId: 1, to: '+14155550199', ringS: 20 } as const;
  const { type } = await transfer.transfer(action, new AbortController().signal);
  expect(type).toBe('transferred');
  return targets.map(({ callerId }) => callerId);
}

describe('the caller id of a cold transfer', () => {
  it.each([
    ['cloudonix', '14155550100', '+14155550100'],
    ['cloudonix', '+1 (415) 555-0100', '+14155550100'],
    ['vonage', '+14155550100', '14155550100'],
    ['cloudonix', 'anonymous', 'anonymous'],
  ] as const)('over %s is the called number %s as in a dial: %s', async (name, called, number) => {
    expect(await shown(name, called)).toEqual([number]);
  });

  it.each(['8000', '0301234567'])('over a PBX is %s as the PBX has it', async (called) => {
    expect(await shown('ari', called)).toEqual([called]);
  });
});
