// The port of a gateway that starts while another process has it, or that it may not have.

import { describe, expect, it } from 'vitest';
import { bindWhenFree } from '../../src/app/listen-port.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';

const address = { host: '127.0.0.1', port: 8_080 };

function bind(answers: () => Awaited<ReturnType<typeof bindWhenFree>> | 'in-use') {
  const clock = new FakeClock();
  const { log, lines } = quietLog();
  let tries = 0;
  const bound = bindWhenFree(
    address,
    () => {
      tries += 1;
      return answers();
    },
    { clock, log },
  );
  const wait = (ms: number): Promise<void> => clock.advanceAsync(ms, 100);
  return { bound, wait, lines, clock, tries: () => tries };
}

describe('the port of a gateway', () => {
  it('is waited for while it is in use, which the log says once, with the address', async () => {
    const handle = { close: () => undefined };
    let isFree = false;
    const { bound, wait, lines } = bind(() => (isFree ? handle : 'in-use'));
    await wait(3_000);
    isFree = true;
    await wait(100);
    expect(await bound).toBe(handle);
    expect(lines()).toMatchObject([
      { level: 'warn', ...address, msg: 'the port is in use: waiting' },
    ]);
  });

  it('is given up after 10 s, which the log says', async () => {
    const { bound, wait, lines, clock, tries } = bind(() => 'in-use');
    await wait(9_900);
    expect(lines()).toHaveLength(1);
    await wait(100);
    expect([await bound, tries(), clock.timers]).toEqual([undefined, 101, 0]);
    expect(lines().at(-1)).toMatchObject({ level: 'warn', ...address, waitedMs: 10_000 });
  });

  it('is tried once where waiting does not help', async () => {
    const { bound, lines, clock, tries } = bind(() => undefined);
    expect([await bound, tries(), clock.timers, lines()]).toEqual([undefined, 1, 0, []]);
  });
});
