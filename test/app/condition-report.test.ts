import { afterEach, describe, expect, it } from 'vitest';
import { startConditionReport } from '../../src/app/condition-report.ts';
import { clockSkewSeconds } from '../../src/metrics/api-metrics.ts';
import type { GatewayCondition } from '../../src/model/gateway-condition.ts';
import type { JobLoop } from '../../src/std/job-loop.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';

const INTERVAL_MS = 5_000;
const clock = new FakeClock();
let loop: JobLoop | undefined;
afterEach(() => loop?.stop());

function start(answer: () => number | undefined) {
  const reports: GatewayCondition[] = [];
  let workers = 2;
  let reasons = ['starting'];
  loop = startConditionReport(
    { databaseUrl: 'postgresql://db', workers: 2 },
    {
      store: {
        clusterStatus: {
          report: async (condition) => {
            reports.push(condition);
            return answer();
          },
        },
      },
      notReady: () => reasons,
      workers: () => workers,
      clock,
      log: quietLog().log,
    },
  );
  const next = async (): Promise<void> => {
    clock.advance(INTERVAL_MS);
    await loop?.wake();
  };
  const set = (ready: string[], serving: number): void => {
    reasons = ready;
    workers = serving;
  };
  return { reports, next, set };
}

const skew = async () => (await clockSkewSeconds.get()).values[0]?.value;

describe('what a gateway says of itself', () => {
  it('is what it is at the moment of each report', async () => {
    const { reports, next, set } = start(() => clock.now());
    await next();
    set([], 1);
    await next();
    expect(reports[0]).toMatchObject({
      not_ready: ['starting'],
      workers: 2,
      workers_wanted: 2,
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      clock_skew_seconds: null,
    });
    expect(reports.at(-1)).toMatchObject({ not_ready: [], workers: 1, clock_skew_seconds: 0 });
  });

  it('has by how much the database is ahead, as its metric has', async () => {
    const { reports, next } = start(() => clock.now() + 3_500);
    await next();
    expect(await skew()).toBe(3.5);
    await next();
    expect(reports.at(-1)?.clock_skew_seconds).toBe(3.5);
  });

  it('goes on after a report that failed, with the last skew', async () => {
    let isAway = false;
    const { reports, next } = start(() => {
      if (isAway) throw new Error('the database is away');
      return clock.now() - 2_000;
    });
    await next();
    isAway = true;
    await next();
    isAway = false;
    await next();
    expect(reports.at(-1)?.clock_skew_seconds).toBe(-2);
  });

  it('is not stored in a database of its own', () => {
    const deps = {
      store: { clusterStatus: { report: () => Promise.reject(new Error('not asked')) } },
      notReady: () => [],
      workers: () => 1,
      clock,
      log: quietLog().log,
    };
    expect(startConditionReport({ databaseUrl: undefined, workers: 1 }, deps)).toBeUndefined();
  });
});
