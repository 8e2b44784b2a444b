// The port of a gateway that starts while another process has it, or that it may not have.

import { describe, expect, it } from 'vitest';
import { bindWhenFree } from '../../src/app/supervisor.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';

const address = { host: '127.0.0.1', port: 8_080 };

function bind(answers: () => { close(): void } | string | undefined) {
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
    const { bound, wait, lines } = bind(() => (isFree ? handle : 'EADDRINUSE'));
    await wait(3_000);
    isFree = true;
    await wait(100);
    expect(await bound).toBe(handle);
    expect(lines()).toMatchObject([
      { level: 'warn', ...address, msg: 'the port is in use: waiting' },
    ]);
  });

  it('is given up after 30 s, with what helps', async () => {
    const { bound, wait, lines, clock, tries } = bind(() => 'EADDRINUSE');
    const end = bound.catch((error: unknown) => error);
    await wait(29_900);
    expect(lines()).toHaveLength(1);
    await wait(100);
    expect(await end).toMatchObject({
      code: 'PORT_UNAVAILABLE',
      message: expect.stringMatching(/127\.0\.0\.1, port 8080 \(EADDRINUSE\).*PATCHBAY_PORT/),
    });
    expect([tries(), clock.timers]).toEqual([301, 0]);
    expect(lines().at(-1)).toMatchObject({ level: 'error', waitedMs: 30_000 });
  });

  it.each([
    ['EADDRNOTAVAIL', 'PATCHBAY_HOST'],
    ['EACCES', 'PATCHBAY_PORT'],
    ['EAFNOSUPPORT', 'PATCHBAY_HOST'],
  ])('is an error at once where waiting does not help: %s', async (code, setting) => {
    const { bound, lines, clock, tries } = bind(() => code);
    await expect(bound).rejects.toMatchObject({
      code: 'PORT_UNAVAILABLE',
      facts: { ...address, reason: code, remedy: expect.stringContaining(setting) },
    });
    expect([tries(), clock.timers]).toEqual([1, 0]);
    expect(lines()).toMatchObject([{ level: 'error', err: { code: 'PORT_UNAVAILABLE' } }]);
  });

  it('is bound by the process that listens where it cannot be bound apart', async () => {
    const { bound, lines, tries } = bind(() => undefined);
    expect([await bound, tries(), lines()]).toEqual([undefined, 1, []]);
  });
});
