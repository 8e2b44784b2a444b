// Users of such systems report agents that fall silent: the model answered nothing that can be spoken, and nothing told
// the caller.

import { describe, expect, it } from 'vitest';
import type {
  DialogueAction,
  DialogueEvent,
} from '../../../src/workflow/engine/dialogue-events.ts';
import { ENGLISH_LINES, linesFor } from '../../../src/workflow/engine/dialogue-lines.ts';
import { createEngine, type DialogueState } from '../../../src/workflow/engine.ts';
import { parseGraph } from '../../../src/workflow/graph/graph.ts';
import { definition, edge, end, start } from '../definitions.ts';

const graph = parseGraph(
  definition([start('a', { greeting: 'Hello.' }), end('z')], [edge('a', 'z', { label: 'Bye' })]),
);

type Event = DialogueEvent extends infer E
  ? E extends DialogueEvent
    ? Omit<E, 'at'>
    : never
  : never;

function conversation(settings: { filler_phrases?: string[] } = {}, language = 'en') {
  const engine = createEngine({
    graph,
    policy: 'model',
    settings: { dictionary: '', ...settings },
    lines: linesFor(language),
  });
  let state: DialogueState = engine.initial;
  const at = {
    engine,
    get state() {
      return state;
    },
    step(event: Event): DialogueAction[] {
      const result = engine.step(state, { at: 0, ...event } as DialogueEvent);
      state = result.state;
      return result.actions;
    },
    says(event: Event): string[] {
      return at.step(event).flatMap((action) => (action.type === 'say' ? [action.text] : []));
    },
    asks(text: string) {
      const turn = { type: 'caller-turn', text, confidence: 1, source: 'speech' } as const;
      const asked = at.step(turn).find(({ type }) => type === 'generate');
      if (asked?.type !== 'generate') throw new Error('no request');
      return asked;
    },
    answers(text: string): string[] {
      const { requestId, utteranceId } = at.asks('and now');
      const answer = { type: 'model-answered', requestId, text, toolCalls: [] } as const;
      at.step(answer);
      return at.hears(utteranceId, '');
    },
    hears(utteranceId: number, heardText: string, interrupted = false): string[] {
      return at.says({ type: 'utterance-finished', utteranceId, heardText, interrupted });
    },
  };
  at.step({ type: 'started', direction: 'inbound', initialContext: { name: 'Ann' } });
  at.hears(1, 'Hello.');
  for (const id of state.speaking) at.hears(id, 'Hello.');
  return at;
}

describe('an answer without a sound', () => {
  it.each(['Ваш приём в пятницу.', '👍', '→'])('such as %s is replaced by words', (text) => {
    expect(conversation().answers(text)).toEqual([ENGLISH_LINES.trouble]);
  });

  it('ends the call when the words in its place are not heard either', () => {
    const at = conversation();
    at.answers('東京');
    const [speaking = 0] = at.state.speaking;
    expect(at.hears(speaking, '')).toEqual([ENGLISH_LINES.apology]);
    expect(at.state).toMatchObject({ phase: 'closing', endReason: 'pipeline_error' });
  });

  // The last resort of a call is a voice with Latin letters only: a line in the agent's script would have no sound either.
  it.each(['hi', 'ar', 'zh-CN', 'ja'])(
    'is replaced by English where the agent speaks %s',
    (language) => {
      const at = conversation({}, language);
      expect(at.answers('東京')).toEqual([ENGLISH_LINES.trouble]);
      const [speaking = 0] = at.state.speaking;
      expect(at.hears(speaking, '')).toEqual([ENGLISH_LINES.apology]);
    },
  );

  it('is replaced in the language of the agent where that has Latin letters', () => {
    expect(conversation({}, 'de').answers('東京')).toEqual([linesFor('de').trouble]);
  });

  it('has nothing to do with a fault of the model, which is explained in the language of the agent', () => {
    const at = conversation({}, 'hi');
    const { requestId } = at.asks('hello');
    expect(at.says({ type: 'model-failed', requestId, code: 'LLM_FAILED' })).toEqual([
      linesFor('hi').trouble,
    ]);
  });

  it('does not count when it was interrupted, and not together with an earlier one that was heard over', () => {
    const at = conversation();
    const { requestId, utteranceId } = at.asks('hello');
    at.step({ type: 'model-answered', requestId, text: 'Yes.', toolCalls: [] });
    expect(at.hears(utteranceId, '', true)).toEqual([]);
    at.answers('東京');
    const [speaking = 0] = at.state.speaking;
    at.hears(speaking, ENGLISH_LINES.trouble);
    expect(at.answers('東京')).toEqual([ENGLISH_LINES.trouble]);
  });
});

