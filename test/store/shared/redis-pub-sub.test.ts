import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock as clock } from '../../../src/std/clock.ts';
import { systemRandom as random } from '../../../src/std/random.ts';
import { RedisPubSub } from '../../../src/store/shared/redis-pub-sub.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { Redis } from '../../several-gateways/engines/redis.ts';
import { missing as missingOf } from '../../several-gateways/needs.ts';

const missing = missingOf(['redis']);
if (missing !== undefined) process.stderr.write(`No Redis: ${missing}.\n`);

/** Longest wait for what Redis does; a busy machine is slow. */
const SOON = { timeout: 20_000, interval: 10 };
/** Deadline of a command, and what a busy machine adds. */
const COMMAND_MS = 250 + 250;

const open: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function startServer(settings: readonly string[] = []): Promise<Redis> {
  const folder = mkdtempSync(join(tmpdir(), 'redis-'));
  open.push({ close: () => rmSync(folder, { recursive: true }) });
  const server = await Redis.start(folder, ['127.0.0.1'], settings);
  open.push({ close: () => server.kill() });
  return server;
}

function client(url: string, channels = ['own']) {
  const { log, lines } = quietLog();
  const redis = new RedisPubSub({ url, channels, clock, random, log });
  const received: string[] = [];
  const states: boolean[] = [];
  redis.onMessage = (payload) => received.push(payload.toString());
  redis.onState = (isUp) => states.push(isUp);
  redis.start();
  open.push(redis);
  return { redis, received, states, lines };
}

const isUp = (made: ReturnType<typeof client>) =>
  expect.poll(() => made.redis.isUp, SOON).toBe(true);

/** How long a message takes to be refused, in milliseconds. */
async function refusedAfter({ redis }: ReturnType<typeof client>): Promise<number> {
  const sinceMs = clock.monotonicMs();
  expect(await redis.publish('own', Buffer.from('lost'))).toBeUndefined();
  return clock.monotonicMs() - sinceMs;
}

describe.skipIf(missing !== undefined)('messages over Redis', { timeout: 60_000 }, () => {
  it('reach the subscribers of a channel, and say how many there were', async () => {
    const { url } = await startServer();
    const one = client(url, ['all', 'one']);
    const two = client(url, ['all', 'two']);
    await Promise.all([isUp(one), isUp(two)]);
    expect(await one.redis.publish('all', Buffer.from([0, 255]))).toBe(2);
    expect(await one.redis.publish('two', Buffer.from('for two'))).toBe(1);
    expect(await one.redis.publish('nobody', Buffer.from('x'))).toBe(0);
    await expect
      .poll(() => two.received, SOON)
      .toEqual([Buffer.from([0, 255]).toString(), 'for two']);
    expect(one.received).toHaveLength(1);
  });

  it('are refused at once while no server is there, and go out when one comes', async () => {
    const server = await startServer();
    await server.kill();
    const made = client(server.url);
    expect(await refusedAfter(made)).toBeLessThan(50);
    await expect
      .poll(() => made.lines(), SOON)
      .toMatchObject([{ msg: 'Redis is away: this gateway acts alone until it is back' }]);
    expect(JSON.stringify(made.lines())).toContain('ECONNREFUSED');
    await server.start();
    await isUp(made);
    expect(await made.redis.publish('own', Buffer.from('here'))).toBe(1);
    expect(made.states).toEqual([true]);
  });

  it('are refused at once after the server was killed, and go on when it is back, with one line each way', async () => {
    const server = await startServer();
    const made = client(server.url);
    await isUp(made);
    await server.kill();
    await expect.poll(() => made.redis.isUp, SOON).toBe(false);
    expect(await refusedAfter(made)).toBeLessThan(50);
    await new Promise((resolve) => setTimeout(resolve, 3_000)); // Attempts to connect go on, and say nothing.
    await server.start();
    await isUp(made);
    expect(await made.redis.publish('own', Buffer.from('back'))).toBe(1);
    await expect.poll(() => made.received, SOON).toEqual(['back']);
    expect(made.states).toEqual([true, false, true]);
    expect(made.lines().map(({ level, msg }) => [level, msg])).toEqual([
      ['info', 'Redis is connected'],
      ['warn', 'Redis is away: this gateway acts alone until it is back'],
      ['info', 'Redis is back'],
    ]);
  });

  it('wait for a server that hangs once and not longer than allowed, and go on when it runs again', async () => {
    const server = await startServer();
    const made = client(server.url);
    await isUp(made);
    server.suspend();
    expect(await refusedAfter(made)).toBeLessThan(COMMAND_MS);
    for (let n = 0; n < 20; n += 1) {
      expect(await refusedAfter(made)).toBeLessThan(50);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await expect.poll(() => made.states, SOON).toEqual([true, false]);
    server.resume();
    await isUp(made);
    expect(await made.redis.publish('own', Buffer.from('runs again'))).toBe(1);
    await expect.poll(() => made.received.at(-1), SOON).toBe('runs again');
  });

  it('need the password of the server, which no log line has', async () => {
    const server = await startServer(['--requirepass', 'open-sesame']);
    const wrong = client(server.url.replace('//', '//:close-sesame@'));
    await expect.poll(() => wrong.lines(), SOON).toMatchObject([{ level: 'warn' }]);
    expect(JSON.stringify(wrong.lines())).toContain('WRONGPASS');
    expect(JSON.stringify(wrong.lines())).not.toContain('sesame');
    const right = client(server.url.replace('//', '//:open-sesame@'));
    await isUp(right);
    expect(JSON.stringify(right.lines())).not.toContain('sesame');
  });
});
