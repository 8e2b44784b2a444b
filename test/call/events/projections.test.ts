import { describe, expect, it } from 'vitest';
import { feedbackItems } from '../../../src/call/events/realtime-feedback.ts';
import { runOutcomeOf } from '../../../src/call/events/run-outcome.ts';
import { transcriptLines, transcriptText } from '../../../src/call/events/transcript.ts';
import type { CallEvent, CallEventBody } from '../../../src/model/call-event.ts';

const ORIGIN = Date.UTC(2026, 0, 15, 9, 0, 0);

/** Events of one run; each body comes with its media time. */
function logOf(...entries: [mediaMs: number, body: CallEventBody][]): CallEvent[] {
  return entries.map(([mediaMs, body], i) => ({
    runId: '7',
    seq: i + 1,
    at: ORIGIN + mediaMs,
    mediaMs,
    body,
  }));
}

const entered = (nodeId: string, nodeName: string): CallEventBody => ({
  type: 'node.entered',
  nodeId,
  nodeName,
  previousNodeId: null,
  previousNodeName: null,
  allowInterrupt: true,
});

const said = (
  text: string,
  startMs: number,
  endMs: number,
  interrupted = false,
): CallEventBody => ({
  type: 'agent.said',
  utteranceId: 1,
  kind: 'reply',
  text,
  interrupted,
  nodeId: '1',
  nodeName: 'Start',
  startMs,
  endMs,
});

const heard = (text: string, startMs: number, endMs: number): CallEventBody => ({
  type: 'user.turn',
  text,
  source: 'speech',
  confidence: 0.9,
  nodeId: '1',
  nodeName: 'Start',
  startMs,
  endMs,
});

const ended = (reason: 'user_qualified' | 'no-answer'): CallEventBody => ({
  type: 'call.ended',
  reason,
  by: 'agent',
  durationS: 12.4,
});

describe('the transcript', () => {
  const events = logOf([3_000, said('Hello.', 100, 900)], [5_000, heard('yes', 1_500, 1_900)]);

  it('has one line per turn with its time, role and words', () => {
    expect(transcriptText(events, false)).toBe(
      '[2026-01-15T09:00:00.100+00:00] assistant: Hello.\n' +
        '[2026-01-15T09:00:01.500+00:00] user: yes\n',
    );
  });

  it('shows ends when asked to', () => {
    expect(transcriptText(events, true)).toContain(
      '[2026-01-15T09:00:01.500+00:00 -> 2026-01-15T09:00:01.900+00:00] user: yes',
    );
  });

  it('orders turns by when they began, however late their words came', () => {
    const late = logOf([5_000, said('Fine.', 4_000, 5_000)], [6_000, heard('wait', 2_000, 2_500)]);
    expect(transcriptLines(late).map(({ text }) => text)).toEqual(['wait', 'Fine.']);
  });

  it('leaves out turns without words and keeps a turn on one line', () => {
    const odd = logOf([1, heard('', 0, 1)], [2, heard('two\nlines', 5, 6)]);
    expect(transcriptText(odd, false)).toBe('[2026-01-15T09:00:00.005+00:00] user: two lines\n');
  });

  it('is empty for a call without speech', () => {
    expect(transcriptText(logOf([0, ended('no-answer')]), false)).toBe('');
  });
});

describe('the feedback items', () => {
  it('have the keys of both directions, each at its time', () => {
    const keys = feedbackItems(
      logOf([900, { type: 'dtmf', digit: '5' }], [1_200, { type: 'digits.sent', digits: '1#' }]),
    );
    expect(keys.map(({ type, payload, at_ms }) => [type, payload, at_ms])).toEqual([
      ['rtf-dtmf', { digits: '5', direction: 'in' }, 900],
      ['rtf-dtmf', { digits: '1#', direction: 'out' }, 1_200],
    ]);
  });

  it("carry the contract's types, the turn and the node", () => {
    const items = feedbackItems(
      logOf(
        [0, entered('1', 'Start')],
        [2_000, heard('yes', 1_500, 1_900)],
        [3_000, entered('2', 'Next')],
      ),
    );
    expect(items.map(({ type, turn, node_name }) => [type, turn, node_name])).toEqual([
      ['rtf-node-transition', 0, 'Start'],
      ['rtf-user-transcription', 1, 'Start'],
      ['rtf-node-transition', 1, 'Next'],
    ]);
    expect(items[1]?.payload).toEqual({
      text: 'yes',
      final: true,
      source: 'speech',
      timestamp: '2026-01-15T09:00:01.500+00:00',
      end_timestamp: '2026-01-15T09:00:01.900+00:00',
      start_ms: 1_500,
      end_ms: 1_900,
    });
    expect(items[1]?.at_ms).toBe(1_500);
  });

  it('give the words that an interrupted agent did not get to say, and how long a tool took', () => {
    const call = { callId: 'c', name: 'look_up' };
    const items = feedbackItems(
      logOf(
        [900, { ...said('Which day', 100, 900, true), unheard: 'suits you?' } as CallEventBody],
        [1_000, { type: 'function.called', ...call, arguments: { day: 1 } }],
        [1_250, { type: 'function.returned', ...call, result: 'free' }],
        [1_300, { type: 'function.returned', ...call, callId: 'other', result: 'late' }],
      ),
    );
    expect(items.map(({ at_ms: atMs, payload }) => [atMs, payload])).toMatchObject([
      [100, { text: 'Which day', unheard_text: 'suits you?', interrupted: true }],
      [1_000, { arguments: { day: 1 } }],
      [1_250, { result: 'free', duration_ms: 250 }],
      [1_300, { result: 'late' }],
    ]);
    expect(items[3]?.payload).not.toHaveProperty('duration_ms');
  });

  it('give the latency of a turn in seconds', () => {
    const parts = {
      endpointingMs: 300,
      recognitionMs: 10,
      modelMs: 0,
      speechMs: 45,
      totalMs: 361.5,
      gatewayMs: 6.5,
    };
    const [item] = feedbackItems(logOf([1, { type: 'turn.latency', parts }]));
    expect(item).toMatchObject({
      type: 'rtf-latency-measured',
      payload: { latency_seconds: 0.3615, parts_ms: { gateway: 6.5 } },
    });
  });
});