// The caller heard nothing until the agent asked whether they were there.
describe('an answer without words', () => {
  it.each(['...', '…', ' "-" ', '?', '\u200B'])('such as %s has the caller asked again', (text) => {
    const at = conversation();
    expect(at.answers(text)).toEqual([ENGLISH_LINES.sayAgain]);
    expect(at.state.faults).toBeUndefined();
  });

  it('is one where it is read, and none that the caller interrupts', () => {
    const written = conversation();
    const { requestId, utteranceId } = written.asks('thanks');
    written.step({ type: 'model-answered', requestId, text: ':-)', toolCalls: [] });
    expect(written.hears(utteranceId, ':-)')).toEqual([]);
    const cut = conversation();
    const asked = cut.asks('hello');
    cut.step({ type: 'model-answered', requestId: asked.requestId, text: '...', toolCalls: [] });
    expect(cut.hears(asked.utteranceId, '', true)).toEqual([]);
  });

  it('beside a move says nothing for the new step', () => {
    const at = conversation();
    const { requestId } = at.asks('bye');
    const toolCalls = [{ id: '1', name: 'bye', arguments: {} }];
    const actions = at.step({ type: 'model-answered', requestId, text: '...', toolCalls });
    expect(actions.filter(({ type }) => type === 'generate')).toHaveLength(1);
  });

  it('to a caller who asks to wait is a promise to wait', () => {
    const at = conversation();
    const { requestId } = at.asks('hold on');
    expect(at.says({ type: 'model-answered', requestId, text: '', toolCalls: [] })).toEqual([
      ENGLISH_LINES.waiting,
    ]);
  });
});

describe('a wait', () => {
  it('is explained by one line, then by others, and no more than four in a turn', () => {
    const at = conversation();
    at.asks('hello');
    const lines = Array.from({ length: 6 }, () => at.step({ type: 'waiting' }));
    const said = lines.flat();
    expect(said).toHaveLength(4);
    expect(said[0]).toMatchObject({ type: 'say', kind: 'notice', isInterjection: true });
    expect(ENGLISH_LINES.oneMoment).toContain(said[0]?.type === 'say' ? said[0].text : '');
    expect(said[3]).toMatchObject({ text: ENGLISH_LINES.stillWorking });
    at.asks('hello again');
    expect(at.says({ type: 'waiting' })).toHaveLength(1);
  });

  it('is explained in the words of the author, with variables, which can be rendered ahead', () => {
    const at = conversation({ filler_phrases: ['Bear with me, {{name}}.'] });
    at.asks('hello');
    expect(at.says({ type: 'waiting' })).toEqual(['Bear with me, Ann.']);
    const { stillWorking, trouble, sayAgain, apology, lineRestored } = ENGLISH_LINES;
    expect(at.engine.waitLines(at.state)).toEqual({
      waits: ['Bear with me, Ann.', stillWorking],
      faults: [lineRestored, trouble, sayAgain, apology],
    });
  });

  it("is explained in the agent's language, and the model does not see the line", () => {
    const at = conversation({}, 'de-AT');
    at.asks('hallo');
    const [line = ''] = at.says({ type: 'waiting' });
    expect(linesFor('de').oneMoment).toContain(line);
    expect(JSON.stringify(at.state.history)).not.toContain(line);
    expect(linesFor('xx')).toEqual(ENGLISH_LINES);
  });

  it('of an outage is explained by one line, which is no part of the history', () => {
    const at = conversation();
    expect(at.says({ type: 'line-restored' })).toEqual([ENGLISH_LINES.lineRestored]);
    expect(JSON.stringify(at.state.history)).not.toContain(ENGLISH_LINES.lineRestored);
  });

  it('of a call that has ended is not explained', () => {
    const at = conversation();
    at.step({ type: 'ending', reason: 'user_hangup' });
    expect(at.step({ type: 'waiting' })).toEqual([]);
  });
});
