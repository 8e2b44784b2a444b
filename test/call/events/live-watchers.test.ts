import { describe, expect, it } from 'vitest';
import { LiveWatchers } from '../../../src/call/events/live-watchers.ts';
import type { IpcChannel } from '../../../src/cluster/ipc-channel.ts';
import { relayFromWorkers, relayTo } from '../../../src/cluster/live-relay.ts';
import { liveItemsDropped } from '../../../src/metrics/metrics.ts';
import { wires } from '../../cluster/linked-channels.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { withCallHarness } from '../call-harness.ts';

const held = withCallHarness();

it('a worker sends the events of watched runs, while there is a watcher, and of no other run', () => {
  const [front, behind] = [new LiveWatchers(), new LiveWatchers()];
  const clock = new FakeClock();
  const { links, api } = wires(3, clock);
  const [, , two] = links as [IpcChannel, IpcChannel, IpcChannel];
  const joined = relayFromWorkers(api, front, () => [2]);
  relayTo(two, behind, { clock });
  joined(2);
  const told: unknown[] = [];
  const watcher = {
    onStored: () => void told.push('stored'),
    onLive: (runId: string, { type }: { type: string }) => void told.push([runId, type]),
  };
  const crossed: unknown[] = [];
  const { notify } = two;
  two.notify = (...sent) => {
    crossed.push(sent[2]);
    return Reflect.apply(notify, two, sent);
  };
  const item = { type: 'rtf-bot-started-speaking', payload: {}, timestamp: '' };
  const unwatch = front.watch('7', watcher);
  const unwatchToo = front.watch('7', { ...watcher });
  unwatchToo();
  unwatchToo();
  expect(behind.isWatched('7')).toBe(true);
  unwatch();
  expect(behind.isWatched('7')).toBe(false);
  const again = front.watch('7', watcher);
  behind.notifyStored(['7', '7', '8']);
  behind.emit('7', item);
  behind.emit('8', item);
  expect(behind.isWatched('8')).toBe(false);
  expect(told).toEqual(['stored', ['7', 'rtf-bot-started-speaking']]);
  expect(crossed).toEqual([{ storedOf: '7' }, { runId: '7', item }]);
  again();
  again();
  behind.notifyStored(['7']);
  expect(told).toHaveLength(2);
});

it('an API process that starts again watches what its own clients watch, and nothing else', () => {
  const [first, second, behind] = [new LiveWatchers(), new LiveWatchers(), new LiveWatchers()];
  const clock = new FakeClock();
  const { links, api } = wires(3, clock);
  const two = links[2] as IpcChannel;
  relayTo(two, behind, { clock });
  const watcher = { onStored: () => undefined, onLive: () => undefined };
  relayFromWorkers(api, first, () => [2]);
  for (let run = 0; run < 5_100; run++) first.watch(`${run}`, watcher);
  const watchedOf = (of: number[]) => of.map((run) => behind.isWatched(`${run}`));
  expect(watchedOf([0, 4_999, 5_000])).toEqual([true, true, false]);
  second.watch('5', watcher);
  const joined = relayFromWorkers(api, second, () => [2]);
  joined(2);
  expect(watchedOf([0, 5, 4_999])).toEqual([false, true, false]);
});

it('live items of another process are at most 500 a second, of which 250 interim words', async () => {
  const [front, behind] = [new LiveWatchers(), new LiveWatchers()];
  const clock = new FakeClock();
  const { links, api } = wires(3, clock);
  const [, , two] = links as [IpcChannel, IpcChannel, IpcChannel];
  const joined = relayFromWorkers(api, front, () => [2]);
  relayTo(two, behind, { clock });
  joined(2);
  const told: string[] = [];
  const onLive = (_runId: string, { type }: { type: string }) => told.push(type);
  front.watch('7', { onStored: () => undefined, onLive });
  const send = (type: string) => behind.emit('7', { type, payload: {}, timestamp: '' });
  const dropped = async () => (await liveItemsDropped.get()).values[0]?.value ?? 0;
  const before = await dropped();
  for (let n = 0; n < 300; n++) send('rtf-user-transcription');
  for (let n = 0; n < 300; n++) send('rtf-bot-started-speaking');
  const interim = told.filter((type) => type === 'rtf-user-transcription');
  expect([interim.length, told.length]).toEqual([250, 500]);
  expect((await dropped()) - before).toBe(100);
  clock.advance(1_000);
  send('rtf-user-transcription');
  expect(told).toHaveLength(501);
});

describe('a client that watches a call', () => {
  it("gets the caller's words while they are spoken, which are not stored", async () => {
    const harness = await held.harness.prepare();
    const { run, stream } = await harness.inboundCall();
    const told: unknown[] = [];
    const unwatch = harness.deps.events.live.watch(run.id, {
      onStored: () => undefined,
      onLive: (_runId, { type, payload }) => {
        if (type === 'rtf-user-transcription') told.push(payload);
      },
    });
    await harness.heardOut(stream);
    await harness.says(stream, 'tea');
    await harness.heardOut(stream);
    await harness.ended(run);
    unwatch();
    expect(told).toEqual([{ text: 'tea', final: false, source: 'speech' }]);
    const { logs } = await harness.run(run.id);
    expect(JSON.stringify(logs)).not.toContain('"final":false');
    const stored = await harness.at.store.runs.events(run.id);
    expect(stored.filter(({ body }) => body.type === 'user.turn')).toHaveLength(1);
    expect(JSON.stringify(stored)).not.toContain('final');
  });

  it('gets when the agent begins and ends to speak, and when there is more in the log', async () => {
    const harness = await held.harness.prepare();
    const { run, stream } = await harness.inboundCall();
    const told: string[] = [];
    let stored = 0;
    const unwatch = harness.deps.events.live.watch(run.id, {
      onStored: () => {
        stored += 1;
      },
      onLive: (runId, { type }) => told.push(`${runId} ${type}`),
    });
    await harness.heardOut(stream);
    const once = [
      `${run.id} rtf-bot-started-speaking`,
      `${run.id} rtf-user-mute-started`,
      `${run.id} rtf-bot-stopped-speaking`,
      `${run.id} rtf-user-mute-stopped`,
    ];
    expect(told).toEqual(once);
    await harness.until(() => stored > 0);
    unwatch();
    await harness.says(stream, 'tea');
    await harness.heardOut(stream);
    await harness.ended(run);
    expect(told).toEqual(once);
    const kept = (await harness.run(run.id)).logs['realtime_feedback_events'];
    expect(JSON.stringify(kept)).not.toContain('speaking');
  });
});
