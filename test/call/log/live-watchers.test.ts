import { describe, expect, it } from 'vitest';
import { LiveWatchers } from '../../../src/call/log/live-watchers.ts';
import type { IpcChannel } from '../../../src/cluster/ipc-channel.ts';
import { relayFromWorkers, relayToFront } from '../../../src/cluster/live-relay.ts';
import { wires } from '../../cluster/linked-channels.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { withCallRoom } from '../call-harness.ts';

const held = withCallRoom();

it('calls of other processes are told of while somebody watches, and not longer', () => {
  const [front, behind] = [new LiveWatchers(), new LiveWatchers()];
  const { links } = wires(3, new FakeClock());
  const [, one, two] = links as [IpcChannel, IpcChannel, IpcChannel];
  const joined = relayFromWorkers(one, front, () => [2]);
  relayToFront(two, behind);
  joined(2);
  expect(behind.relay).toBeUndefined();
  const told: unknown[] = [];
  const watcher = {
    onStored: () => void told.push('stored'),
    onLive: (runId: string, { type }: { type: string }) => void told.push([runId, type]),
  };
  const item = { type: 'rtf-bot-started-speaking', payload: {}, timestamp: '' };
  const unwatch = front.watch('7', watcher);
  const unwatchToo = front.watch('7', watcher);
  unwatchToo();
  unwatch();
  expect(behind.relay).toBeUndefined();
  const again = front.watch('7', watcher);
  behind.notifyStored(['7', '7', '8']);
  behind.emit('7', item);
  behind.emit('8', item);
  expect(told).toEqual(['stored', ['7', 'rtf-bot-started-speaking']]);
  again();
  again();
  behind.notifyStored(['7']);
  expect(told).toHaveLength(2);
  expect(behind.relay).toBeUndefined();
});

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
