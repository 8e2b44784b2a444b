// Draws a call on a canvas, everything on one axis of media time: both channels of the recording, marks, the wait for
// each answer by its parts, tools, and the moment of the page. No state, no React.

import type { CallState, Keys, Mark, MarkKind, Part } from './call-state.ts';
import { PARTS } from './call-state.ts';
import type { Peaks } from './peaks.ts';

/** Rows of the canvas, in CSS pixels from its top. */
export const ROWS = {
  axis: { top: 0, height: 18 },
  caller: { top: 18, height: 60 },
  agent: { top: 80, height: 60 },
  marks: { top: 144, height: 18 },
  answers: { top: 164, height: 18 },
  tools: { top: 184, height: 18 },
} as const;
export const CANVAS_HEIGHT = 204;

export interface View {
  fromMs: number;
  toMs: number;
}

export interface Scene {
  /** In CSS pixels. */
  width: number;
  view: View;
  call: Pick<CallState, 'lines' | 'marks' | 'keys' | 'answers' | 'tools' | 'lastMs'>;
  peaks: Peaks | null | undefined;
  playheadMs: number;
  /** Colour by the name of a custom property: `--caller`. */
  colour: (name: string) => string;
}

type Context = CanvasRenderingContext2D;
type Row = (typeof ROWS)[keyof typeof ROWS];

export const PART_NAMES: Readonly<Record<Part, string>> = {
  wait: 'wait for the end of speech',
  stt: 'speech recognition',
  llm: 'language model',
  tts: 'voice',
  gateway: 'gateway',
};
const PART_COLOURS: Readonly<Record<Part, string>> = {
  wait: '--line-strong',
  stt: '--caller',
  llm: '--accent',
  tts: '--agent',
  gateway: '--warn',
};
export const MARK_LETTERS: Readonly<Record<MarkKind, string>> = {
  node: 'N',
  interruption: 'I',
  tool: 'T',
  fault: 'F',
};
const MARK_COLOURS: Readonly<Record<MarkKind, string>> = {
  node: '--good',
  interruption: '--warn',
  tool: '--accent',
  fault: '--bad',
};
/** Lines of the axis are this far apart at least. */
const TICK_PX_MIN = 70;
const TICKS_MS = [100, 200, 500, 1e3, 2e3, 5e3, 1e4, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5];
const LETTER_PX = 14;
/** Height and smallest width of a pressed key. */
const KEY_PX = 15;
/** Sample values are divided by 256 on the wire. */
const PEAK_MAX = 128;

export function xOf(atMs: number, { width, view }: Pick<Scene, 'width' | 'view'>): number {
  return ((atMs - view.fromMs) / (view.toMs - view.fromMs)) * width;
}

export function msAt(x: number, { width, view }: Pick<Scene, 'width' | 'view'>): number {
  return view.fromMs + (x / Math.max(1, width)) * (view.toMs - view.fromMs);
}

export function draw(context: Context, scene: Scene): void {
  const { width, colour } = scene;
  context.clearRect(0, 0, width, CANVAS_HEIGHT);
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  drawAxis(context, scene);
  for (const who of ['caller', 'agent'] as const) drawLane(context, scene, who);
  drawAnswers(context, scene);
  drawTools(context, scene);
  drawMarks(context, scene);
  drawKeys(context, scene);
  const at = xOf(scene.playheadMs, scene);
  if (at < -1 || at > width + 1) return; // The moment is outside the view.
  const x = Math.min(width - 1, Math.max(1, at));
  context.fillStyle = colour('--text');
  context.fillRect(x - 0.75, 0, 1.5, CANVAS_HEIGHT);
}

function drawAxis(context: Context, scene: Scene): void {
  const { view, width, colour } = scene;
  const pxOfMs = width / (view.toMs - view.fromMs);
  const step = TICKS_MS.find((ms) => ms * pxOfMs >= TICK_PX_MIN) ?? 72e5;
  for (let at = Math.ceil(view.fromMs / step) * step; at <= view.toMs; at += step) {
    const x = xOf(at, scene);
    context.fillStyle = colour('--line');
    context.fillRect(x, 0, 1, ROWS.agent.top + ROWS.agent.height);
    context.fillStyle = colour('--text-soft');
    context.fillText(tickText(at, step), x + 3, ROWS.axis.height / 2);
  }
}

