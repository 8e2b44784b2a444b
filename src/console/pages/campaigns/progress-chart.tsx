// The chart of a campaign's progress since its page was opened, from the answers to the page's own questions. Loaded
// lazily with its library.

import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import { THEME_CHANGED } from '../../theme.ts';

/** An hour of samples; the oldest ones go. */
const SAMPLES_MAX = 1_800;
const HEIGHT = 180;
/** Shortest axis of time: of the first minute. */
const SPAN_S_MIN = 60;

interface Samples {
  seconds: number[];
  called: number[];
  reached: number[];
}

export function ProgressChart({
  at,
  processed,
  completed,
}: {
  /** Time of these figures, in milliseconds since 1970. */
  at: number;
  processed: number;
  completed: number;
}) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const samples = useRef<Samples>({ seconds: [], called: [], reached: [] });
  useEffect(() => {
    const { seconds, called, reached } = samples.current;
    seconds.push(at / 1_000);
    called.push(processed);
    reached.push(completed);
    if (seconds.length > SAMPLES_MAX) for (const each of [seconds, called, reached]) each.shift();
    plot.current?.setData([seconds, called, reached], false);
    fitAxis(plot.current, seconds);
  }, [at, processed, completed]);
  useEffect(() => drawn(box, plot, samples.current), []);
  return (
    <figure className="chart">
      <figcaption>Contacts called and reached since this page was opened</figcaption>
      <div ref={box} aria-hidden="true" />
    </figure>
  );
}

/** Draws the chart, and again in other colours or at another width. Returns a function that removes it. */
function drawn(
  box: { current: HTMLDivElement | null },
  plot: { current: UPlot | undefined },
  { seconds, called, reached }: Samples,
): () => void {
  const draw = () => {
    const { current: element } = box;
    if (element === null) return;
    plot.current?.destroy();
    const axis = {
      stroke: canvasColour(element, 'var(--text-soft)'),
      grid: { stroke: canvasColour(element, 'var(--line)') },
    };
    plot.current = new UPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        series: [
          {},
          { label: 'Called', stroke: canvasColour(element, 'var(--caller)'), width: 2 },
          { label: 'Reached', stroke: canvasColour(element, 'var(--agent)'), width: 2 },
        ],
        axes: [axis, axis],
        scales: {
          y: { range: (_, __, max) => [0, Math.max(1, max)] },
        },
        legend: { live: false },
        cursor: { show: false },
      },
      [seconds, called, reached],
      element,
    );
    fitAxis(plot.current, seconds);
  };
  draw();
  const resized = new ResizeObserver(() => {
    if (plot.current !== undefined && box.current !== null)
      plot.current.setSize({ width: box.current.clientWidth, height: HEIGHT });
  });
  if (box.current !== null) resized.observe(box.current);
  window.addEventListener(THEME_CHANGED, draw);
  return () => {
    resized.disconnect();
    window.removeEventListener(THEME_CHANGED, draw);
    plot.current?.destroy();
    plot.current = undefined;
  };
}

/** A chart of a single sample would span years. */
function fitAxis(plot: UPlot | undefined, seconds: readonly number[]): void {
  const [first] = seconds;
  if (first === undefined) return;
  plot?.setScale('x', { min: first, max: Math.max(seconds.at(-1) ?? first, first + SPAN_S_MIN) });
}

/** A colour as a canvas takes it: `light-dark()` is computed by the element's style. */
function canvasColour(element: HTMLElement, value: string): string {
  element.style.color = value;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}
