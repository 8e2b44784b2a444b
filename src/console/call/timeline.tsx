// The call on one axis of time: the canvas, a slider for the keyboard, zoom, and what the signs mean.

import { type MouseEvent, useEffect, useMemo, useRef, useState } from 'react';
import { formatDuration } from '../format.ts';
import { THEME_CHANGED } from '../theme.ts';
import { formatMoment } from './call-export.ts';
import { type CallState, type Keys, PARTS, percentile } from './call-state.ts';
import { usePeaks } from './peaks.ts';
import { type Playhead, useAtPlayhead } from './playhead.ts';
import {
  CANVAS_HEIGHT,
  draw,
  MARK_LETTERS,
  msAt,
  PART_NAMES,
  type Scene,
  type View,
} from './waveform-drawing.ts';

/** What a live call shows while it is followed. */
const FOLLOWED_MS = 60_000;
/** Smallest axis: a call that has just begun. */
const AXIS_MS_MIN = 5_000;
const VIEW_MS_MIN = 1_000;
const ZOOM_STEP = 2;
const SLIDER_MS = 100;
const BINS_MAX = 2_000;
/** Where the moment stands in a zoomed view that was moved to it. */
const PAGED_SHARE = 0.1;

export interface TimelineProps {
  /** `/api/v1/workflow/{workflow_id}/runs/{run_id}`. */
  path: string;
  call: CallState;
  playhead: Playhead;
  isLive: boolean;
  /** There is a recording, or the call goes on. */
  hasSound: boolean;
  /** Media time up to which the call is known. */
  endMs: number;
  /** Moves to a moment; `isPlayed`: and plays from there. */
  onSeek: (atMs: number, isPlayed: boolean) => void;
  onDuration: (ms: number) => void;
}

export function Timeline(props: TimelineProps) {
  const { path, call, playhead, isLive, hasSound, endMs, onSeek, onDuration } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(canvas);
  const [zoomed, setZoomed] = useState<View>();
  const isFollowing = useAtPlayhead(playhead, (atMs) => atMs === undefined) && isLive;
  const view = useMemo(
    () => shownView({ zoomed, endMs, isFollowing }),
    [zoomed, endMs, isFollowing],
  );
  usePaging(playhead, { zoomed, setZoomed, endMs });
  const { data: peaks, error } = usePeaks({
    path,
    hasSound,
    isLive,
    fromMs: Math.floor(view.fromMs / 1_000) * 1_000,
    toMs: zoomed === undefined ? undefined : Math.ceil(view.toMs),
    bins: Math.min(BINS_MAX, Math.ceil(width / 100) * 100),
  });
  const durationMs = peaks?.durationMs ?? 0;
  useEffect(() => onDuration(durationMs), [durationMs, onDuration]);
  useDrawing(canvas, playhead, { width, view, call, peaks, endMs });
  const zoom = (factor: number, aroundMs = playhead.atMs ?? (view.fromMs + view.toMs) / 2) =>
    setZoomed(zoomedView(view, { factor, aroundMs, endMs }));
  useWheel(canvas, {
    zoom: (factor, x) => zoom(factor, msAt(x, { width, view })),
    pan: (px) => {
      if (zoomed === undefined) return;
      if (isFollowing) playhead.set(endMs);
      setZoomed(movedView(view, (px / width) * spanOf(view), endMs));
    },
  });
  const seekAt = ({ nativeEvent: { offsetX } }: MouseEvent) =>
    onSeek(Math.min(endMs, Math.max(0, msAt(offsetX, { width, view }))), true);
  return (
    <div className="timeline">
      {/* The slider below is for the keyboard. */}
      <canvas
        ref={canvas}
        role="img"
        aria-label={summaryOf(call, endMs)}
        style={{ height: CANVAS_HEIGHT }}
        onClick={seekAt}
      />
      <Slider playhead={playhead} endMs={endMs} onSeek={(atMs) => onSeek(atMs, false)} />
      <div className="timeline-foot">
        <Legend />
        <div className="actions">
          <button type="button" onClick={() => zoom(1 / ZOOM_STEP)} aria-label="Zoom in">
            +
          </button>
          <button
            type="button"
            onClick={() => zoom(ZOOM_STEP)}
            disabled={zoomed === undefined}
            aria-label="Zoom out"
          >
            −
          </button>
          <button
            type="button"
            onClick={() => setZoomed(undefined)}
            disabled={zoomed === undefined}
          >
            Whole call
          </button>
        </div>
      </div>
      {!hasSound && (
        <p className="hint">This call has no recording: the bands show who spoke when.</p>
      )}
      {error !== null && <p className="field-error">No waveform: {error.message}</p>}
    </div>
  );
}

