// Tools that nodes name. Source: contract §5.3, §5.4.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolStatus } from '../../../src/model/tool.ts';
import type { WorkflowDefinition } from '../../../src/model/workflow.ts';
import { workflowDefinition } from '../../../src/model/workflow.ts';
import {
  nameCollisions,
  toolUuidsOf,
  unknownTools,
} from '../../../src/workflow/tools/tool-references.ts';
import { storedTool } from './stored-tool.ts';

const httpApi = { type: 'http_api', config: { method: 'GET', url: 'https://crm.example/' } };
const tool = (uuid: string, name: string, definition: object = httpApi, status?: ToolStatus) =>
  storedTool(uuid, name, { ...definition }, null, status);

function agent(uuids: unknown, label = 'Done'): WorkflowDefinition {
  const node = (id: string, data: object) => ({
    id,
    type: 'agentNode',
    position: { x: 0, y: 0 },
    data: { name: id, ...data },
  });
  return workflowDefinition.parse({
    nodes: [node('1', { tool_uuids: uuids }), node('2', { tool_uuids: ['b'] })],
    edges: [{ id: 'e', source: '1', target: '2', data: { label, condition: 'x' } }],
  });
}

const messages = (problems: { message: string }[]) => problems.map(({ message }) => message);

describe('the tools of an agent', () => {
  it('are those of all nodes, each once', () => {
    expect(toolUuidsOf(agent(['a', 'b', 'a', 7]))).toEqual(['a', 'b']);
    expect(toolUuidsOf(agent('a'))).toEqual(['b']);
    expect(toolUuidsOf(agent(null))).toEqual(['b']);
  });

  it('are unknown where they are not there', () => {
    expect(unknownTools(agent(['a', 'x']), [tool('a', 'A')])).toEqual([
      { kind: 'node', id: '1', field: 'data.tool_uuids', message: 'Tool x does not exist' },
      { kind: 'node', id: '2', field: 'data.tool_uuids', message: 'Tool b does not exist' },
    ]);
  });

  it('collide by the function names of one node only', () => {
    const [a, b] = [tool('a', 'Book it'), tool('b', 'BOOK-IT')];
    expect(messages(nameCollisions(agent(['a', 'b']), [a, b]))).toEqual([
      'The tool BOOK-IT has the function name book_it, as the tool Book it',
    ]);
    expect(nameCollisions(agent(['a']), [a, b])).toEqual([]);
    expect(nameCollisions(agent(['a', 'a']), [a, b])).toEqual([]);
    expect(messages(nameCollisions(agent(['a'], 'book_it'), [a]))).toEqual([
      'The tool Book it has the function name book_it, as the edge book_it',
    ]);
  });

  it('two of which are calculators collide, MCP servers and archived tools never', () => {
    const sums = { type: 'calculator' };
    const mcp = { type: 'mcp', config: { url: 'https://mcp.example/' } };
    const two = (definition: object, status?: ToolStatus) =>
      nameCollisions(agent(['a', 'b']), [
        tool('a', 'One', definition, status),
        tool('b', 'Other', definition),
      ]);
    expect(two(sums)).toHaveLength(1);
    expect(two(sums, 'archived')).toEqual([]);
    expect(two(mcp)).toEqual([]);
  });

  it('may be anything in what clients send', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (uuids, label) => {
        const definition = agent(uuids, label);
        expect(unknownTools(definition, [])).toHaveLength(
          definition.nodes.flatMap(({ data }) => [
            ...new Set([data['tool_uuids']].flat().filter((each) => typeof each === 'string')),
          ]).length - (typeof uuids === 'string' ? 1 : 0),
        );
        nameCollisions(definition, []);
      }),
    );
  });
});
