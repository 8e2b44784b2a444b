// Where figures come from: histograms, the gateway's metrics, the kernel, looks at a long series.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { readMetrics, readServiceFaults } from './gateway-metrics.ts';
import { Histogram } from './histogram.ts';
import { machineBusyMs, ownCores, processFigures } from './process-figures.ts';
import { growthKb } from './series.ts';

describe('a histogram', () => {
  it('has percentiles to a tenth of a millisecond and the exact maximum', () => {
    const histogram = new Histogram();
    for (let i = 1; i <= 1_000; i++) histogram.add(i / 10);
    expect([histogram.at(0.5), histogram.at(0.95), histogram.at(0.99)]).toEqual([50, 95, 99]);
    histogram.add(54_321.5);
    expect([histogram.count, histogram.max]).toEqual([1_001, 54_321.5]);
    histogram.add(-3);
    expect(histogram.at(0)).toBe(0);
  });

  it('is empty when nothing was counted', () => {
    expect([new Histogram().at(0.99), new Histogram().max]).toEqual([null, null]);
  });
});

describe("a gateway's metrics", () => {
  it('give the delay without the interval of its own measurement, and the timers', () => {
    const text = [
      '# TYPE nodejs_eventloop_lag_p99_seconds gauge',
      'nodejs_eventloop_lag_p99_seconds 0.0135',
      'nodejs_active_resources{type="TCPSocketWrap"} 9',
      'nodejs_active_resources{type="Timeout"} 6',
    ].join('\n');
    const { eventLoopDelayP99Ms, timers } = readMetrics(text);
    expect(eventLoopDelayP99Ms).toBeCloseTo(3.5);
    expect(timers).toBe(6);
  });

  it('give the faults of speech services by job and kind', () => {
    const faults = readServiceFaults(
      [
        'patchbay_service_faults_total{kind="stt",service="deepgram",fault="network",worker="1"} 3',
        'patchbay_service_faults_total{kind="stt",service="vosk",fault="network",worker="2"} 2',
        'patchbay_service_faults_total{kind="tts",service="cartesia",fault="timeout"} 1',
      ].join('\n'),
    );
    expect(faults).toEqual({ 'stt network': 5, 'tts timeout': 1 });
  });

  it('of several workers give the worst delay and the sum of timers', () => {
    const text = [
      'nodejs_eventloop_lag_p99_seconds{worker="1"} 0.012',
      'nodejs_eventloop_lag_p99_seconds{worker="2"} 0.030',
      // No call waits for these.
      'nodejs_eventloop_lag_p99_seconds{worker="supervisor"} 0.2',
      'nodejs_eventloop_lag_p99_seconds{worker="api"} 0.3',
      'nodejs_active_resources{type="Timeout",worker="1"} 6',
      'nodejs_active_resources{type="Timeout",worker="2"} 5',
    ].join('\n');
    const { eventLoopDelayP99Ms, timers } = readMetrics(text);
    expect(eventLoopDelayP99Ms).toBeCloseTo(20);
    expect(timers).toBe(11);
  });

  it('may be missing', () => {
    expect(readMetrics('up 1')).toEqual({
      eventLoopDelayP99Ms: null,
      apiLoopDelayP99Ms: null,
      timers: null,
    });
  });
});

describe.runIf(process.platform === 'linux')('the kernel', () => {
  it('has figures of this process and of the machine', () => {
    const { cpuMs, rssKb, descriptors, sockets } = processFigures(process.pid);
    expect(sockets).toBeLessThan(descriptors);
    expect(cpuMs).toBeGreaterThan(0);
    expect(rssKb).toBeGreaterThan(10_000);
    expect(descriptors).toBeGreaterThan(2);
    expect(machineBusyMs()).toBeGreaterThan(cpuMs);
  });
});

describe('the cores of this process', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('are unknown where there is no taskset', () => {
    vi.stubEnv('PATH', '/nowhere');
    expect(ownCores()).toBeUndefined();
  });
});

describe('growth over a series', () => {
  const looksOf = (sizes: number[]) =>
    sizes.map((rssKb, i) => ({ atSeconds: i, rssKb, descriptors: 1, sockets: 1, timers: 1 }));

  it('is what the second half has above the first, the start left out', () => {
    expect(growthKb(looksOf([5, ...Array<number>(20).fill(100)]))).toBe(0);
    const rising = Array.from({ length: 20 }, (_, i) => i * 10);
    expect(growthKb(looksOf(rising))).toBe(90);
    expect(growthKb(looksOf([1]))).toBeNull();
  });
});
