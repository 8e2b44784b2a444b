// Input of a review: the call split by node, each part as text, and figures about it. Built from the run's event log
// alone.

import type { CallEvent } from '../../../model/call-event.ts';
import { wordCount } from '../../../std/text/unspaced-text.ts';

/** Characters of one part: an hour of talk. A longer part loses its middle. */
const TRANSCRIPT_CHARACTERS_MAX = 60_000;
/** Characters of the conversation before a part. */
const BEFORE_CHARACTERS_MAX = 4_000;

export interface CallPart {
  /** Null for a call whose turns have no node. */
  nodeId: string | null;
  nodeName: string;
  transcript: string;
  /** The end of the conversation before the part. */
  before: string;
  metrics: Record<string, number>;
}

interface Turn {
  role: 'user' | 'assistant';
  text: string;
  nodeId: string | null;
  nodeName: string | null;
  startMs: number;
  endMs: number;
}

/** Splits a call into parts, in the order in which their nodes were first used; several visits of one node are one
 *  part. Empty if the call has no speech. */
export function partsOf(events: readonly CallEvent[]): CallPart[] {
  const turns = turnsOf(events);
  const isByNode = turns.some(({ nodeId }) => nodeId !== null);
  const parts = new Map<string | null, Turn[]>();
  for (const turn of turns) {
    const key = isByNode ? (turn.nodeId ?? lastKey(parts)) : null;
    const part = parts.get(key);
    if (part === undefined) parts.set(key, [turn]);
    else part.push(turn);
  }
  const call = callMetrics(events);
  let before = '';
  return [...parts].map(([nodeId, own]) => {
    const transcript = textOf(own);
    const part = {
      nodeId,
      nodeName: own.find(({ nodeName }) => nodeName !== null)?.nodeName ?? 'whole_call',
      transcript: shortened(transcript),
      before: before.slice(-BEFORE_CHARACTERS_MAX),
      metrics: { ...metricsOf(own), ...call },
    };
    before += `${transcript}\n`;
    return part;
  });
}

function lastKey(parts: ReadonlyMap<string | null, unknown>): string | null {
  return [...parts.keys()].at(-1) ?? null;
}

function turnsOf(events: readonly CallEvent[]): Turn[] {
  const turns: Turn[] = [];
  for (const { body } of events) {
    if (body.type !== 'user.turn' && body.type !== 'agent.said') continue;
    if (body.text.trim() === '') continue;
    const { nodeId, nodeName, startMs, endMs } = body;
    const text = body.text.replace(/\s+/g, ' ').trim();
    const role = body.type === 'user.turn' ? 'user' : 'assistant';
    turns.push({ role, text, nodeId, nodeName, startMs, endMs });
  }
  return turns.sort((one, other) => one.startMs - other.startMs);
}

function textOf(turns: readonly Turn[]): string {
  return turns.map(({ role, text }) => `${role}: ${text}`).join('\n');
}

function shortened(text: string): string {
  if (text.length <= TRANSCRIPT_CHARACTERS_MAX) return text;
  const half = TRANSCRIPT_CHARACTERS_MAX / 2;
  return `${text.slice(0, half)}\n[…]\n${text.slice(-half)}`;
}

function metricsOf(turns: readonly Turn[]): Record<string, number> {
  const of = (role: Turn['role']) => turns.filter((turn) => turn.role === role);
  const seconds = (some: readonly Turn[]) =>
    tenths(some.reduce((sum, { startMs, endMs }) => sum + Math.max(0, endMs - startMs), 0) / 1_000);
  const words = (some: readonly Turn[]) => some.reduce((sum, { text }) => sum + wordCount(text), 0);
  const [user, assistant] = [of('user'), of('assistant')];
  return {
    user_turns: user.length,
    assistant_turns: assistant.length,
    user_words: words(user),
    assistant_words: words(assistant),
    user_speech_seconds: seconds(user),
    assistant_speech_seconds: seconds(assistant),
  };
}

function callMetrics(events: readonly CallEvent[]): Record<string, number> {
  const delays: number[] = [];
  let interruptions = 0;
  let durationS = 0;
  for (const { body } of events) {
    if (body.type === 'turn.latency') delays.push(body.parts.totalMs / 1_000);
    if (body.type === 'interruption') interruptions += 1;
    if (body.type === 'call.ended') durationS = body.durationS;
  }
  const mean = delays.reduce((sum, delay) => sum + delay, 0) / Math.max(1, delays.length);
  return {
    call_duration_seconds: Math.round(durationS),
    call_interruptions: interruptions,
    call_response_seconds_average: tenths(mean),
    call_response_seconds_max: tenths(Math.max(0, ...delays)),
  };
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
