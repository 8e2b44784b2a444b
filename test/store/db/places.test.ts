// Places of which a limited number is taken, by several processes.

import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/std/clock.ts';
import { openDatabase } from '../../../src/store/db/connections.ts';
import { expireClaims } from '../../../src/store/db/dead-claims.ts';
import { engines } from '../databases.ts';
import { steeredTime, withStore } from '../engines.ts';

describe.each(engines())('places on %s', (engine) => {
  const at = withStore(engine);
  const claim = { max: 3, ms: 60_000 };
  let opened: ReturnType<typeof openDatabase> | undefined;
  beforeEach(() => at.sql('delete from places'));
  afterAll(async () => {
    await opened?.destroy();
  });

  const take = (name = 'a') => at.store.places.take(name, claim);

  it('are never more than their number, also for those who ask at once', async () => {
    const taken = await Promise.all(Array.from({ length: 10 }, () => take()));
    const places = taken.filter((each) => each !== undefined);
    expect(places).toHaveLength(3);
    expect(await take('b')).toBeDefined();
    await places[0]?.();
    await places[0]?.();
    expect(await take()).toBeDefined();
    expect(await take()).toBeUndefined();
  });

  it('are free when their time is over, and when their process is declared dead', async () => {
    for (let each = 0; each < 3; each += 1) await take();
    at.clock.advance(59_999);
    expect(await take()).toBeUndefined();
    at.clock.advance(1);
    for (let each = 0; each < 3; each += 1) expect(await take()).toBeDefined();
    const ready = (): Promise<void> => Promise.resolve();
    opened = openDatabase(at.target(), { ready, clock: systemClock, log: at.log });
    const now = steeredTime(() => at.clock)();
    await expireClaims(opened, { names: ['another'], now });
    expect(await take()).toBeUndefined();
    await expireClaims(opened, { names: [at.store.node], now });
    expect(await take()).toBeDefined();
  });

  it('that cannot be given back are logged, and no error of the request', async () => {
    const giveBack = await take();
    await at.sql('alter table places rename to places_away');
    await giveBack?.();
    await at.sql('alter table places_away rename to places');
    expect(at.lines()).toContainEqual(expect.objectContaining({ level: 'warn', place: 'a' }));
  });
});
