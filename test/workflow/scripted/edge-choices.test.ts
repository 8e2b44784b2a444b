import { describe, expect, it } from 'vitest';
import { parseGraph } from '../../../src/workflow/graph/graph.ts';
import { choicesOf } from '../../../src/workflow/scripted/edge-choices.ts';
import { agent, definition, edge, end, start } from '../definitions.ts';

describe('phrases without hints', () => {
  it('come from label and condition', () => {
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
    const derived = [...graph.nodes.values()]
      .flatMap(choicesOf)
      .filter((choice) => choice.derived)
      .map(({ edge: { id }, phrases }) => [id, phrases]);
    expect(derived).toEqual([
      ['1-2-Book visit', ['book visit', 'book', 'visit']],
      ['1-3-Opening_hours', ['opening hours', 'opening', 'hours']],
      ['2-3-Agreed', ['yes', 'agreed']],
      ['2-1-Refused', ['no', 'refused']],
    ]);
  });
});
