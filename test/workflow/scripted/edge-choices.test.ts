import { describe, expect, it } from 'vitest';
import { parseGraph } from '../../../src/workflow/graph/graph.ts';
import { derivedPhrases } from '../../../src/workflow/scripted/edge-choices.ts';
import { agent, definition, edge, end, start } from '../definitions.ts';

describe('phrases without hints', () => {
  it('come from label and condition, for the author to review', () => {
    const graph = parseGraph(
      definition(
        [start('1'), agent('2'), end('3')],
        [
          edge('1', '2', { label: 'Book visit', condition: 'The caller wants to book a visit.' }),
          edge('1', '3', { label: 'Opening_hours', condition: 'User asks about opening hours' }),
          edge('2', '3', { label: 'Agreed', condition: 'The caller agrees to the price.' }),
          edge('2', '1', { label: 'Refused', condition: 'The caller declines the price.' }),
          edge('2', '2', { label: 'otherwise' }),
          edge('2', '2', { label: 'own', phrases: ['Never mind!'] }),
        ],
      ),
    );
    expect(derivedPhrases(graph)).toEqual([
      { nodeId: '1', edgeId: '1-2-Book visit', phrases: ['book visit', 'book', 'visit'] },
      { nodeId: '1', edgeId: '1-3-Opening_hours', phrases: ['opening hours', 'opening', 'hours'] },
      { nodeId: '2', edgeId: '2-3-Agreed', phrases: ['yes', 'agreed'] },
      { nodeId: '2', edgeId: '2-1-Refused', phrases: ['no', 'refused'] },
    ]);
  });
});
