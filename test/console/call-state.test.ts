// The state of a call's page from the items of its stream, and the files that are made of it. Without a browser.

import { describe, expect, it } from 'vitest';
import { chromeTrace, formatMoment, transcriptText } from '../../src/console/call/call-export.ts';
import { type CallItem, itemIn } from '../../src/console/call/call-items.ts';
import {
  type CallState,
  emptyCall,
  enteredUntil,
  ITEMS_MAX,
  lineAt,
  percentile,
  withItems,
} from '../../src/console/call/call-state.ts';

const ORIGIN = Date.parse('2026-01-15T09:30:00.000Z');

function item(
  type: string,
  atMs: number,
  payload: Record<string, unknown> = {},
  more: Partial<CallItem> = {},
): CallItem {
  return { type, payload, at_ms: atMs, timestamp: new Date(ORIGIN + atMs).toISOString(), ...more };
}

const node = (atMs: number, id: string): CallItem =>
  item('rtf-node-transition', atMs, { node_id: id, node_name: `Node ${id}` });
const said = (atMs: number, text: string, more: Record<string, unknown> = {}): CallItem =>
  item('rtf-bot-text', atMs, { text, end_ms: atMs + 1_000, interrupted: false, ...more });
const heard = (atMs: number, text: string, source = 'speech'): CallItem =>
  item('rtf-user-transcription', atMs, { text, final: true, end_ms: atMs + 500, source });

const stateOf = (...items: CallItem[]): CallState => withItems(emptyCall, items);