function Slider({
  playhead,
  endMs,
  onSeek,
}: Pick<TimelineProps, 'playhead' | 'endMs'> & { onSeek: (atMs: number) => void }) {
  const atMs = useAtPlayhead(playhead, (at) =>
    at === undefined ? Math.ceil(endMs) : Math.floor(at),
  );
  return (
    <input
      type="range"
      className="timeline-slider"
      aria-label="Position in the call"
      aria-valuetext={formatMoment(atMs)}
      min={0}
      max={Math.ceil(endMs / SLIDER_MS) * SLIDER_MS}
      step={SLIDER_MS}
      value={atMs}
      onChange={({ target }) => onSeek(Number(target.value))}
    />
  );
}

function Legend() {
  return (
    <p className="hint">
      {Object.entries(MARK_LETTERS).map(([kind, letter]) => (
        <span key={kind} className="legend" data-kind={kind}>
          <b>{letter}</b> {kind}
        </span>
      ))}
      <span className="legend" data-kind="keys">
        <b>5</b> keys
      </span>
      {PARTS.map((part) => (
        <span key={part} className="legend" data-part={part} title={PART_NAMES[part]}>
          <i aria-hidden="true" /> {part}
        </span>
      ))}
    </p>
  );
}

/** A live call that is followed is shown at its end, zoomed or not. */
function shownView({
  zoomed,
  endMs,
  isFollowing,
}: {
  zoomed: View | undefined;
  endMs: number;
  isFollowing: boolean;
}): View {
  if (zoomed !== undefined) return isFollowing ? movedView(zoomed, endMs, endMs) : zoomed;
  const toMs = Math.max(AXIS_MS_MIN, endMs);
  return { fromMs: isFollowing ? Math.max(0, toMs - FOLLOWED_MS) : 0, toMs };
}

function spanOf({ fromMs, toMs }: View): number {
  return toMs - fromMs;
}

/** Undefined: the whole call. */
function zoomedView(
  view: View,
  { factor, aroundMs, endMs }: { factor: number; aroundMs: number; endMs: number },
): View | undefined {
  const span = Math.max(VIEW_MS_MIN, spanOf(view) * factor);
  if (span >= endMs) return undefined;
  const isInside = aroundMs >= view.fromMs && aroundMs <= view.toMs;
  const share = isInside ? (aroundMs - view.fromMs) / spanOf(view) : 0.5;
  const fromMs = Math.min(endMs - span, Math.max(0, aroundMs - share * span));
  return { fromMs, toMs: fromMs + span };
}

function movedView(view: View, byMs: number, endMs: number): View {
  const span = spanOf(view);
  const fromMs = Math.min(endMs - span, Math.max(0, view.fromMs + byMs));
  return { fromMs, toMs: fromMs + span };
}

/** Moves a zoomed view to the moment of the page when that leaves it: the recording plays on, or a line was chosen. */
function usePaging(
  playhead: Playhead,
  state: {
    zoomed: View | undefined;
    setZoomed: (view: View) => void;
    endMs: number;
  },
): void {
  const latest = useRef(state);
  latest.current = state;
  useEffect(
    () =>
      playhead.subscribe(() => {
        const { atMs } = playhead;
        const { zoomed, setZoomed, endMs } = latest.current;
        if (atMs === undefined || zoomed === undefined) return;
        if (atMs >= zoomed.fromMs && atMs <= zoomed.toMs) return;
        setZoomed(movedView(zoomed, atMs - PAGED_SHARE * spanOf(zoomed) - zoomed.fromMs, endMs));
      }),
    [playhead],
  );
}

