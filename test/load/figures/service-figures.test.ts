// The gateway's share of answers, from what services, callers and the gateway noted.

import { expect, it } from 'vitest';
import { serviceFigures } from './service-figures.ts';

const bucket = (part: string, le: string, count: number, worker = '1') =>
  `patchbay_response_seconds_bucket{part="${part}",le="${le}",worker="${worker}"} ${count}`;

const times = {
  frameP50Ms: 30,
  frameP95Ms: 90,
  frameP99Ms: 120,
  frames: 1_000,

  voiceGaps: 3,
  voiceLateMaxMs: 42,
  answers: [
    [1, 0, 1_000, 2],
    [1, 11, 5_000, 4],
    [2, 0, 2_000, 6],
  ] as const,
};

it('joins the times of each answer, and leaves out those that no caller heard', () => {
  const heard = [
    [1, 0, 1_003],
    [2, 0, 2_009],
  ] as const;
  const figures = serviceFigures({
    times: { ...times, answers: [...times.answers] },
    heard: [...heard],
    metrics: ['', ''],
    cpuPercent: 12,
    delayP99Ms: 7,
  });
  expect(figures).toMatchObject({
    answersMeasured: 2,
    textP50Ms: 2,
    textP95Ms: 6,
    soundP50Ms: 3,
    soundP95Ms: 9,

    innerP50Ms: 5,
    innerP95Ms: 15,
    gatewayPartP50Ms: null,
    frameP95Ms: 90,

    serviceCpuPercent: 12,
    serviceDelayP99Ms: 7,
  });
});

it("takes the gateway's own part from what its histogram grew by, all workers together", () => {
  const before = ['0.001', '0.005', '+Inf'].map((le) => bucket('gateway', le, 10)).join('\n');
  const after = [
    bucket('gateway', '0.001', 20),
    bucket('gateway', '0.005', 40),
    bucket('gateway', '+Inf', 40),
    bucket('gateway', '0.001', 0, '2'),
    bucket('gateway', '0.005', 10, '2'),
    bucket('gateway', '+Inf', 10, '2'),
    bucket('total', '0.001', 900),
    bucket('total', '+Inf', 900),
  ].join('\n');
  const { gatewayPartP50Ms, gatewayPartP95Ms } = serviceFigures({
    times: { ...times, answers: [] },
    heard: [],
    metrics: [before, after],
    cpuPercent: 0,
    delayP99Ms: 0,
  });
  // 40 of them, 10 below 1 ms and 30 below 5 ms.
  expect(gatewayPartP50Ms).toBeCloseTo(1 + (10 / 30) * 4);
  expect(gatewayPartP95Ms).toBeCloseTo(1 + (28 / 30) * 4);
});

it('counts gaps since the start by where they came from: voice, no audio in the gateway, gateway late', () => {
  const of = (name: string, count: number, worker = '1') =>
    `patchbay_${name}{worker="${worker}"} ${count}`;
  const after = [
    ...[of('underruns_total', 4), of('underruns_total', 2, '2')],
    ...[of('playout_gap_seconds_count', 1), of('playout_gap_seconds_sum', 9)],
  ].join('\n');
  const figures = serviceFigures({
    times: { ...times, answers: [] },
    heard: [],
    metrics: [of('underruns_total', 3), after],
    cpuPercent: 0,
    delayP99Ms: 0,
  });
  expect(figures).toMatchObject({
    voiceGaps: 3,
    voiceLateMaxMs: 42,

    gatewayUnderruns: 6,
    gatewayGaps: 1,
  });
});
