// What a call's page saves to files: the transcript as text, and the answers in the trace format of Chrome, which
// chrome://tracing and Perfetto open.

import { type CallState, isSpoken, PARTS } from './call-state.ts';

const WHO: Readonly<Record<string, string>> = {
  caller: 'Caller',
  agent: 'Agent',
  keys: 'Keys',
  sent: 'Keys sent',
};

/** One line for each that was said: `0:07.4 Caller: on Wednesday`. Unheard words stand in brackets. */
export function transcriptText({ lines }: Pick<CallState, 'lines'>): string {
  const rows = lines.filter(isSpoken).map(({ kind, atMs, text, unheard }) => {
    const rest = unheard === undefined ? '' : ` [not heard: ${unheard}]`;
    return `${formatMoment(atMs)} ${WHO[kind]}: ${text}${rest}`;
  });
  return `${rows.join('\n')}\n`;
}

/** `0:07.4`, `1:02:03.0`. */
export function formatMoment(ms: number): string {
  const tenths = Math.floor(Math.max(0, ms) / 100);
  const seconds = Math.floor(tenths / 10);
  const two = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const begin = hours > 0 ? `${hours}:${two(minutes)}` : String(minutes);
  return `${begin}:${two(seconds % 60)}.${tenths % 10}`;
}

interface TraceEvent {
  name: string;
  cat: string;
  ph: 'X' | 'i' | 'M';
  /** Microseconds. */
  ts: number;
  dur?: number;
  pid: number;
  tid: number;
  s?: 't';
  args?: Record<string, unknown>;
}

const LANES = { caller: 1, agent: 2, answers: 3, tools: 4, marks: 5 } as const;

function moment(cat: string, lane: keyof typeof LANES, [name, atMs]: [string, number]): TraceEvent {
  return { name, cat, ph: 'i', ts: Math.round(atMs * 1_000), pid: 1, tid: LANES[lane], s: 't' };
}

/** The call as a trace: speech, the parts of each answer, tools and marks, each in a lane of its own. */
export function chromeTrace(call: CallState): { traceEvents: TraceEvent[] } {
  const span = (
    lane: keyof typeof LANES,
    [name, fromMs, ms]: [string, number, number],
    args: Record<string, unknown> = {},
  ): TraceEvent => ({
    name,
    cat: lane,
    ph: 'X',
    ts: Math.round(fromMs * 1_000),
    dur: Math.round(ms * 1_000),
    pid: 1,
    tid: LANES[lane],
    args,
  });
  const speech = call.lines
    .filter(({ kind }) => kind === 'caller' || kind === 'agent')
    .map(({ kind, text, atMs, endMs }) => span(kind as 'caller', [text, atMs, endMs - atMs]));
  const answers = call.answers.flatMap(({ turn, fromMs, parts }) => {
    let at = fromMs;
    return PARTS.map((part) => {
      const event = span('answers', [part, at, parts[part]], { turn });
      at += parts[part];
      return event;
    });
  });
  const tools = call.tools.map(({ name, atMs, tookMs, request }) =>
    span('tools', [name, atMs, tookMs ?? call.lastMs - atMs], { request }),
  );
  const marks = call.marks.map(({ kind, name, atMs }) => moment(kind, 'marks', [name, atMs]));
  const keys = call.keys.map(({ by, atMs, digits }) => moment('keys', by, [digits, atMs]));
  const names = Object.entries(LANES).map(
    ([name, tid]): TraceEvent => ({
      name: 'thread_name',
      cat: '',
      ph: 'M',
      ts: 0,
      pid: 1,
      tid,
      args: { name },
    }),
  );
  return { traceEvents: [...names, ...speech, ...answers, ...tools, ...marks, ...keys] };
}
