// What connects or refuses a call at its provider: reply, command, repetition.

import { describe, expect, it } from 'vitest';
import { CallActions } from '../../../src/call/start/call-actions.ts';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

const REPLY = { status: 200, contentType: 'application/json', body: '{}' };

function actions() {
  const clock = new FakeClock();
  return { clock, actions: new CallActions({ clock, log: quietLog().log }) };
}

async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let at = 0; at < ms; at += 50) {
    clock.advance(50);
    await settle();
  }
}

describe('what connects a call', () => {
  it('is a reply alone where a document does it', async () => {
    const { clock, actions: all } = actions();
    expect(await all.perform({ reply: REPLY }, {})).toBe(REPLY);
    expect(clock.timers).toBe(0);
  });

  it('is replied to once the provider has accepted the command', async () => {
    const { clock, actions: all } = actions();
    let accept = (): void => undefined;
    const command = () => new Promise<void>((resolve) => (accept = resolve));
    let reply: unknown;
    void all.perform({ reply: REPLY, command }, {}).then((made) => (reply = made));
    await pass(clock, 500);
    expect(reply).toBeUndefined();
    accept();
    await settle();
    expect(reply).toBe(REPLY);
    expect(clock.timers).toBe(0);
  });

  it('is replied to after 1.5 s in any case, and the command goes on', async () => {
    const { clock, actions: all } = actions();
    let replied = false;
    const failed: unknown[] = [];
    const command = (_: unknown, signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    void all
      .perform({ reply: REPLY, command }, {}, async (error) => void failed.push(error))
      .then(() => (replied = true));
    await pass(clock, 1_500);
    expect(replied).toBe(true);
    expect(failed).toEqual([]);
    await pass(clock, 6_600);
    expect(failed).toEqual([expect.objectContaining({ code: 'TIMED_OUT' })]);
  });

  it('is asked for again after a fault that may pass, four times at most', async () => {
    const { clock, actions: all } = actions();
    let asked = 0;
    const failed: unknown[] = [];
    const command = (): Promise<void> => {
      asked += 1;
      return Promise.reject(new GatewayError('PROVIDER_UNCERTAIN', { reason: 'ECONNRESET' }));
    };
    void all.perform({ reply: REPLY, command }, {}, async (error) => void failed.push(error));
    await pass(clock, 3_000);
    expect(asked).toBe(4);
    expect(failed).toEqual([expect.objectContaining({ code: 'PROVIDER_UNCERTAIN' })]);
  });

  it('is not asked for again after a refusal', async () => {
    const { actions: all } = actions();
    let asked = 0;
    const failed: unknown[] = [];
    const command = (): Promise<void> => {
      asked += 1;
      return Promise.reject(new GatewayError('PROVIDER_REFUSED', { reason: 'no' }));
    };
    await all.perform({ reply: REPLY, command }, {}, async (error) => void failed.push(error));
    expect([asked, failed.length]).toEqual([1, 1]);
  });
});
