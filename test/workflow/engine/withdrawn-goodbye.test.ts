// Goodbyes that words of the caller withdraw, and ends that wait until the caller has finished speaking.
// A caller who came back during the goodbye for silence was hung up on, some in mid-sentence.

import { describe, expect, it } from 'vitest';
import { Conversation } from '../conversation.ts';
import { definition, edge, end, start } from '../definitions.ts';

const graph = definition(
  [
    start('1', { name: 'Talk', greeting: 'Hello. Tea?', say: 'Hello. Tea?', prompt: 'Help.' }),
    end('2', { name: 'End', say: 'Tea it is. Goodbye.' }),
  ],
  [edge('1', '2', { label: 'Tea', phrases: ['tea'], dtmf: '1' })],
);
const SILENT = 'user_idle_max_duration_exceeded';

/** The agent says goodbye after two silences. */
function silent(policy: 'model' | 'scripted'): Conversation {
  const call = new Conversation(graph, policy).start().heard().idle();
  if (policy === 'model') call.answer('Are you there?');
  call.heard().idle();
  return policy === 'model' ? call.answer('Goodbye.') : call;
}

/** The last utterance, of a model or a fixed one. */
function lastUtterance(call: Conversation) {
  const action = call.all.findLast(({ type }) => type === 'say' || type === 'generate');
  if (action?.type !== 'say' && action?.type !== 'generate') throw new Error('nothing said');
  return action;
}

describe.each(['model', 'scripted'] as const)('a goodbye for silence, %s', (policy) => {
  it('can be interrupted, and words withdraw it', () => {
    const call = silent(policy);
    const { utteranceId, interruptible } = lastUtterance(call);
    expect(interruptible).toBe(true);
    call.interrupted(utteranceId, 'Good');
    expect(call.types).toEqual(['wait']);
    call.caller('I would like tea');
    expect(call.state).toMatchObject({ endReason: policy === 'model' ? null : 'user_qualified' });
    expect(call.all.some(({ type }) => type === 'end')).toBe(false);
    if (policy === 'model') expect(call.of('generate')).toHaveLength(1);
    else expect(call.said).toEqual(['Tea it is. Goodbye.']);
  });

  it('ends no call while the caller speaks, and ends it when no words come', () => {
    const call = silent(policy);
    const { utteranceId } = lastUtterance(call);
    const over = { type: 'utterance-finished', utteranceId, heardText: 'Goodbye.' } as const;
    call.tell({ ...over, interrupted: false, isCallerSpeaking: true });
    for (let check = 0; check < 20; check++) {
      expect(call.types).toEqual(['wait']);
      const { waitId } = call.last('wait');
      call.tell({ type: 'waited', waitId, isCallerSpeaking: true });
    }
    call.tell({ type: 'waited', waitId: call.last('wait').waitId });
    expect(call.last('end').reason).toBe(SILENT);
  });

  it('is withdrawn by words that began before its end', () => {
    const call = silent(policy);
    const { utteranceId } = lastUtterance(call);
    const over = { type: 'utterance-finished', utteranceId, heardText: 'Goodbye.' } as const;
    call.tell({ ...over, interrupted: false, isCallerSpeaking: true });
    const { waitId } = call.last('wait');
    call.caller('wait, that is not what I wanted');
    expect(call.state.phase).toBe('talking');
    expect(call.tell({ type: 'waited', waitId }).actions).toEqual([]);
  });

  it.each([
    ['', 0],
    ['goodbye', 0.9],
    ['okay thank you bye bye', 0.9],
    ['tschüss', 0.9],
    ['book tea', 0.1],
  ])('stays when the caller says %j', (text, confidence) => {
    const call = silent(policy);
    const { utteranceId } = lastUtterance(call);
    call.interrupted(utteranceId, 'Good').caller(text, confidence);
    expect(call.state.phase).toBe('closing');
    call.tell({ type: 'waited', waitId: call.last('wait').waitId });
    expect(call.last('end').reason).toBe(SILENT);
  });

  it('is withdrawn by a key', () => {
    const call = silent(policy);
    call.interrupted(lastUtterance(call).utteranceId, 'Good').keys('1');
    expect(call.state.endReason).not.toBe(SILENT);
  });

  it('is said again after two more silences', () => {
    const call = silent(policy);
    call.interrupted(lastUtterance(call).utteranceId, 'Good').caller('hm, let me think', 0.9);
    if (policy === 'model') call.answer('Sure?');
    call.heard().idle();
    expect(call.state.phase).toBe('talking');
    expect(lastUtterance(call).kind).toBe('idle');
  });
});

describe('a goodbye after doubts', () => {
  const doubted = (policy: 'model' | 'scripted') => {
    const call = new Conversation(graph, policy).start().heard();
    for (;;) {
      call.caller('', 0);
      if (call.state.phase !== 'talking') return call;
      call.heard();
    }
  };

  it.each(['model', 'scripted'] as const)('is withdrawn by certain words, %s', (policy) => {
    const call = doubted(policy);
    expect(lastUtterance(call)).toMatchObject({ kind: 'goodbye', interruptible: true });
    call.interrupted(lastUtterance(call).utteranceId, 'I am').caller('hm hmm what', 0.4);
    expect(call.state.phase).toBe('closing');
    call.caller('I would like tea', 0.9);
    expect(call.state.endReason).not.toBe('unknown');
    // The count of doubts begins anew.
    if (policy === 'model') call.answer('Tea?').heard().caller('', 0);
    expect(call.all.some(({ type }) => type === 'end')).toBe(false);
  });
});

describe('a goodbye that the graph has reached', () => {
  it.each(['model', 'scripted'] as const)('is final, %s', (policy) => {
    const call = new Conversation(graph, policy).start().heard().caller('tea');
    if (policy === 'model') call.answer('', 'tea').answer('Goodbye.');
    expect(lastUtterance(call).interruptible).toBe(false);
    call.caller('wait, I would like coffee');
    expect(call.state).toMatchObject({ phase: 'closing', endReason: 'user_qualified' });
    expect(call.heard().last('end').reason).toBe('user_qualified');
  });

  it('waits a few seconds for a caller who speaks at its end', () => {
    const call = new Conversation(graph, 'scripted').start().heard().caller('tea');
    const { utteranceId, text } = call.last('say');
    const over = { type: 'utterance-finished', utteranceId, heardText: text } as const;
    call.tell({ ...over, interrupted: false, isCallerSpeaking: true });
    let checks = 0;
    for (; call.types.includes('wait') && checks < 100; checks++)
      call.tell({ type: 'waited', waitId: call.last('wait').waitId, isCallerSpeaking: true });
    expect(checks).toBeLessThan(12);
    expect(call.last('end').reason).toBe('user_qualified');
  });
});
