// What clients see of a stored definition. Source: contract §12.2.

import { describe, expect, it } from 'vitest';
import { PROMPT_MISSING, publicDefinition } from '../../../src/workflow/graph/public-definition.ts';
import { agent, type Data, definition, edge, start } from '../definitions.ts';

const shown = (node: Data, options = {}) =>
  publicDefinition(definition([node]), options).nodes[0]?.data;

describe('a shown definition', () => {
  it('is the stored one if that holds nothing but what the catalogue declares', () => {
    const stored = definition(
      [start('1', { greeting: null, allow_interrupt: true }), agent('2')],
      [edge('1', '2', { own: 1 })],
    );
    expect(publicDefinition({ ...stored, viewport: { x: 1 } })).toEqual({
      ...stored,
      viewport: { x: 1 },
    });
  });

  it('leaves out keys of an older form, and unknown keys', () => {
    const junk = { is_start: true, is_end: false, mcp_tool_filters: {}, invalid: true };
    expect(shown(agent('1', junk))).toEqual({ name: 'Agent 1', prompt: 'Ask.' });
  });

  it.each([
    ['agentNode', 'prompt', 7],
    ['agentNode', 'allow_interrupt', 'yes'],
    ['agentNode', 'tool_uuids', 'one'],
    ['agentNode', 'extraction_variables', {}],
    ['startCall', 'delayed_start_duration', '2'],
    ['startCall', 'greeting_type', 'video'],
    ['webhook', 'endpoint_url', ['https://a.example']],
    ['qa', 'qa_provider', 'nobody'],
  ])('leaves out what cannot be the value of %s.%s: %j', (type, name, value) => {
    expect(shown({ id: '1', type, data: { [name]: value } })).toEqual({});
  });

  it('leaves out rows that lack what a row must have, and their unknown keys', () => {
    const rows = [
      { name: 'day', type: 'string', more: 1 },
      { name: 'no type' },
      { name: '', type: 'string' },
      { type: 'string' },
      'text',
    ];
    expect(shown(agent('1', { extraction_variables: rows }))?.['extraction_variables']).toEqual([
      { name: 'day', type: 'string' },
      { name: 'no type' },
    ]);
  });

  it('says, to be loaded, that a prompt is missing, and leaves an empty name to the default', () => {
    const loadable = { isLoadable: true };
    expect(shown({ id: '1', type: 'agentNode' }, loadable)).toEqual({ prompt: PROMPT_MISSING });
    expect(shown(agent('1', { name: ' ', prompt: '' }), loadable)).toEqual({
      prompt: PROMPT_MISSING,
    });
    expect(shown({ id: '1', type: 'agentNode', data: { prompt: '' } })).toEqual({ prompt: '' });
  });

  it('shows nodes of an unknown type as they are', () => {
    const data = { tuner_enabled: true };
    expect(shown({ id: '1', type: 'tuner', data })).toEqual(data);
  });
});
