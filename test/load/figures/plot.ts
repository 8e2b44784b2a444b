// Lateness over calls as an SVG: what the far ends heard at each count, against the goal.

import type { Step } from './ramp.ts';

const WIDTH = 760;
const HEIGHT = 420;
const FRAME = { left: 60, right: 120, top: 40, bottom: 50 };
const TICKS = 5;
const LEGEND_ROW = 18;
const TITLE = 'Lateness of audio frames over concurrent calls';

const series = [
  { name: 'p50', figure: 'latenessP50Ms', colour: '#2b8cbe' },
  { name: 'p95', figure: 'latenessP95Ms', colour: '#31a354' },
  { name: 'p99', figure: 'latenessP99Ms', colour: '#d95f0e' },
  { name: 'max', figure: 'latenessMaxMs', colour: '#bdbdbd' },
] as const;

/** Medians of the runs; a ring marks counts at which the sound broke off. */
export function plotLateness(steps: readonly Step[], goalMs: number): string {
  const callsMax = Math.max(1, ...steps.map(({ calls }) => calls));
  const latest = steps.flatMap(({ median }) => [
    median.latenessP99Ms ?? 0,
    median.latenessP95Ms ?? 0,
  ]);
  // The slowest frame of all would squeeze the rest: it may leave the picture.
  const msMax = niceAbove(Math.max(goalMs * 2, ...latest));
  const x = (calls: number): number =>
    FRAME.left + (calls / callsMax) * (WIDTH - FRAME.left - FRAME.right);
  const y = (ms: number): number =>
    HEIGHT - FRAME.bottom - (Math.min(ms, msMax) / msMax) * (HEIGHT - FRAME.top - FRAME.bottom);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<title>${TITLE}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    text(WIDTH / 2, 22, 'middle', TITLE),
    ...axes({ callsMax, msMax, x, y }),
    line(x(0), y(goalMs), x(callsMax), y(goalMs), 'stroke="#de2d26" stroke-dasharray="6 4"'),
    text(x(callsMax) + 6, y(goalMs) + 4, 'start', `goal ${goalMs} ms`),
  ];
  for (const [row, { name, figure, colour }] of series.entries()) {
    parts.push(text(x(callsMax) + 30, FRAME.top + 10 + row * LEGEND_ROW, 'start', name, colour));
    const points = steps.flatMap(({ calls, median }) => {
      const ms = median[figure];
      return ms === null ? [] : [{ x: x(calls), y: y(ms) }];
    });
    const path = points.map((point) => `${round(point.x)},${round(point.y)}`).join(' ');
    parts.push(`<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`);
    for (const point of points) {
      parts.push(`<circle cx="${round(point.x)}" cy="${round(point.y)}" r="3" fill="${colour}"/>`);
    }
  }
  for (const { calls, median } of steps) {
    if (median.underruns === 0) continue;
    const at = `cx="${round(x(calls))}" cy="${round(y(median.latenessP99Ms ?? 0))}"`;
    parts.push(`<circle ${at} r="8" fill="none" stroke="#de2d26" stroke-width="2"/>`);
  }
  parts.push('</svg>');
  return `${parts.join('\n')}\n`;
}

function axes(of: {
  callsMax: number;
  msMax: number;
  x: (calls: number) => number;
  y: (ms: number) => number;
}): string[] {
  const { callsMax, msMax, x, y } = of;
  const parts: string[] = [];
  for (let tick = 0; tick <= TICKS; tick++) {
    const calls = (callsMax * tick) / TICKS;
    const ms = (msMax * tick) / TICKS;
    parts.push(line(x(0), y(ms), x(callsMax), y(ms), 'stroke="#e0e0e0"'));
    parts.push(text(x(0) - 8, y(ms) + 4, 'end', String(round(ms))));
    parts.push(text(x(calls), HEIGHT - FRAME.bottom + 18, 'middle', String(Math.round(calls))));
  }
  parts.push(line(x(0), y(0), x(callsMax), y(0), 'stroke="black"'));
  parts.push(line(x(0), y(0), x(0), y(msMax), 'stroke="black"'));
  parts.push(text((x(0) + x(callsMax)) / 2, HEIGHT - 12, 'middle', 'calls'));
  parts.push(text(14, FRAME.top - 8, 'start', 'ms late'));
  return parts;
}

function line(x1: number, y1: number, x2: number, y2: number, style: string): string {
  return `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" ${style}/>`;
}

function text(x: number, y: number, anchor: string, words: string, colour = 'black'): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" fill="${colour}">${words}</text>`;
}

/** 1, 2 or 5 times a power of ten. */
function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((each) => each * power >= value) ?? 10) * power;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
