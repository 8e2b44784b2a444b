import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { parseGraph } from '../../../src/workflow/graph/graph.ts';
import { agent, definition, edge, end, start } from '../definitions.ts';

describe('a graph', () => {
  it('has typed nodes with their edges and the defaults of the contract', () => {
    const graph = parseGraph(
      definition(
        [
          start('1', { greeting: 'Hello.', delayed_start: true, delayed_start_duration: null }),
          agent('2', {
            allow_interrupt: true,
            add_global_prompt: false,
            extraction_enabled: true,
            extraction_variables: [{ name: 'day', type: 'string' }],
          }),
          end('3'),
          { id: 'g', type: 'globalNode', data: { name: 'G', prompt: 'Be brief.' } },
          { id: 't', type: 'trigger', data: { name: 'T' } },
        ],
        [edge('1', '2'), edge('2', '3'), edge('2', 'gone')],
      ),
    );
    expect(graph.start.id).toBe('1');
    expect(graph.opening).toEqual({ greeting: 'Hello.', delayMs: 2_000 });
    expect(graph.globalPrompt).toBe('Be brief.');
    expect([...graph.nodes.keys()]).toEqual(['1', '2', '3']);
    expect(graph.nodes.get('2')).toMatchObject({
      interruptible: true,
      addGlobalPrompt: false,
      extraction: { prompt: '', variables: [{ name: 'day', type: 'string' }] },
      edges: [{ target: '3' }],
    });
    expect(graph.nodes.get('3')).toMatchObject({ interruptible: false, addGlobalPrompt: true });
  });

  it.each([
    ['no start', definition([agent('2')])],
    ['two starts', definition([start('1'), start('2')])],
    ['a step with wrong data', definition([start('1', { prompt: 5 })])],
  ])('cannot be made of a definition with %s', (_what, given) => {
    let code: string | undefined;
    try {
      parseGraph(given);
    } catch (error) {
      code = codeOf(error);
    }
    expect(code).toBe('WORKFLOW_INVALID');
  });
});
