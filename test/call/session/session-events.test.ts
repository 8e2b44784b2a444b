// What a session takes down of an interruption.

import { describe, expect, it } from 'vitest';
import { SessionEvents } from '../../../src/call/session/session-events.ts';
import { bargeInSeconds, interruptions } from '../../../src/metrics/metrics.ts';
import type { CallEventBody } from '../../../src/model/call-event.ts';

async function counted(): Promise<number> {
  const figures = [await interruptions.get(), await bargeInSeconds.get()];
  return figures.flatMap(({ values }) => values).reduce((sum, { value }) => sum + value, 0);
}

describe('an interruption', () => {
  // The pipeline measures it where it happens; counted here again, every figure was twice the truth.
  it('is written down, and counted by the pipeline alone', async () => {
    const events: CallEventBody[] = [];
    const record = new SessionEvents(
      {
        events: [],
        isWatched: () => false,
        emitLive: () => undefined,
        append: (body) => events.push(body),
      },
      () => 0,
    );
    const before = await counted();
    record.interruption({ cause: 'speech', decisionMs: 400.4, silenceMs: 120.6 });
    expect(events).toEqual([
      { type: 'interruption', cause: 'speech', decisionMs: 400, silenceMs: 121 },
    ]);
    expect(await counted()).toBe(before);
  });
});
