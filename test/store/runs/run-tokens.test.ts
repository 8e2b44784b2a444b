// Public tokens of runs: how long they are good, and that all who ask at a time get one. Source: specification §2.5.

import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom as random } from '../../../src/std/random.ts';
import { openDatabase } from '../../../src/store/db/connections.ts';
import { publicToken } from '../../../src/store/runs/run-tokens.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { statementsSent } from '../sent-statements.ts';
import { runMaker } from './run-rows.ts';

const DAY_MS = 86_400_000;
const at = withStore();

it.each([1, 2, 3_650])('a public token is good for the %i days of the setting', async (days) => {
  const { make } = await runMaker(at);
  const { id } = await make();
  const ready = () => Promise.resolve();
  const db = openDatabase(at.target(), { ready, clock: systemClock, log: at.log });
  try {
    const token = await publicToken({ db, clock: at.clock, random, publicLinkDays: days }, id);
    at.clock.advance(days * DAY_MS - 1);
    expect((await at.store.runs.findByToken(token))?.id).toBe(id);
    at.clock.advance(1);
    expect(await at.store.runs.findByToken(token)).toBeUndefined();
  } finally {
    await db.destroy();
  }
});

describe.each(engines())('the public token of a run on %s', (engine) => {
  const own = withStore(engine);
  const tokenOf = (id: string) => own.store.runs.publicToken(id);

  it('is the same until it lapses, then a new one, each in one statement', async () => {
    const { id } = await (await runMaker(own)).make();
    const sent = statementsSent();
    const first = await tokenOf(id);
    expect(await tokenOf(id)).toBe(first);
    own.clock.advance(30 * DAY_MS);
    const second = await tokenOf(id);
    sent.stop();
    expect(second).not.toBe(first);
    expect(await tokenOf(id)).toBe(second);
    expect(sent.verbs).toEqual(['with', 'with', 'with']);
  });

  it('is one for all who ask at once, each run has its own, and unknown ones have none', async () => {
    const { make } = await runMaker(own);
    const [one, other] = [(await make()).id, (await make()).id];
    const first = await tokenOf(one);
    const all = await Promise.all(
      [1, 2, 3].map(() => own.store.runs.publicTokens([other, 'x', '999999', one])),
    );
    expect(all.every((tokens) => tokens.size === 2 && tokens.get(one) === first)).toBe(true);
    expect(new Set(all.map((tokens) => tokens.get(other))).size).toBe(1);
    await expect(tokenOf('999999')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  });

  it.runIf(engine === 'server')('is that which another node issues meanwhile', async () => {
    const { id } = await (await runMaker(own)).make();
    await own.sql('begin');
    await own.sql('update runs set public_access_token = $1, public_access_until = $2', [
      'theirs',
      new Date(own.clock.now() + DAY_MS),
    ]);
    const token = tokenOf(id);
    await vi.waitFor(async () =>
      expect(await own.sql('select from pg_locks where not granted')).toHaveLength(1),
    );
    await own.sql('commit');
    expect(await token).toBe('theirs');
  });

  // In the order of the caller, two reports with the same runs in other orders waited for each other, until the server
  // ended one of them.
  it.runIf(engine === 'server')('locks runs in the order of their ids, whoever asks', async () => {
    const runs = await runMaker(own);
    const ids: string[] = [];
    for (let nth = 0; nth < 3; nth++) ids.push((await runs.make()).id);
    const last = ids[2] ?? '';
    await own.sql('begin');
    await own.sql('update runs set name = name where id = $1', [ids[1]]);
    const tokens = own.store.runs.publicTokens(ids.toReversed());
    await vi.waitFor(async () =>
      expect(await own.sql('select from pg_locks where not granted')).toHaveLength(1),
    );
    const free = await own.sql('select id from runs where id = $1 for update skip locked', [last]);
    await own.sql('commit');
    expect((await tokens).size).toBe(3);
    expect(free).toEqual([{ id: last }]);
  });
});
