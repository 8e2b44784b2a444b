// Events of all calls travel in one batch. A dial that came to nothing takes its run away, and a callback
// of it may still be on its way: its event once kept those of every other call from being stored.

import { describe, expect, it } from 'vitest';
import type { CallEvent } from '../../../src/model/call-event.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { runMaker } from './run-rows.ts';

const event = (runId: string): CallEvent => ({
  runId,
  seq: 1,
  at: 1,
  mediaMs: 0,
  body: { type: 'dtmf', digit: '1' },
});

describe.each(engines())('events on the %s engine', (engine) => {
  const at = withStore(engine);

  it('are stored although the run of another in their batch is gone', async () => {
    const runs = await runMaker(at);
    const [gone, there] = [await runs.make(), await runs.make()];
    await at.sql('delete from runs where id = $1', [gone.id]);
    await at.store.runs.appendEvents([event(gone.id), event(there.id)]);
    expect(await at.store.runs.events(there.id)).toEqual([event(there.id)]);
  });
});
