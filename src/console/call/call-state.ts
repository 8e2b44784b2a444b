// The state of a call's page from the items of its event stream, live and replayed alike. Pure: no clock, no browser.
// All times are media times in milliseconds, which are those of the recording.

import { objectOf } from '../parts/json-object.ts';
import { type CallItem, numberIn, stringIn } from './call-items.ts';

/** Items in the page at most: a call of some hours. Later ones are counted only. */
export const ITEMS_MAX = 20_000;

export type MarkKind = 'node' | 'interruption' | 'tool' | 'fault';

/** One row of the transcript: words of a side, or something that happened. */
export interface Line {
  /** Number of the row, in the order of arrival. */
  id: number;
  kind: 'caller' | 'agent' | 'keys' | 'sent' | MarkKind;
  atMs: number;
  endMs: number;
  /** What was said, as far as the caller has heard it; keys that were pressed or sent; or what happened. */
  text: string;
  /** What an interrupted agent was about to say and the caller did not hear. */
  unheard?: string;
  isInterrupted?: true;
}

export interface Mark {
  kind: MarkKind;
  atMs: number;
  name: string;
}

/** DTMF digits: one that the caller pressed, or those that a client had sent in the agent's place. */
export interface Keys {
  by: 'caller' | 'agent';
  atMs: number;
  digits: string;
}

export const PARTS = ['wait', 'stt', 'llm', 'tts', 'gateway'] as const;
export type Part = (typeof PARTS)[number];

/** One answer of the agent: from the end of the caller's speech to the first sound, by part. */
export interface Answer {
  turn: number;
  fromMs: number;
  totalMs: number;
  parts: Readonly<Record<Part, number>>;
}

export interface Tool {
  callId: string;
  name: string;
  atMs: number;
  request: unknown;
  /** Undefined until it has returned. */
  result?: string;
  tookMs?: number;
}

export interface Fault {
  atMs: number;
  code: string;
  text: string;
  isFatal: boolean;
  /** The service in whose place another one is used from here on. */
  change?: string;
}

export interface Entered {
  id: string;
  name: string;
  atMs: number;
  /** Wall clock of the event, in milliseconds since 1970. */
  at: number;
}

export interface CallState {
  /** Items of the stream in this state. */
  count: number;
  /** Items beyond ITEMS_MAX. */
  left: number;
  /** In the order of their times. */
  lines: readonly Line[];
  entered: readonly Entered[];
  marks: readonly Mark[];
  keys: readonly Keys[];
  answers: readonly Answer[];
  tools: readonly Tool[];
  faults: readonly Fault[];
  /** Words of the caller that are not final. */
  interim: string;
  /** Largest media time so far. */
  lastMs: number;
  /** Wall clock of media time 0; undefined before the first item with both. */
  originAt: number | undefined;
  isOver: boolean;
}

export const emptyCall: CallState = {
  count: 0,
  left: 0,
  lines: [],
  entered: [],
  marks: [],
  keys: [],
  answers: [],
  tools: [],
  faults: [],
  interim: '',
  lastMs: 0,
  originAt: undefined,
  isOver: false,
};

type Draft = {
  -readonly [Key in keyof CallState]: CallState[Key] extends readonly (infer Each)[]
    ? Each[]
    : CallState[Key];
};

/** The state after further items. The given state is not changed. */
export function withItems(state: CallState, items: readonly CallItem[]): CallState {
  const draft: Draft = {
    ...state,
    lines: [...state.lines],
    entered: [...state.entered],
    marks: [...state.marks],
    keys: [...state.keys],
    answers: [...state.answers],
    tools: [...state.tools],
    faults: [...state.faults],
  };
  for (const item of items) add(draft, item);
  return draft;
}

function add(draft: Draft, item: CallItem): void {
  if (item.type === 'completed') {
    draft.isOver = true;
    draft.interim = '';
    return;
  }
  if (item.type === 'rtf-user-transcription' && item.payload['final'] === false) {
    draft.interim = stringIn(item.payload['text']) ?? '';
    return;
  }
  const handler = HANDLERS[item.type];
  if (handler === undefined) return;
  if (draft.count >= ITEMS_MAX) {
    draft.left += 1;
    return;
  }
  draft.count += 1;
  const atMs = item.at_ms ?? 0;
  const endMs = numberIn(item.payload['end_ms']) ?? atMs;
  draft.lastMs = Math.max(draft.lastMs, atMs, endMs);
  // What was said is reported at its end, and has the time of its begin.
  if (item.at_ms !== undefined && item.payload['end_ms'] === undefined) {
    draft.originAt = Date.parse(item.timestamp) - item.at_ms;
  }
  handler(draft, item, atMs);
}

type Handler = (draft: Draft, item: CallItem, atMs: number) => void;

const HANDLERS: Readonly<Record<string, Handler>> = {
  'rtf-user-transcription': addCaller,
  'rtf-bot-text': addAgent,
  'rtf-node-transition': addNode,
  'rtf-latency-measured': addAnswer,
  'rtf-interruption': addInterruption,
  'rtf-dtmf': addKeys,
  'rtf-function-call-start': addTool,
  'rtf-function-call-end': endTool,
  'rtf-pipeline-error': addFault,
  'rtf-ttfb-metric': () => undefined,
};

