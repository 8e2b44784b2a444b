import { describe, expect, it } from 'vitest';
import { withCallRoom } from './call-room.ts';

const held = withCallRoom();

describe('whoever watches a call', () => {
  it('is told when the agent begins and ends to speak, and when there is more in the log', async () => {
    const room = await held.room.prepare();
    const { run, stream } = await room.inboundCall();
    const told: string[] = [];
    let stored = 0;
    const unwatch = room.deps.events.live.watch(run.id, {
      onStored: () => {
        stored += 1;
      },
      onLive: (runId, { type }) => told.push(`${runId} ${type}`),
    });
    await room.heardOut(stream);
    const once = [
      `${run.id} rtf-bot-started-speaking`,
      `${run.id} rtf-user-mute-started`,
      `${run.id} rtf-bot-stopped-speaking`,
      `${run.id} rtf-user-mute-stopped`,
    ];
    expect(told).toEqual(once);
    await room.until(() => stored > 0);
    unwatch();
    await room.says(stream, 'tea');
    await room.heardOut(stream);
    await room.ended(run);
    expect(told).toEqual(once);
    const kept = (await room.run(run.id)).logs['realtime_feedback_events'];
    expect(JSON.stringify(kept)).not.toContain('speaking');
  });
});
