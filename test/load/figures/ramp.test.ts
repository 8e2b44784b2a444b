import { describe, expect, it } from 'vitest';
import { heardNothing } from '../caller/heard.ts';
import { doubtsOf, missesOf } from './goal.ts';
import { Histogram } from './histogram.ts';
import { summaryOf } from './load-summary.ts';
import type { LoadFigures } from './measure.ts';
import { noticedNothing } from './noticed.ts';
import { plotLateness } from './plot.ts';
import { climb, highestHeld, medianOf, type RampOptions } from './ramp.ts';

function figuresOf(calls: number, changed: Partial<LoadFigures> = {}): LoadFigures {
  const counts = {
    calls,
    refused: 0,
    dropped: 0,
    failures: [],
    said: [],
    faults: 0,
    unsentFrames: 0,
  };
  return {
    ...summaryOf({
      ...counts,
      heard: heardNothing(),
      noticed: noticedNothing(),
      delay: new Histogram(),
    }),
    gatewayCpuPercent: 50,
    gatewayCpuPerCallPercent: 0.1,
    gatewayRssKb: 100_000,
    gatewayRssPerCallKb: 500,
    eventLoopDelayP99Ms: 2,
    apiLoopDelayP99Ms: 1,
    clientCpuPercent: 20,
    clientCpuPerCallPercent: 0.05,
    othersCpuPercent: 0,
    ...changed,
  };
}

/** A gateway that carries so many calls. */
async function climbOn(carried: number, options: Partial<RampOptions> = {}) {
  const measured: number[] = [];
  const steps = await climb({
    counts: [50, 100, 200, 400],
    runs: 1,
    goalMs: 10,
    search: true,
    measure: async (calls) => {
      measured.push(calls);
      return figuresOf(calls, { latenessP99Ms: calls <= carried ? 8 : 30 });
    },
    onRun: () => undefined,
    ...options,
  });
  return { measured, steps, best: highestHeld(steps)?.calls };
}

describe('the goal beside calls that are placed', () => {
  const starts: Partial<LoadFigures> = {
    outboundPerSecond: 100,
    dialsPerSecond: 99,
    startsFailed: 0,
    startP99Ms: 150,
  };

  it('is held within every limit, and missed by the name of each that is not', () => {
    expect(missesOf(figuresOf(300, starts), 10)).toEqual([]);
    const missed = { dialsPerSecond: 97.9, startsFailed: 1, startP99Ms: 151 };
    expect(missesOf(figuresOf(300, { ...starts, ...missed }), 10)).toEqual([
      'startsFailed is 1, at most 0',
      'startP99Ms is 151, at most 150',
      'dials a second are 97.9, at least 98',
    ]);
    const dispatch = { outboundPerSecond: 100, dialsPerSecond: 100, dialLateP99Ms: 150.4 };
    expect(missesOf(figuresOf(300, dispatch), 10)).toEqual(['dialLateP99Ms is 150.4, at most 150']);
  });
});

describe('the goal beside an attack on the API', () => {
  const attack: Partial<LoadFigures> = {
    hostileRequests: 3_000,
    hostileFailed: 0,
    honestFailed: 0,
    honestP99Ms: 400,

    newCallsFailed: 0,
    webhookP99Ms: 300,
    upgradeP99Ms: 60,

    apiBackMs: 2_000,
    refusedConnections: 0,
    callsFailedAtKill: 0,
  };

  it('is held within every limit, and missed by the name of each that is not', () => {
    expect(missesOf(figuresOf(300, attack), 10)).toEqual([]);
    const missed = { honestP99Ms: 501, upgradeP99Ms: 101, apiLoopDelayP99Ms: 51, hostileFailed: 1 };
    expect(missesOf(figuresOf(300, { ...attack, ...missed }), 10)).toEqual([
      'apiLoopDelayP99Ms is 51, at most 50',
      'hostileFailed is 1, at most 0',
      'honestP99Ms is 501, at most 500',
      'upgradeP99Ms is 101, at most 100',
    ]);
  });

  it('judges the API only beside an attack', () => {
    expect(missesOf(figuresOf(300, { apiLoopDelayP99Ms: 400 }), 10)).toEqual([]);
  });
});

