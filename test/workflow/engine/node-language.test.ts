// A node in another language than its agent: the engine's own lines, and the requests to wait that it knows.

import { describe, expect, it } from 'vitest';
import { linesFor } from '../../../src/workflow/engine/dialogue-lines.ts';
import { createEngine, type DialogueEngine } from '../../../src/workflow/engine.ts';
import { parseGraph } from '../../../src/workflow/graph/graph.ts';
import { agent, definition, edge, end, start } from '../definitions.ts';

const graph = (language?: string) =>
  parseGraph(
    definition(
      [
        start('ask', { say: 'Hello. German?' }),
        agent('german', { say: 'Guten Tag.', ...(language !== undefined && { language }) }),
        end('bye', { say: 'Bye.' }),
      ],
      [
        edge('ask', 'german', { label: 'German', phrases: ['german'] }),
        edge('german', 'bye', { label: 'End', phrases: ['end'] }),
      ],
    ),
  );

/** The engine after the caller has chosen the second node, and what it says for each event then. */
function inSecondNode(
  language: string | undefined,
  settings: Record<string, unknown> = {},
  isLatinOnly = false,
) {
  const engine: DialogueEngine = createEngine({
    graph: graph(language),
    policy: 'scripted',
    settings: { dictionary: '', ...settings },
    isLatinOnly,
  });
  let { initial: state } = engine;
  const send = (event: Parameters<DialogueEngine['step']>[1]): string[] => {
    const step = engine.step(state, event);
    state = step.state;
    return step.actions.flatMap((action) => (action.type === 'say' ? [action.text] : []));
  };
  const turn = (text: string) =>
    send({ at: 1, type: 'caller-turn', text, confidence: 0.9, source: 'speech' });
  send({ at: 0, type: 'started', direction: 'inbound', initialContext: {} });
  turn('german');
  expect(engine.summarize(state).lastNode?.id).toBe('german');
  return { send, turn, lines: () => engine.waitLines(state) };
}

describe('a node in a language of its own', () => {
  it("has the engine's lines in that language, at once and in every later step", () => {
    const at = inSecondNode('de-AT');
    expect(at.lines().waits).toContain('Einen Moment bitte.');
    expect(at.send({ at: 2, type: 'line-restored' })).toEqual([linesFor('de').lineRestored]);
    expect(at.send({ at: 3, type: 'waiting' }).join()).toMatch(/Moment|Augenblick|Ich sehe/);
  });

  it('has English lines in place of those that the voice has no letters for', () => {
    const restored = (language: string) =>
      inSecondNode(language, {}, true).send({ at: 2, type: 'line-restored' });
    expect(restored('hi')).toEqual([linesFor('en').lineRestored]);
    expect(restored('de')).toEqual([linesFor('de').lineRestored]);
  });

  it("has no line that the author wrote in the agent's language", () => {
    const settings = { agent_language: 'en', filler_phrases: ['Bear with me.'] };
    expect(inSecondNode('de', settings).lines().waits).not.toContain('Bear with me.');
    expect(inSecondNode('en-GB', settings).lines().waits).toContain('Bear with me.');
    expect(inSecondNode(undefined, settings).lines().waits).toContain('Bear with me.');
    const warning = { at: 2, type: 'ending-soon', text: 'One minute left.' } as const;
    expect(inSecondNode('de', settings).send(warning)).toEqual([linesFor('de').endingSoon]);
    expect(inSecondNode(undefined, settings).send(warning)).toEqual(['One minute left.']);
  });

  it('knows requests to wait in that language alone', () => {
    const german = linesFor('de').waiting;
    expect(inSecondNode('de').turn('einen Moment bitte')).toEqual([german]);
    expect(inSecondNode('de').turn('hold on')).not.toContain(german);
    expect(inSecondNode(undefined).turn('hold on')).toEqual([linesFor('en').waiting]);
  });
});
