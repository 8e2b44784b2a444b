// Counts of failed log-ins on both engines. They were in memory, so that each process allowed its own number.

import { describe, expect, it } from 'vitest';
import { codeOf, GatewayError } from '../../../src/errors/gateway-error.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';

describe.each(engines())('counts of attempts on %s', (engine) => {
  const at = withStore(engine);
  const take = async (name: string, attemptsMax = 2): Promise<unknown> => {
    try {
      await at.store.logInAttempts.count(name, { attemptsMax, windowMs: 60_000 });
      return 'taken';
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return [codeOf(error), error.facts['retryAfterS']];
    }
  };

  it('refuse more than the number within a window, and say when the window ends', async () => {
    expect([await take('a'), await take('a'), await take('a')]).toEqual([
      'taken',
      'taken',
      ['TOO_MANY_ATTEMPTS', 60],
    ]);
    at.clock.advance(59_500);
    expect(await take('a')).toEqual(['TOO_MANY_ATTEMPTS', 1]);
    at.clock.advance(500);
    expect([await take('a'), await take('a')]).toEqual(['taken', 'taken']);
    expect(await take('a')).toEqual(['TOO_MANY_ATTEMPTS', 60]);
  });

  it('count every name for itself, also at the same moment', async () => {
    const taken = await Promise.all(Array.from({ length: 12 }, (_, i) => take(`n${i % 2}`, 3)));
    expect(taken.filter((each) => each === 'taken')).toHaveLength(6);
  });

  it('do not count what is returned, and are reset on demand', async () => {
    const { logInAttempts } = at.store;
    await take('a', 1);
    await logInAttempts.uncount('a');
    await logInAttempts.uncount('a');
    await logInAttempts.uncount('nobody');
    expect([await take('a', 1), await take('a', 1)]).toEqual(['taken', ['TOO_MANY_ATTEMPTS', 60]]);
    await logInAttempts.reset('a');
    expect(await take('a', 1)).toBe('taken');
  });

  it('remember a name for a time', async () => {
    const { logInAttempts } = at.store;
    await logInAttempts.remember('a', 60_000);
    expect(await logInAttempts.isRemembered('a')).toBe(true);
    expect(await logInAttempts.isRemembered('b')).toBe(false);
    at.clock.advance(60_000);
    expect(await logInAttempts.isRemembered('a')).toBe(false);
  });

  it('store no name, and delete rows whose window is over', async () => {
    for (let i = 0; i < 20; i++) await take(`ada${i}@example.com`);
    at.clock.advance(60_000);
    await take('b@example.com');
    const rows = await at.sql('select * from log_in_attempts');
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain('example.com');
  });
});