function addCaller(draft: Draft, { payload }: CallItem, atMs: number): void {
  draft.interim = '';
  const text = stringIn(payload['text']) ?? '';
  const endMs = numberIn(payload['end_ms']) ?? atMs;
  const kind = payload['source'] === 'dtmf' ? 'keys' : 'caller';
  addLine(draft, { kind, atMs, endMs, text });
}

/** The caller's digits stand in the transcript once they are a turn: together, as the agent understood them. */
function addKeys(draft: Draft, { payload }: CallItem, atMs: number): void {
  const digits = stringIn(payload['digits']);
  if (digits === undefined) return;
  const isSent = payload['direction'] === 'out';
  draft.keys.push({ by: isSent ? 'agent' : 'caller', atMs, digits });
  if (isSent) addLine(draft, { kind: 'sent', atMs, endMs: atMs, text: digits });
}

function addAgent(draft: Draft, { payload }: CallItem, atMs: number): void {
  const unheard = stringIn(payload['unheard_text']);
  addLine(draft, {
    kind: 'agent',
    atMs,
    endMs: numberIn(payload['end_ms']) ?? atMs,
    text: stringIn(payload['text']) ?? '',
    ...(unheard === undefined || unheard === '' ? {} : { unheard }),
    ...(payload['interrupted'] === true ? { isInterrupted: true as const } : {}),
  });
}

function addNode(draft: Draft, { payload, timestamp }: CallItem, atMs: number): void {
  const id = stringIn(payload['node_id']);
  if (id === undefined) return;
  const name = stringIn(payload['node_name']) ?? id;
  draft.entered.push({ id, name, atMs, at: Date.parse(timestamp) });
  mark(draft, { kind: 'node', atMs, name });
}

function addAnswer(draft: Draft, { payload, turn }: CallItem, atMs: number): void {
  const totalMs = (numberIn(payload['latency_seconds']) ?? 0) * 1_000;
  const parts = objectOf(payload['parts_ms']);
  const of = (name: string): number => Math.max(0, numberIn(parts[name]) ?? 0);
  draft.answers.push({
    turn: turn ?? draft.answers.length + 1,
    fromMs: Math.max(0, atMs - totalMs),
    totalMs,
    parts: {
      wait: of('endpointing'),
      stt: of('recognition'),
      llm: of('model'),
      tts: of('speech'),
      gateway: of('gateway'),
    },
  });
}

function addInterruption(draft: Draft, { payload }: CallItem, atMs: number): void {
  const by = payload['cause'] === 'dtmf' ? 'a key' : 'speech';
  const silenceS = numberIn(payload['silence_seconds']) ?? 0;
  const name = `Interrupted by ${by}; the agent was silent after ${Math.round(silenceS * 1_000)} ms`;
  mark(draft, { kind: 'interruption', atMs, name });
}

function addTool(draft: Draft, { payload }: CallItem, atMs: number): void {
  const name = stringIn(payload['function_name']) ?? 'unnamed';
  const callId = stringIn(payload['tool_call_id']) ?? '';
  draft.tools.push({ callId, name, atMs, request: payload['arguments'] });
  mark(draft, { kind: 'tool', atMs, name });
}

function endTool(draft: Draft, { payload }: CallItem, atMs: number): void {
  const callId = stringIn(payload['tool_call_id']);
  const index = draft.tools.findLastIndex(
    (tool) => tool.callId === callId && tool.result === undefined,
  );
  const tool = draft.tools[index];
  if (tool === undefined) return;
  const { result } = payload;
  draft.tools[index] = {
    ...tool,
    result: typeof result === 'string' ? result : JSON.stringify(result ?? null),
    tookMs: numberIn(payload['duration_ms']) ?? Math.max(0, atMs - tool.atMs),
  };
}

function addFault(draft: Draft, { payload }: CallItem, atMs: number): void {
  const code = stringIn(payload['processor']) ?? '';
  const text = stringIn(payload['error']) ?? '';
  const { from, to } = objectOf(payload['service_change']);
  draft.faults.push({
    atMs,
    code,
    text,
    isFatal: payload['fatal'] === true,
    ...(typeof to === 'string' && { change: `${String(from)} to ${to}` }),
  });
  mark(draft, { kind: 'fault', atMs, name: code === '' ? text : `${code}: ${text}` });
}

function mark(draft: Draft, { kind, atMs, name }: Mark): void {
  draft.marks.push({ kind, atMs, name });
  addLine(draft, { kind, atMs, endMs: atMs, text: name });
}

/** What was said is reported at its end: lines are kept in the order of their begins. */
function addLine(draft: Draft, line: Omit<Line, 'id'>): void {
  const after = draft.lines.findLastIndex(({ atMs }) => atMs <= line.atMs);
  draft.lines.splice(after + 1, 0, { ...line, id: draft.lines.length });
}

/** Nodes that the call has entered until then, in their order. */
export function enteredUntil({ entered }: Pick<CallState, 'entered'>, atMs: number): Entered[] {
  return entered.filter((node) => node.atMs <= atMs);
}

/** The row that belongs to a moment: of those with words, the last that has begun. Undefined before the first. */
export function lineAt({ lines }: Pick<CallState, 'lines'>, atMs: number): Line | undefined {
  return lines.findLast((line) => line.atMs <= atMs && isSpoken(line));
}

export function isSpoken({ kind }: Pick<Line, 'kind'>): boolean {
  return kind === 'caller' || kind === 'agent' || kind === 'keys' || kind === 'sent';
}

/** The smallest value that is at least as large as `share` of all; undefined without any. */
export function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}