describe('the outcome', () => {
  it('gathers extracted values, nodes in order, disposition and tags', () => {
    const outcome = runOutcomeOf(
      logOf(
        [0, entered('1', 'Start')],
        [10, heard('yes please', 1, 2)],
        [20, { type: 'variables.extracted', nodeId: '1', values: { day: 'friday', tag_a: 'vip' } }],
        [30, entered('2', 'End')],
        [40, entered('1', 'Start')],
        [50, ended('user_qualified')],
      ),
      'unknown',
    );
    expect(outcome.gatheredContext).toEqual({
      day: 'friday',
      tag_a: 'vip',
      extracted_variables: { day: 'friday', tag_a: 'vip' },
      nodes_visited: ['Start', 'End'],
      call_disposition: 'user_qualified',
      mapped_call_disposition: 'user_qualified',
      call_status: 'user_qualified',
      call_tags: ['user_qualified', 'user_speech', 'vip'],
    });
    expect(outcome.durationS).toBe(12.4);
    expect(outcome.usageInfo['call_duration_seconds']).toBe(12);
  });

  it('prefers an extracted call_disposition to the reason', () => {
    const outcome = runOutcomeOf(
      logOf(
        [0, { type: 'variables.extracted', nodeId: '1', values: { call_disposition: 'booked' } }],
        [1, ended('user_qualified')],
      ),
      'unknown',
    );
    expect(outcome.disposition).toBe('booked');
    expect(outcome.gatheredContext['call_status']).toBe('user_qualified');
  });

  it('cuts a disposition that a model has made too long to be listed by', () => {
    const values = { call_disposition: 'x'.repeat(10_000) };
    const events = logOf([0, { type: 'variables.extracted', nodeId: '1', values }]);
    expect(runOutcomeOf(events, 'unknown').disposition).toHaveLength(200);
  });

  it('gives the last fatal fault as the error', () => {
    const fault = (message: string, fatal: boolean): CallEventBody => ({
      type: 'fault',
      code: 'X',
      message,
      fatal,
    });
    const faults = logOf([0, fault('one', true)], [1, fault('two', true)], [2, fault('3', false)]);
    expect(runOutcomeOf(faults, 'unknown').gatheredContext['error']).toBe('two');
    const well = logOf([0, fault('passing', false)], [1, ended('user_qualified')]);
    expect(runOutcomeOf(well, 'unknown').gatheredContext).not.toHaveProperty('error');
  });

  it("keeps an extracted variable from taking the place of the gateway's own word", () => {
    const names = [
      'call_id',
      'provider',
      'call_tags',
      'nodes_visited',
      'call_status',
      'mapped_call_disposition',
      'extracted_variables',
      'answered_by',
      'error',
      'triggered_by',
      'trigger_uuid',
      'hang_up_requested_by',
    ];
    const values = Object.fromEntries(names.map((name) => [name, 'mine']));
    const { gatheredContext } = runOutcomeOf(
      logOf([0, { type: 'variables.extracted', nodeId: '1', values }]),
      'unknown',
    );
    const { extracted_variables, ...own } = gatheredContext;
    expect(extracted_variables).toEqual(values);
    expect(Object.values(own)).not.toContain('mine');
    expect(own).not.toHaveProperty('call_id');
  });

  it('tags an unanswered call as the contract does', () => {
    const { gatheredContext } = runOutcomeOf(logOf([0, ended('no-answer')]), 'unknown');
    expect(gatheredContext['call_tags']).toEqual(['not_connected', 'telephony_no-answer']);
  });

  it('takes the last media time as the length of a call whose process was killed', () => {
    const outcome = runOutcomeOf(
      logOf([0, entered('1', 'S')], [61_000, heard('hi', 1, 2)]),
      'unexpected_error',
    );
    expect(outcome).toMatchObject({ reason: 'unexpected_error', durationS: 61 });
  });

  it('adds usage up per service and model', () => {
    const usage = (promptTokens: number): CallEventBody => ({
      type: 'model.usage',
      service: 'openai',
      model: 'm',
      firstTokenMs: 200,
      totalMs: 400,
      promptTokens,
      completionTokens: 5,
      cachedTokens: 2,
      cacheWriteTokens: 3,
    });
    const { usageInfo, costInfo } = runOutcomeOf(
      logOf(
        [0, usage(10)],
        [1, usage(20)],
        [2, { type: 'speech.usage', service: 'flite', model: 'slt', characters: 42 }],
        // The second one corrects the first.
        [3, { type: 'recognition.usage', service: 'groq', model: 'w', seconds: 1.4 }],
        [4, { type: 'recognition.usage', service: 'groq', model: 'w', seconds: -0.4 }],
      ),
      'unknown',
    );
    expect(usageInfo).toMatchObject({
      llm: {
        'openai|||m': {
          prompt_tokens: 30,
          completion_tokens: 10,
          total_tokens: 40,
          cache_creation_input_tokens: 6,
        },
      },
      tts: { 'flite|||slt': 42 },
      stt: { 'groq|||w': 1 },
    });
    expect(costInfo).toEqual({ dograh_token_usage: 40, call_duration_seconds: 0 });
  });
});
