import { describe, expect, it } from 'vitest';
import { wavHeader } from '../../src/audio/wav.ts';
import type { RunDetail } from './api-client.ts';
import { inbound } from './scenario.ts';
import { type CallResult, faultsOf } from './verdict.ts';

/** Two seconds of two channels; each is loud or not. */
function recording(caller: boolean, agent: boolean, rateHz = 8_000): Buffer {
  const samples = Int16Array.from({ length: 2 * 16_000 }, (_, i) => {
    const sign = i % 16 < 8 ? 1 : -1;
    return (i % 2 === 0 ? caller : agent) ? 4_000 * sign : 0;
  });
  const data = Buffer.from(samples.buffer);
  return Buffer.concat([wavHeader({ rateHz, channels: 2, dataBytes: data.length }), data]);
}

function result(change: Partial<CallResult> = {}, run: Partial<RunDetail> = {}): CallResult {
  return {
    scenario: inbound,
    run: {
      id: '1',
      name: 'WR-TEL-IN-1',
      is_completed: true,
      call_type: 'inbound',
      state: 'completed',
      duration: 2.5,
      gathered_context: {
        nodes_visited: ['Welcome', 'Booked'],
        extracted_variables: { ...inbound.expected.gathered },
      },
      logs: {
        realtime_feedback_events: [
          { type: 'rtf-bot-text', timestamp: '', payload: { text: 'Har', interrupted: true } },
        ],
      },
      ...run,
    },
    recording: recording(true, true),
    transcript:
      '[t] assistant: Hi.\n[t] user: a\n[t] user: b\n[t] user: c\n[t] user: d\n[t] user: e\n',
    caller: {
      waitedMs: [500],
      interruptions: [{ overSpeech: true, silentAfterMs: 300 }],
      linesSaid: 4,
      heardSpeechMs: 9_000,
    },
    endedBy: 'gateway',
    recogniser: true,
    model: false,
    ...change,
  };
}

function interrupted(overSpeech: boolean, silentAfterMs: number | null): Partial<CallResult> {
  return { caller: { ...result().caller, interruptions: [{ overSpeech, silentAfterMs }] } };
}

const gathered = (values: Record<string, unknown>): Partial<RunDetail> => ({
  gathered_context: { nodes_visited: ['Booked'], extracted_variables: values },
});

describe("the demo's verdict", () => {
  it('is good for a call that came to what was expected', () => {
    expect(faultsOf(result())).toEqual([]);
  });

  it.each([
    ['the run is not completed', result({}, { is_completed: false })],
    ['the last node is Choose time, not Booked', result({}, withNodes('Welcome', 'Choose time'))],
    ['gathered {"weekday":"tuesday"}, not', result({}, gathered({ weekday: 'tuesday' }))],
    [
      'gathered {"weekday":',
      result({}, gathered({ ...inbound.expected.gathered, invented: 'more' })),
    ],
    ['the agent did not end the call', result({ endedBy: 'caller' })],
    ['the agent was silent when the caller interrupted', result(interrupted(false, 0))],
    ['the agent spoke on when interrupted', result(interrupted(true, null))],
    ['the agent yielded in 1500 ms', result(interrupted(true, 1_500))],
    ['the run knows of no interrupted utterance', result({}, { logs: null })],
    ['the recording has 0.0 s of the caller', result({ recording: recording(false, true) })],
    ['the recording has 0.0 s of the agent', result({ recording: recording(true, false) })],
    ['the recording is 16000 Hz, 2 ch', result({ recording: recording(true, true, 16_000) })],
    ['the recording has 2.0 s of 30 s', result({}, { duration: 30 })],
    ['the transcript lacks the agent', result({ transcript: '[t] user: a' })],
    ['the transcript lacks the caller', result({ transcript: '[t] assistant: Hi.' })],
  ])('is bad where %s', (fault, call) => {
    expect(faultsOf(call)).toEqual([expect.stringContaining(fault)]);
  });

  it('forgives a model another spelling, and no other value', () => {
    const values = { ...inbound.expected.gathered, weekday: 'Wednesday' };
    expect(faultsOf(result({ model: true }, gathered(values)))).toEqual([]);
    expect(faultsOf(result({ model: false }, gathered(values)))).toHaveLength(1);
    const wrong = { ...values, weekday: 'Tuesday' };
    expect(faultsOf(result({ model: true }, gathered(wrong)))).toHaveLength(1);
  });

  it('asks for no voice of a caller who pressed keys', () => {
    const keys = { recogniser: false, recording: recording(false, true) };
    expect(faultsOf(result(keys))).toEqual([]);
  });
});

function withNodes(...names: string[]): Partial<RunDetail> {
  const values = inbound.expected.gathered;
  return { gathered_context: { nodes_visited: names, extracted_variables: values } };
}
