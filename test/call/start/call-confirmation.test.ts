// Questions to a provider about a call whose webhook is not proven: repetition for a new call, and their limit.

import { describe, expect, it } from 'vitest';
import { CallConfirmation } from '../../../src/call/start/call-confirmation.ts';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import type { CallSnapshot } from '../../../src/telephony/provider/provider.ts';
import { createVobizProvider } from '../../../src/telephony/vobiz/provider.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

const RINGING: CallSnapshot = { status: 'ringing', durationS: null, answeredBy: null };

/** A provider that answers with the next of `answers`, then with the last one. */
function asking(answers: (CallSnapshot | undefined)[], answerMs = 0) {
  const clock = new FakeClock();
  const asked: string[] = [];
  const vobiz = createVobizProvider({ clock });
  const getCall = async (_: unknown, callId: string) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)];
    asked.push(callId);
    if (answerMs > 0) await new Promise<void>((resolve) => clock.after(answerMs, resolve));
    return answer;
  };
  const provider = { ...vobiz, control: { ...vobiz.control, getCall } };
  const configuration = { id: '1', credentials: {} };
  const confirmation = new CallConfirmation({ clock, log: quietLog().log });
  const call = (callId: string) => ({ provider, configuration, callId });
  return { clock, asked, confirmation, call };
}

async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let at = 0; at < ms; at += 50) {
    clock.advance(50);
    await settle();
  }
}

describe('a new call', () => {
  it('that the provider does not list yet is looked for again', async () => {
    const { clock, asked, confirmation, call } = asking([undefined, undefined, RINGING]);
    const found = confirmation.lookForNew(call('a'));
    await pass(clock, 700);
    expect(await found).toEqual(RINGING);
    expect(asked).toHaveLength(3);
    expect(clock.timers).toBe(0);
  });

  it('that never appears is looked for four times, within 1.5 s', async () => {
    const { clock, asked, confirmation, call } = asking([undefined]);
    const found = confirmation.lookForNew(call('a'));
    await pass(clock, 1_500);
    expect(await found).toBeUndefined();
    expect(asked).toHaveLength(4);
    await pass(clock, 5_000);
    expect(asked).toHaveLength(4);
  });

  it('is not looked for again where the provider answers too slowly for that', async () => {
    const { clock, asked, confirmation, call } = asking([undefined], 1_400);
    const found = confirmation.lookForNew(call('a'));
    await pass(clock, 1_450);
    expect(await found).toBeUndefined();
    expect(asked).toHaveLength(1);
  });
});

describe('a call', () => {
  it('that is over, or unknown, is looked up once', async () => {
    const { asked, confirmation, call } = asking([undefined]);
    expect(await confirmation.look(call('a'))).toBeUndefined();
    expect(asked).toHaveLength(1);
  });

  it('is looked up 20 times at once at most, and then every 10 seconds; others are not affected', async () => {
    const { clock, asked, confirmation, call } = asking([RINGING]);
    const codes = async (count: number, callId: string) => {
      const all = Array.from({ length: count }, () => confirmation.look(call(callId)));
      const settled = await Promise.allSettled(all);
      return settled.map((each) => (each.status === 'rejected' ? codeOf(each.reason) : 'found'));
    };
    expect((await codes(500, 'a')).filter((each) => each === 'found')).toHaveLength(20);
    expect(asked).toHaveLength(20);
    expect(await codes(1, 'a')).toEqual(['PROVIDER_CAPACITY']);
    expect(await codes(1, 'b')).toEqual(['found']);
    clock.advance(10_000);
    expect(await codes(2, 'a')).toEqual(['found', 'PROVIDER_CAPACITY']);
  });
});
