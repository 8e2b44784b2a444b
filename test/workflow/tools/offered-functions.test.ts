// What a node offers to the model beside its edges. Source: contract §5.4, §8.2.

import { describe, expect, it } from 'vitest';
import { validateDefinition } from '../../../src/workflow/graph/validate.ts';
import { offeredFunctions } from '../../../src/workflow/tools/offered-functions.ts';
import { definition, edge, end, start } from '../definitions.ts';
import { storedTool } from './stored-tool.ts';

const mcp = { url: 'https://mcp.example/', discovered_tools: [] };
const http = { method: 'GET', url: 'https://crm.example/' };
const node = (id: string, ...toolUuids: string[]) => ({
  id,
  toolUuids,
  edges: [{ label: 'Done!' }],
});

describe('the tools of a node', () => {
  it('are offered in its order with their parameters', () => {
    const parameters = [
      { name: 'id', type: 'string', description: 'Number of the order' },
      { name: 'tags', type: 'array', description: 'Tags', required: false },
    ];
    const tools = [
      storedTool('sums', 'Sums', { type: 'calculator' }),
      storedTool('find', 'Find order', { type: 'http_api', config: { ...http, parameters } }),
      storedTool('bye', 'Hang up', { type: 'end_call', config: { endCallReason: true } }),
      storedTool('ops', 'Ops', { type: 'transfer_call', config: { destination: '+1' } }, null),
    ];
    const { offered, skipped } = offeredFunctions([node('a', 'find', 'bye', 'ops', 'sums')], tools);
    expect(skipped).toEqual([]);
    expect(offered.get('a')?.map((tool) => tool.function)).toEqual([
      {
        name: 'find_order',
        description: 'About Find order.',
        parameters: {
          type: 'object',
          properties: {
            id: { type: 'string', description: 'Number of the order' },
            tags: { type: 'array', description: 'Tags', items: {} },
          },
          required: ['id'],
        },
      },
      {
        name: 'hang_up',
        description: 'About Hang up.',
        parameters: {
          type: 'object',
          properties: {
            reason: { type: 'string', description: 'Why the call ends, in a few words.' },
          },
          required: ['reason'],
        },
      },
      {
        name: 'ops',
        description: 'Ops',
        parameters: { type: 'object', properties: {}, required: [] },
      },
      {
        name: 'safe_calculator',
        description: 'About Sums.',
        parameters: {
          type: 'object',
          properties: { expression: expect.objectContaining({ type: 'string' }) },
          required: ['expression'],
        },
      },
    ]);
  });

  it('that cannot be offered are left out, and it is said why', () => {
    const tools = [
      storedTool('old', 'Old', { type: 'calculator' }, null, 'archived'),
      storedTool('half', 'Half', { type: 'calculator' }, null, 'draft'),
      storedTool('mcp', 'Server', { type: 'mcp', config: mcp }),
      storedTool('odd', 'Odd', { type: 'http_api', config: {} }),
      storedTool('edge', 'Done_', { type: 'http_api', config: http }),
      storedTool('one', 'Same', { type: 'http_api', config: http }),
      storedTool('two', 'same', { type: 'http_api', config: http }),
    ];
    const wanted = ['none', 'old', 'half', 'mcp', 'odd', 'edge', 'one', 'two', 'one'];
    const { offered, skipped } = offeredFunctions([node('a', ...wanted), node('b')], tools);
    expect(offered.get('a')?.map(({ uuid }) => uuid)).toEqual(['edge', 'one']);
    expect(offered.has('b')).toBe(false);
    expect(skipped).toEqual([
      { nodeId: 'a', uuid: 'none', reason: 'unknown' },
      { nodeId: 'a', uuid: 'old', reason: 'not active' },
      { nodeId: 'a', uuid: 'half', reason: 'not active' },
      { nodeId: 'a', uuid: 'mcp', reason: 'not run by this version' },
      { nodeId: 'a', uuid: 'odd', reason: 'unreadable' },
      { nodeId: 'a', uuid: 'two', reason: 'name taken' },
    ]);
  });

  it('that have the name of an edge are left out', () => {
    const tools = [storedTool('t', 'Done', { type: 'http_api', config: http })];
    const user = { id: 'a', toolUuids: ['t'], edges: [{ label: 'Done' }] };
    expect(offeredFunctions([user], tools).skipped).toEqual([
      { nodeId: 'a', uuid: 't', reason: 'name taken' },
    ]);
  });
});

it('a node whose tools cannot be used, without a language model, is named', () => {
  const content = definition(
    [start('a', { say: 'Hello.', tool_uuids: ['t'] }), end('b', { say: 'Bye.' })],
    [edge('a', 'b')],
  );
  expect(validateDefinition(content, { full: true, policy: 'model' })).toEqual([]);
  expect(validateDefinition(content, { full: true, policy: 'scripted' })).toEqual([
    {
      kind: 'node',
      id: 'a',
      field: 'data.tool_uuids',
      message: 'Tools are used by a language model alone',
    },
  ]);
});
