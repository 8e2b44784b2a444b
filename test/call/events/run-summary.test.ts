import { describe, expect, it } from 'vitest';
import { runOutcomeOf } from '../../../src/call/events/run-outcome.ts';
import { runSummaryOf } from '../../../src/call/events/run-summary.ts';
import type { CallEvent, CallEventBody } from '../../../src/model/call-event.ts';
import type { EndReason } from '../../../src/model/end-reason.ts';
import { searchWords } from '../../../src/model/run-summary.ts';

type Entry = [mediaMs: number, body: CallEventBody];

const started: Entry = [0, { type: 'media.started', codec: 'pcmu', rateHz: 8_000 }];
const said = (text: string, startMs: number, endMs: number, interrupted = false): Entry => [
  endMs,
  {
    type: 'agent.said',
    utteranceId: 1,
    kind: 'reply',
    text,
    interrupted,
    nodeId: '1',
    nodeName: 'Start',
    startMs,
    endMs,
  },
];
const heard = (text: string, startMs: number, endMs: number): Entry => [
  endMs,
  {
    type: 'user.turn',
    text,
    source: 'speech',
    confidence: 0.9,
    nodeId: '1',
    nodeName: 'Start',
    startMs,
    endMs,
  },
];
const answered = (totalMs: number): Entry => [
  0,
  {
    type: 'turn.latency',
    parts: { endpointingMs: 0, recognitionMs: 0, modelMs: 0, speechMs: 0, gatewayMs: 0, totalMs },
  },
];
const fault: Entry = [0, { type: 'fault', code: 'X', message: 'x', fatal: false }];
const ended = (mediaMs: number, reason: EndReason = 'user_hangup'): Entry => [
  mediaMs,
  { type: 'call.ended', reason, by: 'caller', durationS: mediaMs / 1_000 },
];

function summaryOf(...entries: Entry[]) {
  const events = entries.map(
    ([mediaMs, body], i): CallEvent => ({ runId: '7', seq: i + 1, at: mediaMs, mediaMs, body }),
  );
  const run = { name: 'WR-1', mode: 'twilio', initialContext: { caller_number: '+1 415' } };
  return runSummaryOf(events, run, runOutcomeOf(events, 'unknown'));
}

describe('the summary of a run', () => {
  it('finds nothing in a good call', () => {
    const call = [started, said('Hi', 0, 900), heard('Yes', 1_000, 2_000), answered(800)];
    const { attention, faults, answers, endedBy } = summaryOf(
      ...call,
      said('Fine', 3_000, 4_000),
      ended(20_000),
    );
    expect([attention, faults, endedBy]).toEqual([[], 0, 'caller']);
    expect(answers).toEqual({ p50Ms: 800, p95Ms: 800, maxMs: 800 });
  });

  it.each<[string, Entry[]]>([
    ['technical_end', [ended(0, 'pipeline_error')]],
    ['technical_end', [ended(0, 'failed')]],
    ['faults', [fault, ended(0)]],
    [
      'unanswered_caller',
      [started, said('Hi', 0, 900), heard('Hello?', 1_000, 2_000), ended(6_000)],
    ],
    ['unanswered_caller', [started, ended(4_000)]],
    [
      'unanswered_caller',
      [started, heard('No', 800, 2_000), said('Hi', 0, 900, true), ended(6_000)],
    ],
    ['slow_answers', [answered(2_000), answered(100), answered(2_100), ended(0)]],
    ['slow_answers', [answered(100), answered(100), answered(5_000), ended(0)]],
    ['media_interrupted', [[0, { type: 'media.interrupted' }], ended(0)]],
  ])('%s', (reason, entries) => {
    expect(summaryOf(...entries).attention).toEqual([reason]);
  });

  it.each<[string, Entry[]]>([
    ['nobody answered the dial', [ended(0, 'no-answer')]],
    ['the caller hung up soon', [started, heard('No', 1_000, 2_000), ended(5_999)]],
    ['the agent answered', [started, heard('No', 0, 1), said('Fine', 2, 9), ended(60_000)]],
    ['answers were quick', [answered(1_900), answered(100), answered(4_900), ended(0)]],
  ])('%s: no attention', (_, entries) => {
    expect(summaryOf(...entries).attention).toEqual([]);
  });

  it('has the words of both sides, the name, the number, the disposition, each once', () => {
    const { words } = summaryOf(started, said('Hi you', 0, 1), heard('Hi, Zoë!', 2, 3), ended(4));
    expect(words).toEqual(['wr', '1', 'user', 'hangup', '415', 'hi', 'you', 'zoë']);
  });
});

describe('words of a search', () => {
  it('are limited in number and length', () => {
    expect(searchWords(['x'.repeat(500)])).toEqual(['x'.repeat(40)]);
    expect(searchWords([Array.from({ length: 9_000 }, (_, i) => `w${i}`).join(' ')])).toHaveLength(
      4_000,
    );
  });

  it('are letters and digits only', () => {
    expect(searchWords(["a'b:*|\0 \ud800 &!"])).toEqual(['a', 'b']);
  });
});
