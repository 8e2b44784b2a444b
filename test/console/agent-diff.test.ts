// What differs between two versions of an agent.

import { describe, expect, it } from 'vitest';
import {
  type AgentContent,
  type DiffLine,
  diffAgents,
  diffLines,
  isEmpty,
} from '../../src/console/pages/agents/agent-diff.ts';

const start = {
  id: '1',
  type: 'startCall',
  data: { name: 'Start', prompt: 'Greet.\nAsk the day.' },
};
const end = { id: '2', type: 'endCall', data: { name: 'End', prompt: 'Say goodbye.' } };
const edge = {
  id: 'e',
  source: '1',
  target: '2',
  data: { label: 'done', condition: 'All is said' },
};

function agent(
  nodes: AgentContent['definition']['nodes'],
  edges: AgentContent['definition']['edges'] = [],
  more: Partial<AgentContent> = {},
): AgentContent {
  return { definition: { nodes, edges }, settings: {}, variables: {}, ...more };
}

/** `-old [word]`, `+new`, ` same`, `@3` for three lines that are left out. */
function shown(lines: readonly DiffLine[]): string[] {
  const signs = { same: ' ', removed: '-', added: '+' };
  return lines.map((line) =>
    line.kind === 'skipped'
      ? `@${line.count}`
      : signs[line.kind] +
        line.words.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join(''),
  );
}

describe('the difference of two versions of an agent', () => {
  it('is empty for equal content, whatever the order of keys and the places of nodes', () => {
    const moved = {
      ...end,
      position: { x: 5, y: 9 },
      data: { prompt: 'Say goodbye.', name: 'End' },
    };
    const diff = diffAgents(agent([start, end], [edge]), agent([start, moved], [edge]));
    expect(isEmpty(diff)).toBe(true);
  });

  it('names nodes that were added, removed and changed', () => {
    const other = { ...end, id: '3', data: { name: 'Bye', prompt: 'Bye.' } };
    const changed = { ...start, data: { ...start.data, prompt: 'Greet.\nAsk the time.' } };
    const { nodes, edges } = diffAgents(agent([start, end]), agent([changed, other]));
    expect(edges).toEqual([]);
    expect(nodes.map(({ name, change }) => `${name} ${change}`)).toEqual([
      'Start changed',
      'Bye added',
      'End removed',
    ]);
    expect(nodes[0]?.fields.map(({ name }) => name)).toEqual(['prompt']);
    expect(shown(nodes[0]?.fields[0]?.lines ?? [])).toEqual([
      ' Greet.',
      '-Ask the [day.]',
      '+Ask the [time.]',
    ]);
  });

  it('shows the condition and the end of a changed edge', () => {
    const changed = { ...edge, target: '1', data: { ...edge.data, condition: 'The day is said' } };
    const { edges } = diffAgents(agent([start, end], [edge]), agent([start, end], [changed]));
    expect(edges).toHaveLength(1);
    expect(edges[0]).toMatchObject({ change: 'changed', name: 'done (Start → Start)' });
    expect(edges[0]?.fields.map(({ name }) => name)).toEqual(['to', 'condition']);
  });

  it('shows settings and variables that changed, objects with their lines', () => {
    const before = agent([], [], {
      settings: { max_call_duration: 60 },
      variables: { day: 'Monday' },
    });
    const after = agent([], [], {
      settings: { noise: { enabled: true } },
      variables: { day: 'Friday' },
    });
    const { settings, variables } = diffAgents(before, after);
    expect(settings.map(({ name, lines }) => [name, ...shown(lines)])).toEqual([
      ['noise', '+[{]', '+[  "enabled": true]', '+[}]'],
      ['max_call_duration', '-[60]'],
    ]);
    expect(shown(variables[0]?.lines ?? [])).toEqual(['-[Monday]', '+[Friday]']);
  });
});

describe('the lines of a text', () => {
  it('leaves equal lines out that are more than two away from a change', () => {
    const before = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].join('\n');
    expect(shown(diffLines(before, before.replace('d', 'D')))).toEqual([
      '@1',
      ' b',
      ' c',
      '-[d]',
      '+[D]',
      ' e',
      ' f',
      '@2',
    ]);
  });

  it('keeps equal lines between an insertion and a removal', () => {
    expect(shown(diffLines('one\ntwo\nthree', 'zero\none\nthree'))).toEqual([
      '+[zero]',
      ' one',
      '-[two]',
      ' three',
    ]);
  });

  it('marks the words that differ within a long line', () => {
    const lines = diffLines('Ask for the day, then stop.', 'Ask for the time, then stop.');
    expect(shown(lines)).toEqual([
      '-Ask for the [day, ]then stop.',
      '+Ask for the [time, ]then stop.',
    ]);
  });

  it('rebuilds both texts from its lines, for texts drawn at random', () => {
    let seed = 7;
    const draw = (max: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % max;
    };
    const text = () => Array.from({ length: 1 + draw(5) }, () => 'xyz'[draw(3)]).join('\n');
    let compared = 0;
    for (let round = 0; round < 200; round += 1) {
      const [before, after] = [text(), text()];
      const lines = diffLines(before, after).filter((line) => line.kind !== 'skipped');
      if (lines.length < diffLines(before, after).length) continue;
      const side = (kind: string) =>
        lines
          .filter((line) => line.kind === kind || line.kind === 'same')
          .map(({ words }) => words.map((each) => each.text).join(''))
          .join('\n');
      expect([side('removed'), side('added')]).toEqual([before, after]);
      compared += 1;
    }
    expect(compared).toBeGreaterThan(100);
  });

  it('takes texts above its limit as replaced, at once', () => {
    const text = (letter: string) => Array.from({ length: 3_000 }, (_, n) => letter + n).join('\n');
    const started = performance.now();
    const lines = diffLines(text('a'), text('b'));
    expect(lines.filter(({ kind }) => kind === 'removed')).toHaveLength(3_000);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
