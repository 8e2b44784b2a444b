import { Gauge, Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { PeerStateReader } from '../../src/app/peer-states.ts';

const USED = { redisUrl: 'redis://127.0.0.1', s3: {} };

function metrics() {
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string) =>
    new Gauge({ name, help: 'h', labelNames: ['kind'] as const, registers });
  return {
    registry,
    redis: gauge('patchbay_redis_up'),
    bytes: gauge('patchbay_spool_bytes'),
    oldest: gauge('patchbay_spool_oldest_seconds'),
    s3: new Histogram({
      name: 'patchbay_s3_seconds',
      help: 'h',
      labelNames: ['operation', 'result'] as const,
      registers,
    }),
  };
}

describe('what a gateway uses beside PostgreSQL', () => {
  it('is unused where it is not set, whatever the metrics say', async () => {
    const { registry, redis, bytes } = metrics();
    redis.set(1);
    bytes.set(5);
    expect(await new PeerStateReader(registry, {}).read()).toEqual({
      redis: 'unused',
      s3: 'unused',
      spool_bytes: null,
      spool_oldest_seconds: null,
    });
  });

  it('is unknown before the first figure', async () => {
    expect(await new PeerStateReader(new Registry(), USED).read()).toEqual({
      redis: 'unknown',
      s3: 'unknown',
      spool_bytes: null,
      spool_oldest_seconds: null,
    });
  });

  it('is away while one of the connections to Redis is', async () => {
    const { registry, redis } = metrics();
    const reader = new PeerStateReader(registry, USED);
    redis.set({ kind: 'messages' }, 1);
    redis.set({ kind: 'other' }, 0);
    expect((await reader.read()).redis).toBe('away');
    redis.set({ kind: 'other' }, 1);
    expect((await reader.read()).redis).toBe('ok');
  });

  it('is what the last requests to S3 met: one answer is enough', async () => {
    const { registry, s3 } = metrics();
    const reader = new PeerStateReader(registry, USED);
    const stateOf = async (...results: string[]) => {
      for (const result of results) s3.observe({ operation: 'put', result }, 0.1);
      return (await reader.read()).s3;
    };
    expect(await stateOf('ok', 'failed')).toBe('ok');
    expect(await stateOf('timeout')).toBe('away');
    expect(await stateOf()).toBe('away');
    expect(await stateOf('missing')).toBe('ok');
    expect(await stateOf('refused')).toBe('away');
    expect(await stateOf('exists')).toBe('ok');
    expect(await stateOf()).toBe('ok');
  });

  it('has what waits for S3', async () => {
    const { registry, bytes, oldest } = metrics();
    bytes.set(1_000);
    oldest.set(61);
    expect(await new PeerStateReader(registry, USED).read()).toMatchObject({
      spool_bytes: 1_000,
      spool_oldest_seconds: 61,
    });
  });
});
