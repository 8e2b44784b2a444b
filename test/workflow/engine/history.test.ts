import { describe, expect, it } from 'vitest';
import {
  addCallerText,
  addEntry,
  limitVendorParts,
  messagesOf,
  transcriptOf,
  VENDOR_CHARACTERS_MAX,
} from '../../../src/workflow/engine/history.ts';
import { INITIAL_STATE } from '../../../src/workflow/engine/state.ts';

const spoken = (utteranceId: number, text: string | null) => ({
  role: 'assistant' as const,
  utteranceId,
  text,
  heard: true,
  interrupted: false,
  toolCalls: [],
});

describe('the history of a conversation', () => {
  it('drops its oldest entries beyond the limit and still begins with the caller', () => {
    const state = structuredClone(INITIAL_STATE);
    for (let turn = 1; turn <= 500; turn += 1) {
      addCallerText(state, `turn ${turn}`);
      addEntry(state, {
        ...spoken(turn, 'ok'),
        toolCalls: [{ id: 'c', name: 'n', arguments: {} }],
      });
      addEntry(state, { role: 'tool', callId: 'c', content: 'done' });
    }
    expect(state.history.length).toBeLessThanOrEqual(400);
    expect(state.history[0]?.role).toBe('user');
    expect(messagesOf(state).at(-3)).toEqual({ role: 'user', content: 'turn 500' });
  });

  it('cuts a turn that is longer than natural speech', () => {
    const state = structuredClone(INITIAL_STATE);
    addCallerText(state, 'x'.repeat(100_000));
    expect(messagesOf(state)[0]?.content).toHaveLength(8_000);
  });

  it('joins neighbouring words of one side and leaves out what was never said', () => {
    const state = structuredClone(INITIAL_STATE);
    addEntry(state, spoken(1, 'Hello.'));
    addEntry(state, spoken(2, null));
    addEntry(state, spoken(3, 'How are you?'));
    expect(messagesOf(state, '(Go on.)')).toEqual([
      { role: 'user', content: '(The call is connected.)' },
      { role: 'assistant', content: 'Hello. How are you?', toolCalls: [] },
      { role: 'user', content: '(Go on.)' },
    ]);
    expect(transcriptOf(state, 100)).toBe('Agent: Hello.\nAgent: How are you?');
  });

  it('returns the opaque parts of a service as they came, with the message of a function call', () => {
    const state = structuredClone(INITIAL_STATE);
    const vendor = { service: 'google', family: 'gemini-4', data: [{ signature: 'abc=' }] };
    const call = { id: 'c', name: 'n', arguments: {}, vendor };
    addEntry(state, spoken(1, 'One moment.'));
    addEntry(state, { ...spoken(2, 'So.'), toolCalls: [call], vendor });
    addEntry(state, { role: 'tool', callId: 'c', content: 'done' });
    expect(messagesOf(JSON.parse(JSON.stringify(state)))[1]).toEqual({
      role: 'assistant',
      content: 'One moment. So.',
      toolCalls: [call],
      vendor,
    });
  });

  it('drops the oldest opaque parts beyond the limit, each whole', () => {
    const state = structuredClone(INITIAL_STATE);
    const vendor = (data: string) => ({ service: 's', family: 'f', data });
    const long = 'x'.repeat(VENDOR_CHARACTERS_MAX / 2);
    for (const turn of [1, 2, 3]) {
      addCallerText(state, `turn ${turn}`);
      addEntry(state, { ...spoken(turn, 'ok'), vendor: vendor(turn === 3 ? 'short' : long) });
    }
    limitVendorParts(state);
    const kept = state.history.map((entry) => entry.role === 'assistant' && entry.vendor?.data);
    expect(kept).toEqual([false, undefined, false, long, false, 'short']);
  });
});
