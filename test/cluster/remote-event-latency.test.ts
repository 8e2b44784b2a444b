// What an event of a PBX's call costs more on its way to a worker of another gateway: two relays and a real Redis, in one
// process. The pipes between processes, which calls of other workers have as well, are not in it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { IpcChannel } from '../../src/cluster/ipc-channel.ts';
import {
  channelsOf,
  GATEWAY_BYTES_MAX,
  RedisTransport,
} from '../../src/cluster/redis-transport.ts';
import { RemoteMessages, relayRemoteMessages } from '../../src/cluster/remote-messages.ts';
import { systemClock as clock } from '../../src/std/clock.ts';
import { systemRandom as random } from '../../src/std/random.ts';
import { RedisPubSub } from '../../src/store/shared/redis-pub-sub.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { Redis } from '../several-gateways/engines/redis.ts';
import { missing as missingOf } from '../several-gateways/needs.ts';
import { wires } from './linked-channels.ts';

const EVENTS = 2_000;
/** Of a call in the other gateway: bytes of an event as Asterisk sends it. */
const TEXT = JSON.stringify({
  type: 'ChannelStateChange',
  channel: { id: '1', more: 'x'.repeat(900) },
});
const EVERY_MS = 1;
/** On a busy machine; a person notices some hundred. */
const MEDIAN_MS_MAX = 50;

const missing = missingOf(['redis']);
const folder = mkdtempSync(join(tmpdir(), 'remote-messages-'));
const open: RedisPubSub[] = [];
let server: Redis | undefined;

beforeAll(async () => {
  if (missing === undefined) server = await Redis.start(folder);
});

afterAll(async () => {
  for (const each of open) each.close();
  await server?.kill();
  rmSync(folder, { recursive: true });
});

/** A gateway with one worker. */
function joinBus(gateway: string) {
  const { log } = quietLog();
  const channels = channelsOf('pb:1', gateway);
  const redis = new RedisPubSub({ url: server?.url ?? '', channels, clock, random, log });
  open.push(redis);
  const keys = [Buffer.alloc(32, 1)];
  const transport = new RedisTransport({ redis, gateway, prefix: 'pb:1', keys, clock, log });
  const bus = new IpcChannel<string>(gateway, transport, {
    clock,
    log,
    bytesMax: GATEWAY_BYTES_MAX,
  });
  const { api, links } = wires(2, clock);
  relayRemoteMessages(bus, api, () => [1]);
  const link = links[1];
  if (link === undefined) throw new Error('there is no worker');
  const isUp = new Promise<void>((resolve) => {
    redis.onState = () => resolve();
  });
  redis.start();
  return { remote: new RemoteMessages(link, `${gateway}#1`), isUp };
}

it.skipIf(missing !== undefined)(
  'an event reaches the other gateway in milliseconds',
  async () => {
    const [a, b] = [joinBus('a'), joinBus('b')];
    await Promise.all([a.isUp, b.isUp]);
    const tookMs: number[] = [];
    const all = new Promise<void>((resolve) => {
      b.remote.take({
        onMessage: ({ body }) => {
          tookMs.push(performance.now() - (body as { atMs: number }).atMs);
          if (tookMs.length === EVENTS) resolve();
        },
        answer: () => Promise.reject(new Error('nothing is asked')),
        onNotice: () => undefined,
      });
    });
    for (let nth = 0; nth < EVENTS; nth++) {
      a.remote.send('b#1', 'pbx-event', { text: TEXT, atMs: performance.now() });
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
    await all;
    const sorted = tookMs.sort((one, other) => one - other);
    const [median = 0, p99 = 0] = [sorted[EVENTS / 2], sorted[EVENTS * 0.99]];
    process.stderr.write(
      `An event over Redis, one way: median ${median.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms.\n`,
    );
    expect(median).toBeLessThan(MEDIAN_MS_MAX);
  },
  60_000,
);