describe('a ramp', () => {
  it('climbs until a count misses the goal and searches for the highest that holds it', async () => {
    const { measured, steps, best } = await climbOn(130);
    expect(measured).toEqual([50, 100, 200, 150, 125, 138, 132]);
    expect(best).toBe(125);
    expect(steps.map(({ calls }) => calls)).toEqual([50, 100, 125, 132, 138, 150, 200]);
    expect(steps.at(-1)?.misses).toEqual(['lateness p99 (ms) is 30, at most 10']);
  });

  it('ends at the highest count that was asked for, or at none', async () => {
    expect((await climbOn(1_000)).best).toBe(400);
    const none = await climbOn(0);
    expect(none.best).toBeUndefined();
    expect(none.measured.at(-1)).toBeLessThanOrEqual(13);
  });

  it('judges by the median of several runs', async () => {
    const late = [8, 30, 9].values();
    const options = {
      counts: [50],
      runs: 3,
      measure: async (calls: number) =>
        figuresOf(calls, { latenessP99Ms: late.next().value ?? null }),
    };
    const { steps } = await climbOn(0, options);
    expect(steps[0]?.median.latenessP99Ms).toBe(9);
    expect(steps[0]?.misses).toEqual([]);
    expect(steps[0]?.runs).toHaveLength(3);
  });

  it.each([
    ['underruns', { underruns: 1 }],
    ['lostFrames', { lostFrames: 1 }],
    ['reorderedFrames', { reorderedFrames: 1 }],
    ['refused', { refused: 1 }],
    ['dropped', { dropped: 1 }],
    ['memory per call', { gatewayRssPerCallKb: 1_100 }],
    ['event loop delay', { eventLoopDelayP99Ms: 11 }],
    ['faults', { faults: 1 }],
  ])('does not hold the goal with too much of %s', async (what, changed) => {
    const measure = async (calls: number) => figuresOf(calls, changed);
    const { steps, best } = await climbOn(0, { counts: [50], search: false, measure });
    expect(best).toBeUndefined();
    expect(steps[0]?.misses).toEqual([expect.stringContaining(what)]);
  });

  it('keeps all failures and what was never measured', () => {
    const median = medianOf([
      figuresOf(1, { failures: ['a'], latenessMaxMs: 1 }),
      figuresOf(1, { failures: ['b'], latenessMaxMs: 4 }),
    ]);
    expect(median).toMatchObject({ failures: ['a', 'b'], latenessMaxMs: 4, bargeInP95Ms: null });
  });
});

describe('doubts about a measurement', () => {
  it('report when the load process or others had too little of the machine', () => {
    expect(doubtsOf(figuresOf(1))).toEqual([]);
    const crowded = { clientDelayP99Ms: 6, clientCpuPercent: 90, othersCpuPercent: 60 };
    expect(doubtsOf(figuresOf(1, crowded))).toHaveLength(3);
  });
});

describe('the plot', () => {
  it('has a line for each percentile, the goal, and a ring where the sound broke off', async () => {
    const { steps } = await climbOn(0, {
      counts: [50, 100],
      measure: async (calls) =>
        figuresOf(calls, {
          latenessP50Ms: 1,
          latenessP95Ms: 5,
          latenessP99Ms: calls === 50 ? 8 : 90,
          latenessMaxMs: 400,
          underruns: calls === 50 ? 0 : 7,
        }),
      search: false,
    });
    const svg = plotLateness(steps, 10);
    expect(svg.match(/<polyline /g)).toHaveLength(4);
    expect(svg.match(/r="8"/g)).toHaveLength(1);
    expect(svg).toContain('goal 10 ms');
    expect(svg).not.toMatch(/NaN|undefined|null/);
  });

  it('is drawn for a single count without any audio too', async () => {
    const { steps } = await climbOn(0, { counts: [1], measure: async (calls) => figuresOf(calls) });
    expect(plotLateness(steps, 10)).not.toMatch(/NaN|undefined|null/);
  });
});