describe('the state of a call', () => {
  it('orders lines by the begin of what was said, not by their arrival', () => {
    const { lines } = stateOf(node(0, '1'), heard(3_000, 'yes'), said(100, 'Hello'));
    expect(lines.map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
      'node: Node 1',
      'agent: Hello',
      'caller: yes',
    ]);
  });

  it('separates heard words of an interrupted agent from the others', () => {
    const [line] = stateOf(
      said(0, 'We have', { interrupted: true, unheard_text: 'Monday and Friday' }),
    ).lines;
    expect(line).toMatchObject({
      text: 'We have',
      unheard: 'Monday and Friday',
      isInterrupted: true,
    });
    expect(stateOf(said(0, 'Hello', { unheard_text: '' })).lines[0]).not.toHaveProperty('unheard');
  });

  it('shows each pressed key at its time, and those of a turn as one line', () => {
    const { lines, keys } = stateOf(
      item('rtf-dtmf', 2_000, { digits: '4', direction: 'in' }),
      item('rtf-dtmf', 2_400, { digits: '8', direction: 'in' }),
      heard(2_000, '48', 'dtmf'),
    );
    expect(lines).toMatchObject([{ kind: 'keys', text: '48' }]);
    expect(keys).toEqual([
      { by: 'caller', atMs: 2_000, digits: '4' },
      { by: 'caller', atMs: 2_400, digits: '8' },
    ]);
  });

  it('shows keys that were sent to the far end in the lane of the agent, with a line', () => {
    const call = stateOf(item('rtf-dtmf', 3_000, { digits: '1w#', direction: 'out' }));
    expect(call.lines).toMatchObject([{ kind: 'sent', text: '1w#' }]);
    expect(call.keys).toEqual([{ by: 'agent', atMs: 3_000, digits: '1w#' }]);
    expect(transcriptText(call)).toBe('0:03.0 Keys sent: 1w#\n');
    expect(chromeTrace(call).traceEvents.at(-1)).toMatchObject({
      name: '1w#',
      cat: 'keys',
      ph: 'i',
    });
  });

  it('keeps words that are not final until the final ones come, and stores no item for them', () => {
    const interim = item('rtf-user-transcription', 0, { text: 'on wed', final: false });
    const before = stateOf(interim);
    expect(before).toMatchObject({ interim: 'on wed', count: 0, lines: [] });
    expect(withItems(before, [heard(0, 'on wednesday')]).interim).toBe('');
  });

  it('places an answer from the end of the speech to the first sound, by its parts', () => {
    const parts = { endpointing: 300, recognition: 20, model: 400, speech: 80, gateway: 5 };
    const { answers } = stateOf(
      item('rtf-latency-measured', 5_805, { latency_seconds: 0.805, parts_ms: parts }, { turn: 2 }),
    );
    expect(answers).toEqual([
      {
        turn: 2,
        fromMs: 5_000,
        totalMs: 805,
        parts: { wait: 300, stt: 20, llm: 400, tts: 80, gateway: 5 },
      },
    ]);
  });

  it('joins a tool with its result, of tools of one name by the id of the call', () => {
    const call = (atMs: number, id: string): CallItem =>
      item('rtf-function-call-start', atMs, {
        function_name: 'find',
        tool_call_id: id,
        arguments: { id },
      });
    const end = item('rtf-function-call-end', 900, {
      tool_call_id: 'a',
      result: '{"free":2}',
      duration_ms: 640,
    });
    expect(stateOf(call(100, 'a'), call(200, 'b'), end).tools).toEqual([
      {
        callId: 'a',
        name: 'find',
        atMs: 100,
        request: { id: 'a' },
        result: '{"free":2}',
        tookMs: 640,
      },
      { callId: 'b', name: 'find', atMs: 200, request: { id: 'b' } },
    ]);
    expect(stateOf(end).tools).toEqual([]);
  });

  it('has the path until a moment, and the line of a moment', () => {
    const state = stateOf(node(0, '1'), said(100, 'Hello'), heard(3_000, 'yes'), node(3_600, '2'));
    expect(enteredUntil(state, 3_599).map(({ id }) => id)).toEqual(['1']);
    expect(enteredUntil(state, 3_600).map(({ id }) => id)).toEqual(['1', '2']);
    expect(lineAt(state, 50)).toBeUndefined();
    expect(lineAt(state, 2_999)?.text).toBe('Hello');
    expect(lineAt(state, 9_000)?.text).toBe('yes');
  });

  it('knows the wall clock of media time 0, the largest time, faults and the end', () => {
    const fault = item('rtf-pipeline-error', 700, {
      error: 'The voice did not answer',
      processor: 'TTS_FAILED',
      fatal: false,
      service_change: { from: 'one', to: 'other' },
    });
    const state = stateOf(node(0, '1'), said(100, 'Hello'), fault, item('completed', 0));
    expect(state).toMatchObject({ originAt: ORIGIN, lastMs: 1_100, isOver: true });
    expect(state.faults).toEqual([
      {
        atMs: 700,
        code: 'TTS_FAILED',
        text: 'The voice did not answer',
        isFatal: false,
        change: 'one to other',
      },
    ]);
  });

  it('is the same in one batch and item by item, and changes no state that it was given', () => {
    const items = [node(0, '1'), said(100, 'Hello'), heard(3_000, 'yes'), node(3_600, '2')];
    const first = stateOf(...items.slice(0, 1));
    const kept = structuredClone(first);
    const stepwise = items.slice(1).reduce((state, each) => withItems(state, [each]), first);
    expect(stepwise).toEqual(stateOf(...items));
    expect(first).toEqual(kept);
  });

  it('takes fields of other types as absent, and unknown types not at all', () => {
    const odd = itemIn({ type: 'rtf-bot-text', payload: [1], timestamp: 'x', at_ms: '7' });
    expect(odd).toMatchObject({ payload: {}, at_ms: undefined });
    expect(stateOf(odd as CallItem).lines).toMatchObject([{ text: '', atMs: 0 }]);
    expect(itemIn({ payload: {} })).toBeUndefined();
    expect(stateOf(item('rtf-something-new', 5)).count).toBe(0);
  });

  it('counts items beyond the limit', () => {
    const state = stateOf(
      ...Array.from({ length: ITEMS_MAX + 3 }, () => item('rtf-ttfb-metric', 1)),
    );
    expect(state).toMatchObject({ count: ITEMS_MAX, left: 3 });
  });

  it('reads 2,000 items in 100 ms, in the best of five attempts', () => {
    const items = Array.from({ length: 2_000 }, (_, index) => said(index * 500, `line ${index}`));
    const attempts = Array.from({ length: 5 }, () => {
      const begin = performance.now();
      expect(stateOf(...items).lines).toHaveLength(2_000);
      return performance.now() - begin;
    });
    expect(Math.min(...attempts)).toBeLessThan(100);
  });
});

describe('files of a call', () => {
  it('are a transcript with what was not heard', () => {
    const state = stateOf(
      said(100, 'We have', { interrupted: true, unheard_text: 'Monday' }),
      node(500, '2'),
      heard(62_340, 'yes'),
    );
    expect(transcriptText(state)).toBe(
      '0:00.1 Agent: We have [not heard: Monday]\n1:02.3 Caller: yes\n',
    );
    expect(formatMoment(3_723_000)).toBe('1:02:03.0');
  });

  it('are a trace in which the parts of an answer follow each other', () => {
    const parts = { endpointing: 300, recognition: 20, model: 400, speech: 80, gateway: 5 };
    const { traceEvents } = chromeTrace(
      stateOf(item('rtf-latency-measured', 805, { latency_seconds: 0.805, parts_ms: parts })),
    );
    const found = traceEvents.filter(({ cat }) => cat === 'answers');
    expect(found.map(({ name, ts, dur }) => [name, ts, dur])).toEqual([
      ['wait', 0, 300_000],
      ['stt', 300_000, 20_000],
      ['llm', 320_000, 400_000],
      ['tts', 720_000, 80_000],
      ['gateway', 800_000, 5_000],
    ]);
  });

  it('have percentiles of waits', () => {
    expect(percentile([], 0.5)).toBeUndefined();
    expect(percentile([30, 10, 20], 0.5)).toBe(20);
    expect(percentile([30, 10, 20], 0.95)).toBe(30);
  });
});