function useWidth(canvas: React.RefObject<HTMLCanvasElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (canvas.current === null) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.floor(entry.contentRect.width));
    });
    observer.observe(canvas.current);
    return () => observer.disconnect();
  }, [canvas]);
  return width;
}

/** Draws when something of the scene changes, and when the theme does; at most once a frame. */
function useDrawing(
  canvas: React.RefObject<HTMLCanvasElement | null>,
  playhead: Playhead,
  scene: Omit<Scene, 'playheadMs' | 'colour'> & { endMs: number },
): void {
  const { width, view, call, peaks, endMs } = scene;
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context || width === 0) return;
    let frame: number | undefined;
    const paint = () => {
      frame = undefined;
      const ratio = devicePixelRatio || 1;
      const [wide, high] = [Math.round(width * ratio), Math.round(CANVAS_HEIGHT * ratio)];
      if (element.width !== wide) element.width = wide;
      if (element.height !== high) element.height = high;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      const playheadMs = playhead.atMs ?? endMs;
      draw(context, { width, view, call, peaks, playheadMs, colour: coloursOf(element) });
    };
    const request = () => {
      frame ??= requestAnimationFrame(paint);
    };
    paint();
    window.addEventListener(THEME_CHANGED, request);
    const stop = playhead.subscribe(request);
    return () => {
      if (frame !== undefined) cancelAnimationFrame(frame);
      window.removeEventListener(THEME_CHANGED, request);
      stop();
    };
  }, [canvas, playhead, width, view, call, peaks, endMs]);
}

/** The custom properties as they are now; those with `light-dark()` are resolved by a property of colour. */
function coloursOf(element: HTMLElement): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    let value = known.get(name);
    if (value === undefined) {
      element.style.color = `var(${name})`;
      value = getComputedStyle(element).color;
      known.set(name, value);
    }
    return value;
  };
}

/** Ctrl and the wheel zoom; the wheel to the side moves. Without either the page scrolls. */
function useWheel(
  canvas: React.RefObject<HTMLCanvasElement | null>,
  on: { zoom: (factor: number, x: number) => void; pan: (px: number) => void },
): void {
  const latest = useRef(on);
  latest.current = on;
  useEffect(() => {
    const element = canvas.current;
    const wheel = (event: WheelEvent) => {
      const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!event.ctrlKey && !isSideways) return;
      event.preventDefault();
      if (event.ctrlKey) latest.current.zoom(event.deltaY > 0 ? 1.25 : 0.8, event.offsetX);
      else latest.current.pan(event.deltaX);
    };
    element?.addEventListener('wheel', wheel, { passive: false });
    return () => element?.removeEventListener('wheel', wheel);
  }, [canvas]);
}

function summaryOf(call: CallState, endMs: number): string {
  const count = (kind: string): number => call.lines.filter((line) => line.kind === kind).length;
  const digits = (side: Keys['by']): number =>
    call.keys.reduce((sum, keys) => sum + (keys.by === side ? keys.digits.length : 0), 0);
  const middle = percentile(
    call.answers.map(({ totalMs }) => totalMs),
    0.5,
  );
  return [
    `Waveform of ${formatDuration(endMs)}:`,
    `the caller speaks ${count('caller')} times and presses ${digits('caller')} keys,`,
    `the agent speaks ${count('agent')} times and ${digits('agent')} keys are sent;`,
    `${call.entered.length} nodes, ${count('interruption')} interruptions,`,
    `${call.tools.length} tools, ${call.faults.length} faults`,
    middle === undefined ? '' : `; answers after ${formatDuration(middle)} (median)`,
  ].join(' ');
}
