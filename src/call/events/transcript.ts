// Transcript of a run from its event log: one line for each turn, and for what the caller said to an agent that could
// not be interrupted, ordered by the start of the audio. Line format: contract §6.4.

import type { CallEvent, CallEventBody } from '../../model/call-event.ts';

export interface TranscriptLine {
  role: 'user' | 'assistant';
  text: string;
  /** Wall clock, milliseconds since 1970. */
  startAt: number;
  endAt: number;
}

/** Turns of both sides, in the order of their start. */
export function transcriptLines(events: readonly CallEvent[]): TranscriptLine[] {
  const turns: (TranscriptLine & { startMs: number })[] = [];
  for (const { at, mediaMs, body } of events) {
    const span = spanOf(body);
    if (span === undefined || span.text === '') continue;
    const origin = at - mediaMs;
    const { role, text, startMs, endMs } = span;
    turns.push({ role, text, startMs, startAt: origin + startMs, endAt: origin + endMs });
  }
  turns.sort((a, b) => a.startMs - b.startMs);
  return turns.map(({ startMs: _, ...line }) => line);
}

function spanOf(body: CallEventBody) {
  if (body.type === 'user.turn') return { ...body, role: 'user' as const };
  if (body.type === 'agent.said') return { ...body, role: 'assistant' as const };
  if (body.type !== 'user.backchannel' || body.muted === undefined) return undefined;
  return { text: body.text, ...body.muted, role: 'user' as const };
}

/** Lines for changes of the agent. */
function agentLines(events: readonly CallEvent[]) {
  return events.flatMap(({ at, body }) => {
    if (body.type !== 'agent.entered') return [];
    const text = `transferred from the agent ${body.previousAgentName} to the agent ${body.agentName}`;
    return [{ role: 'system', text, startAt: at, endAt: at }];
  });
}

/** The transcript file. `withEnds` writes `[start -> end]`. Ends with a newline unless empty. */
export function transcriptText(events: readonly CallEvent[], withEnds: boolean): string {
  return [...transcriptLines(events), ...heldLines(events), ...agentLines(events)]
    .sort((a, b) => a.startAt - b.startAt)
    .map(({ role, text, startAt, endAt }) => {
      const span = withEnds ? `${stamp(startAt)} -> ${stamp(endAt)}` : stamp(startAt);
      return `[${span}] ${role}: ${text.replace(/\s+/g, ' ').trim()}\n`;
    })
    .join('');
}

/** Lines for times on hold, which belong to neither side. */
function heldLines(events: readonly CallEvent[]) {
  return events.flatMap(({ at, body }) => {
    if (body.type !== 'call.unheld') return [];
    const text = `on hold for ${Math.round(body.heldMs / 1_000)} s`;
    return [{ role: 'system', text, startAt: at - body.heldMs, endAt: at }];
  });
}

/** ISO 8601 in UTC with milliseconds and an explicit offset. */
export function stamp(at: number): string {
  return new Date(at).toISOString().replace('Z', '+00:00');
}
