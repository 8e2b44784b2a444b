// The numbers of a cold transfer: the one that is dialled, and the one that its destination sees.

import { describe, expect, it } from 'vitest';
import {
  CallTransfer,
  type CallTransferOptions,
} from '../../../src/call/transfer/call-transfer.ts';
import { systemRandom } from '../../../src/std/random.ts';
import type { TransferTarget } from '../../../src/telephony/provider/provider.ts';
import { createProviders } from '../../../src/telephony/registry/registry.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

const clock = new FakeClock();
const providers = createProviders({ clock, random: systemRandom });

type Name = 'ari' | 'cloudonix' | 'telnyx' | 'vonage';

/** A call to `called` is transferred to `to`. */
async function transferred(name: Name, called: string, to: string) {
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
  const action = { type: 'transfer', toolRunId: 1, to, ringS: 20 } as const;
  const event = await transfer.transfer(action, new AbortController().signal);
  return { event, targets };
}

async function shown(name: Name, called: string): Promise<string[]> {
  const { event, targets } = await transferred(name, called, '+14155550199');
  expect(event.type).toBe('transferred');
  return targets.map(({ callerId }) => callerId);
}

describe('the destination of a transfer', () => {
  it.each([
    ['telnyx', '+44 (0)20 7946 0018', '+442079460018'],
    ['vonage', '+44 (0)20 7946 0018', '442079460018'],
    ['telnyx', '(415) 555-0144', '+14155550144'],
    ['telnyx', 'sip:Jo@PBX.example.com', 'sip:Jo@pbx.example.com'],
    ['cloudonix', '1001', '1001'],
    ['ari', '+44 (0)20 7946 0018', '+442079460018'],
    ['ari', '020 7946 0018', '02079460018'],
    ['ari', 'PJSIP/Bob', 'PJSIP/Bob'],
  ] as const)('over %s %s is dialled as %s', async (name, written, to) => {
    const { targets } = await transferred(name, '+14155550100', written);
    expect(targets.map((target) => target.to)).toEqual([to]);
  });

  it.each(['911', '1001', 'bob', '+999 123 456 789'])(
    'is missing if a hosted provider cannot call %s',
    async (written) => {
      const { event, targets } = await transferred('telnyx', '+14155550100', written);
      expect(event).toMatchObject({ reason: 'no_destination' });
      expect(targets).toEqual([]);
    },
  );
});

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
