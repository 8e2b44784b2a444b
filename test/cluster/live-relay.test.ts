// Live items from gateway to gateway. From a worker to its API process: test/call/events/live-watchers.test.ts.

import { describe, expect, it } from 'vitest';
import { LiveWatchers } from '../../src/call/events/live-watchers.ts';
import type { IpcChannel } from '../../src/cluster/ipc-channel.ts';
import { relayFromGateways, relayFromWorkers, relayTo } from '../../src/cluster/live-relay.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { wires } from './linked-channels.ts';
import { type LinkedGateways, linkedGateways } from './linked-gateways.ts';

const SPEAKS = { type: 'rtf-bot-started-speaking', payload: {}, timestamp: '' };
const WORDS = { type: 'rtf-user-transcription', payload: {}, timestamp: '' };

/** A gateway with one worker. */
function startGateway(name: string, on: LinkedGateways, clock: FakeClock) {
  const { api, links } = wires(2, clock);
  const [worker, live] = [new LiveWatchers(), new LiveWatchers()];
  relayTo(links[1] as IpcChannel, worker, { clock });
  relayFromWorkers(api, live, () => [1])(1);
  const bus = on.join(name);
  const joined = relayFromGateways(bus, live);
  const left = relayTo(bus, live, { clock, place: 'elsewhere' });
  return { worker, live, bus, joined, left };
}

function start() {
  const clock = new FakeClock();
  const on = linkedGateways(clock);
  const [a, b, c] = ['a', 'b', 'c'].map((name) => startGateway(name, on, clock));
  if (!a || !b || !c) throw new Error('three gateways');
  return { clock, on, a, b, c };
}

function watch(live: LiveWatchers, runId = '7') {
  const seen: string[] = [];
  const unwatch = live.watch(runId, {
    onStored: () => seen.push('stored'),
    onLive: (_run, { type }) => seen.push(type),
  });
  return { seen, unwatch };
}

describe('a watcher at another gateway', () => {
  it('gets what is stored and what is not from the worker with the call, once', () => {
    const { on, a, b, c } = start();
    const [here, there] = [watch(a.live), watch(b.live)];
    expect([a, b, c].map(({ worker }) => worker.isWatched('7'))).toEqual([true, true, true]);
    a.worker.emit('7', SPEAKS);
    a.worker.notifyStored(['7']);
    a.worker.emit('8', SPEAKS);
    expect(there.seen).toEqual([SPEAKS.type, 'stored']);
    expect(here.seen).toEqual(there.seen);
    const news = on.sent.filter((each) => each.kind === 'note' && each.topic === 'news');
    expect(news.map(({ from, to }) => [from, to])).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  it('gets what the API process itself stores', () => {
    const { a, b } = start();
    const { seen } = watch(b.live);
    a.live.notifyStored(['7']);
    expect(seen).toEqual(['stored']);
  });

  it('costs its gateway nothing more once it is gone', () => {
    const { on, a, b } = start();
    const [one, two] = [watch(b.live), watch(b.live)];
    one.unwatch();
    expect(a.worker.isWatched('7')).toBe(true);
    two.unwatch();
    expect(a.worker.isWatched('7')).toBe(false);
    const { length } = on.sent;
    a.worker.emit('7', SPEAKS);
    expect(on.sent).toHaveLength(length);
  });

  it('is known to a gateway that comes later, which was told nothing before', () => {
    const { on, clock, b } = start();
    const { seen } = watch(b.live);
    const late = startGateway('late', on, clock);
    expect(late.worker.isWatched('7')).toBe(false);
    b.joined('late');
    expect(seen).toEqual(['stored']); // It may have missed something.
    late.worker.emit('7', SPEAKS);
    expect(seen).toEqual(['stored', SPEAKS.type]);
  });

  it('is forgotten with its gateway, and watchers here stay', () => {
    const { a, b } = start();
    const [here, there] = [watch(a.live), watch(b.live)];
    watch(b.live, '8');
    a.left('b');
    expect(a.worker.isWatched('8')).toBe(false);
    a.worker.emit('7', SPEAKS);
    expect([here.seen, there.seen]).toEqual([[SPEAKS.type], []]);
  });

  it('gets at most 500 live items a second, of which 250 interim words, and so does each gateway', () => {
    const { clock, a, b, c } = start();
    const [one, two] = [watch(b.live), watch(c.live)];
    for (let n = 0; n < 300; n += 1) a.live.emit('7', WORDS);
    for (let n = 0; n < 300; n += 1) a.live.emit('7', SPEAKS);
    for (const { seen } of [one, two]) {
      expect(seen).toHaveLength(500);
      expect(seen.filter((type) => type === WORDS.type)).toHaveLength(250);
    }
    clock.advance(1_000);
    a.live.emit('7', WORDS);
    expect(one.seen).toHaveLength(501);
  });
});
