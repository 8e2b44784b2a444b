// How long public tokens of runs are good where the operator has set it. Source: specification §2.5.

import { expect, it } from 'vitest';
import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom as random } from '../../../src/std/random.ts';
import { openDatabase } from '../../../src/store/db/connections.ts';
import { publicToken } from '../../../src/store/runs/run-tokens.ts';
import { withStore } from '../engines.ts';
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