function tickText(ms: number, step: number): string {
  const seconds = ms / 1_000;
  const rest = step < 1_000 ? (seconds % 60).toFixed(1) : String(Math.floor(seconds % 60));
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${rest.padStart(step < 1_000 ? 4 : 2, '0')}`;
}

/** A channel: where its side spoke as a band behind, and the samples. */
function drawLane(context: Context, scene: Scene, who: 'caller' | 'agent'): void {
  const { peaks, width, call, colour } = scene;
  const { top, height } = ROWS[who];
  context.fillStyle = colour(`--${who}-back`);
  for (const { kind, atMs, endMs } of call.lines) {
    if (kind === who) fillSpan(context, scene, { fromMs: atMs, toMs: endMs, row: ROWS[who] });
  }
  const middle = top + height / 2;
  context.fillStyle = colour('--line-strong');
  context.fillRect(0, middle, width, 0.5);
  context.fillStyle = colour(`--${who}`);
  if (peaks) drawPeaks(context, scene, { peaks, who });
  const name = who === 'caller' ? 'Caller' : 'Agent';
  context.fillStyle = colour('--surface');
  context.fillRect(0, top, context.measureText(name).width + 8, 17);
  context.fillStyle = colour(`--${who}`);
  context.fillText(name, 4, top + 9);
}

function drawPeaks(
  context: Context,
  scene: Scene,
  { peaks, who }: { peaks: Peaks; who: 'caller' | 'agent' },
): void {
  const { view, width } = scene;
  const { top, height } = ROWS[who];
  const { fromMs, binMs, values } = peaks;
  const middle = top + height / 2;
  const scale = height / 2 / PEAK_MAX;
  const barWidth = Math.max(1, (binMs / (view.toMs - view.fromMs)) * width);
  const bins = values.length / 4;
  const firstBin = Math.max(0, Math.floor((view.fromMs - fromMs) / binMs));
  const lastBin = Math.min(bins, Math.ceil((view.toMs - fromMs) / binMs));
  for (let bin = firstBin; bin < lastBin; bin += 1) {
    const at = bin * 4 + (who === 'caller' ? 0 : 2);
    const [low = 0, high = 0] = [values[at], values[at + 1]];
    if (high <= low) continue;
    const x = xOf(fromMs + bin * binMs, scene);
    context.fillRect(x, middle - high * scale, barWidth, Math.max(1, (high - low) * scale));
  }
}

function fillSpan(
  context: Context,
  scene: Scene,
  { fromMs, toMs, row }: { fromMs: number; toMs: number; row: Row },
): { x: number; width: number } {
  const x = xOf(fromMs, scene);
  const width = Math.max(2, xOf(toMs, scene) - x);
  context.fillRect(x, row.top, width, row.height);
  return { x, width };
}

/** Bars from the end of the caller's speech to the agent's first sound. */
function drawAnswers(context: Context, scene: Scene): void {
  for (const { fromMs, parts } of scene.call.answers) {
    let at = fromMs;
    for (const [index, part] of PARTS.entries()) {
      const toMs = at + parts[part];
      if (parts[part] > 0) {
        context.fillStyle = scene.colour(PART_COLOURS[part]);
        const { x, width } = fillSpan(context, scene, { fromMs: at, toMs, row: ROWS.answers });
        hatch(context, scene, { x, width, row: ROWS.answers, kind: index });
        if (width > 34) label(context, scene, { text: part, x, row: ROWS.answers });
      }
      at = toMs;
    }
  }
}

function drawTools(context: Context, scene: Scene): void {
  for (const { atMs, tookMs, name } of scene.call.tools) {
    const toMs = tookMs === undefined ? scene.call.lastMs : atMs + tookMs;
    context.fillStyle = scene.colour('--accent');
    const { x, width } = fillSpan(context, scene, { fromMs: atMs, toMs, row: ROWS.tools });
    if (width > name.length * 7 + 8) label(context, scene, { text: name, x, row: ROWS.tools });
  }
}

function label(
  context: Context,
  { colour }: Scene,
  { text, x, row }: { text: string; x: number; row: Row },
): void {
  context.fillStyle = colour('--on-accent');
  context.fillText(text, x + 4, row.top + row.height / 2);
}

/** Parts differ by a pattern too: none, lines down, lines up, upright lines, level lines. */
function hatch(
  context: Context,
  { colour }: Scene,
  { x, width, row, kind }: { x: number; width: number; row: Row; kind: number },
): void {
  if (kind === 0) return;
  context.save();
  context.beginPath();
  context.rect(x, row.top, width, row.height);
  context.clip();
  context.strokeStyle = colour('--surface');
  context.globalAlpha = 0.45;
  const { top, height } = row;
  context.beginPath();
  for (let at = -height; at < width; at += 6) {
    const lean = kind === 1 ? height : kind === 2 ? -height : 0;
    const begin = kind === 2 ? at + height : at;
    context.moveTo(x + begin, top);
    context.lineTo(x + begin + lean, top + height);
    if (kind === 4) break;
  }
  context.stroke();
  context.restore();
}

function drawMarks(context: Context, scene: Scene): void {
  const { top, height } = ROWS.marks;
  let free = Number.NEGATIVE_INFINITY;
  for (const { kind, atMs } of scene.call.marks.toSorted(byTime)) {
    const x = xOf(atMs, scene);
    if (x < -LETTER_PX || x > scene.width + LETTER_PX) continue;
    context.fillStyle = scene.colour(MARK_COLOURS[kind]);
    context.fillRect(x - 0.5, ROWS.caller.top, 1, top - ROWS.caller.top);
    if (x < free) continue; // The letter would cover the one before.
    free = x + LETTER_PX;
    context.fillText(MARK_LETTERS[kind], Math.max(0, x - 4), top + height / 2);
  }
}

/** Each key in the lane of its side; those too close to stand apart share a box. */
function drawKeys(context: Context, scene: Scene): void {
  for (const by of ['caller', 'agent'] as const) {
    let box: { x: number; digits: string } | undefined;
    for (const { atMs, digits } of scene.call.keys.filter((keys) => keys.by === by)) {
      const x = xOf(atMs, scene);
      if (box !== undefined && x < box.x + keysWidth(context, box.digits)) {
        box.digits += digits;
        continue;
      }
      if (box !== undefined) drawBox(context, scene, { by, ...box });
      box = { x, digits };
    }
    if (box !== undefined) drawBox(context, scene, { by, ...box });
  }
}

function keysWidth(context: Context, digits: string): number {
  return Math.max(KEY_PX, context.measureText(digits).width + 6);
}

function drawBox(
  context: Context,
  { colour, width: sceneWidth }: Scene,
  { by, x, digits }: { by: Keys['by']; x: number; digits: string },
): void {
  const width = keysWidth(context, digits);
  if (x < -width || x > sceneWidth) return;
  const { top, height } = ROWS[by];
  const left = Math.min(Math.max(0, x), sceneWidth - width - 1);
  const boxTop = top + height - KEY_PX - 2;
  context.fillStyle = colour('--surface');
  context.fillRect(left, boxTop, width, KEY_PX);
  context.strokeStyle = colour(`--${by}`);
  context.strokeRect(left + 0.5, boxTop + 0.5, width - 1, KEY_PX - 1);
  context.fillStyle = colour(`--${by}`);
  context.fillText(
    digits,
    left + (width - context.measureText(digits).width) / 2,
    boxTop + KEY_PX / 2 + 0.5,
  );
}

function byTime(one: Mark, other: Mark): number {
  return one.atMs - other.atMs;
}
