import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IpcChannel } from '../../src/cluster/ipc-channel.ts';
import { ALL_GATEWAYS } from '../../src/cluster/ipc-message.ts';
import {
  channelsOf,
  GATEWAY_BYTES_MAX,
  RedisTransport,
} from '../../src/cluster/redis-transport.ts';
import { systemClock as clock } from '../../src/std/clock.ts';
import { systemRandom as random } from '../../src/std/random.ts';
import { RedisPubSub } from '../../src/store/shared/redis-pub-sub.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { Redis } from '../several-gateways/engines/redis.ts';
import { missing as missingOf } from '../several-gateways/needs.ts';

const missing = missingOf(['redis']);
if (missing !== undefined) process.stderr.write(`No Redis: ${missing}.\n`);

const SOON = { timeout: 20_000, interval: 10 };
const [key, newKey, strange] = [1, 2, 3].map((fill) => Buffer.alloc(32, fill)) as [
  Buffer,
  Buffer,
  Buffer,
];

const folder = mkdtempSync(join(tmpdir(), 'redis-'));
let server: Redis;
const open: RedisPubSub[] = [];

beforeEach(async () => {
  if (missing === undefined) server = await Redis.start(folder);
});

afterEach(async () => {
  for (const each of open.splice(0)) each.close();
  await server?.kill();
});

afterAll(() => rmSync(folder, { recursive: true }));

/** A gateway on the bus. */
async function joinBus(gateway: string, { keys = [key], prefix = 'pb:1' } = {}) {
  const { log, lines } = quietLog();
  const channels = channelsOf(prefix, gateway);
  const redis = new RedisPubSub({ url: server.url, channels, clock, random, log });
  open.push(redis);
  const transport = new RedisTransport({ redis, gateway, prefix, keys, clock, log });
  const bus = new IpcChannel<string>(gateway, transport, {
    clock,
    log,
    bytesMax: GATEWAY_BYTES_MAX,
  });
  const notes: unknown[] = [];
  bus.onNotification('note', (body, { from }) => notes.push([from, body]));
  bus.onRequest('double', async (body) => Number(body) * 2);
  bus.onRequest('bytes', async (body) => Buffer.from(body as Buffer).length);
  redis.start();
  await expect.poll(() => redis.isUp, SOON).toBe(true);
  const refused = (): unknown[] => lines().filter(({ msg }) => String(msg).includes('refused'));
  return { bus, redis, notes, lines, refused };
}

/** Waits until the gateway has received all that was sent to it before. */
const caughtUp = ({ bus }: { bus: IpcChannel<string> }, to: string) =>
  bus.request(to, 'double', 1, 5_000);

describe.skipIf(missing !== undefined)('the bus of gateways', { timeout: 60_000 }, () => {
  it('carries requests and their answers, notes to one and notes to all others', async () => {
    const [a, b, c] = await Promise.all([joinBus('a:/data'), joinBus('b:/data'), joinBus('c')]);
    expect(await a.bus.request('b:/data', 'double', 21, 5_000)).toBe(42);
    expect(await b.bus.request('c', 'bytes', Buffer.alloc(400_000), 5_000)).toBe(400_000);
    a.bus.notify('b:/data', 'note', { text: Buffer.from([0, 255]), at: new Date(5) });
    a.bus.notify(ALL_GATEWAYS, 'note', 'all');
    await Promise.all([caughtUp(a, 'b:/data'), caughtUp(a, 'c')]);
    expect(b.notes).toMatchObject([
      ['a:/data', { at: new Date(5) }],
      ['a:/data', 'all'],
    ]);
    expect(c.notes).toEqual([['a:/data', 'all']]);
    expect(a.notes).toEqual([]);
  });

  it('reports at once that nobody has the name', async () => {
    const a = await joinBus('a');
    const sinceMs = clock.monotonicMs();
    await expect(a.bus.request('b', 'double', 1, 8_000)).rejects.toMatchObject({
      code: 'WORKER_GONE',
      facts: { worker: 'b' },
    });
    expect(clock.monotonicMs() - sinceMs).toBeLessThan(1_000);
  });

  it('sends nothing that is too large', async () => {
    const [a, b] = await Promise.all([joinBus('a'), joinBus('b')]);
    const large = Buffer.alloc(GATEWAY_BYTES_MAX + 1);
    await expect(a.bus.request('b', 'bytes', large, 5_000)).rejects.toMatchObject({
      code: 'QUEUE_FULL',
    });
    expect(a.bus.notify('b', 'note', large)).toBe(false);
    expect(b.notes).toEqual([]);
  });

  it('refuses what has no proof by its keys, and says so once', async () => {
    const [a, b] = await Promise.all([joinBus('a'), joinBus('b')]);
    const text = serialize({ kind: 'note', from: 'a', to: 'b', bytes: 9, topic: 'note', body: 1 });
    const proof = createHmac('sha256', strange).update(text).digest().subarray(0, 16);
    const junk = [Buffer.alloc(0), Buffer.alloc(16), Buffer.alloc(500), text];
    for (const sealed of [...junk, Buffer.concat([proof, text])]) {
      await a.redis.publish('pb:1:node:b', sealed);
    }
    await caughtUp(a, 'b');
    expect(b.notes).toEqual([]);
    expect(b.refused()).toHaveLength(1);
  });

  it('refuses a message to another one, which somebody sends again here', async () => {
    const [a, b] = await Promise.all([joinBus('a'), joinBus('b')]);
    const message = { kind: 'note', from: 'a', to: 'c', bytes: 9, topic: 'note', body: 1 };
    const text = serialize(message);
    const proof = createHmac('sha256', key).update(text).digest().subarray(0, 16);
    await a.redis.publish('pb:1:node:b', Buffer.concat([proof, text]));
    await caughtUp(a, 'b');
    expect(b.notes).toEqual([]);
  });

  it('logs a message with our proof and another form', async () => {
    const [a, b] = await Promise.all([joinBus('a'), joinBus('b')]);
    for (const text of [serialize({ kind: 'gossip' }), Buffer.from('no v8')]) {
      const proof = createHmac('sha256', key).update(text).digest().subarray(0, 16);
      await a.redis.publish('pb:1:all', Buffer.concat([proof, text]));
    }
    await caughtUp(a, 'b');
    expect(b.lines().map(({ msg }) => msg)).toContain('message of another process not read');
    expect(b.refused()).toHaveLength(1);
  });

  it('works while keys are changed one gateway after the other', async () => {
    const [old, both, next] = await Promise.all([
      joinBus('old', { keys: [key, newKey] }),
      joinBus('both', { keys: [newKey, key] }),
      joinBus('next', { keys: [newKey] }),
    ]);
    expect(await old.bus.request('both', 'double', 1, 5_000)).toBe(2);
    expect(await both.bus.request('old', 'double', 1, 5_000)).toBe(2);
    expect(await next.bus.request('both', 'double', 1, 5_000)).toBe(2);
  });

  it('keeps gateways of other databases apart', async () => {
    const [a, b] = await Promise.all([joinBus('a'), joinBus('b', { prefix: 'pb:2' })]);
    await expect(a.bus.request('b', 'double', 1, 5_000)).rejects.toMatchObject({
      code: 'WORKER_GONE',
    });
    a.bus.notify(ALL_GATEWAYS, 'note', 1);
    await expect(b.bus.request('a', 'double', 1, 5_000)).rejects.toMatchObject({
      code: 'WORKER_GONE',
    });
    expect(b.notes).toEqual([]);
  });
});
