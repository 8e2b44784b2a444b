// A tool that offers no function, one, or several to the model. Source: contract §5.4, §8.7.

import { describe, expect, it } from 'vitest';
import type { Tool } from '../../../src/model/tool.ts';
import { nameFunctions } from '../../../src/workflow/tools/function-name.ts';
import { offeredFunctions } from '../../../src/workflow/tools/offered-functions.ts';
import { definition, edge, end, start } from '../definitions.ts';
import { ToolConversation } from '../tool-conversation.ts';
import { typesWithServer } from './server-tool.ts';
import { storedTool } from './stored-tool.ts';

function server(uuid: string, name: string, ...functions: string[]): Tool {
  const stored = storedTool(uuid, name, { type: 'calculator' });
  return {
    ...stored,
    category: 'server',
    definition: { schema_version: 1, type: 'server', config: { functions } },
  };
}
const node = (...toolUuids: string[]) => ({ id: 'a', toolUuids, edges: [{ label: 'Done' }] });
const namesOf = (toolUuids: string[], tools: Tool[]) =>
  offeredFunctions([node(...toolUuids)], tools, typesWithServer)
    .offered.get('a')
    ?.map((each) => each.function.name);

describe('a tool with several functions', () => {
  it('offers each of them under a name of its own, in its place among the tools', () => {
    const tools = [
      server('s', 'Shop', 'list', 'find order', 'now'),
      storedTool('sums', 'Sums', { type: 'calculator' }),
      server('one', 'Desk', 'ring'),
    ];
    const { offered, skipped } = offeredFunctions(
      [node('s', 'sums', 'one')],
      tools,
      typesWithServer,
    );
    expect(skipped).toEqual([]);
    const list = offered.get('a') ?? [];
    expect(list.map((each) => [each.uuid, each.type, each.key, each.function.name])).toEqual([
      ['s', 'server', 'list', 'shop__list'],
      ['s', 'server', 'find order', 'shop__find_order'],
      ['s', 'server', 'now', 'shop__now'],
      ['sums', 'calculator', 'safe_calculator', 'safe_calculator'],
      ['one', 'server', 'ring', 'desk__ring'],
    ]);
    expect(list[1]?.function).toEqual({
      name: 'shop__find_order',
      description: 'find order of Shop',
      parameters: { type: 'object', properties: { query: { type: 'string' } } },
    });
  });

  it('that has none of them at the moment is left out, and it is said why', () => {
    const { offered, skipped } = offeredFunctions(
      [node('s')],
      [server('s', 'Shop')],
      typesWithServer,
    );
    expect(offered.size).toBe(0);
    expect(skipped).toEqual([{ nodeId: 'a', uuid: 's', reason: 'no function' }]);
  });

  it('offers at most 128 of them: a model service refuses a request with more', () => {
    const many = Array.from({ length: 130 }, (_, index) => `f${index}`);
    const tools = [server('s', 'Shop', ...many)];
    const { offered, skipped } = offeredFunctions([node('s')], tools, typesWithServer);
    expect(offered.get('a')).toHaveLength(128);
    expect(skipped).toEqual([
      { nodeId: 'a', uuid: 's', reason: 'too many', function: 'shop__f128' },
      { nodeId: 'a', uuid: 's', reason: 'too many', function: 'shop__f129' },
    ]);
  });
});

describe('functions of servers with the same name', () => {
  const tools = [server('s1', 'Shop', 'find', 'list'), server('s2', 'Shop', 'find')];

  it('get a suffix each, which does not depend on the order of the tools', () => {
    const names = namesOf(['s1', 's2'], tools) ?? [];
    expect(names).toEqual([
      expect.stringMatching(/^shop__find_[0-9a-f]{6}$/),
      'shop__list',
      expect.stringMatching(/^shop__find_[0-9a-f]{6}$/),
    ]);
    expect(new Set(names).size).toBe(3);
    expect(namesOf(['s2', 's1'], tools)).toEqual([names[2], names[0], names[1]]);
  });

  it('give way to edges and to names that an author chose', () => {
    const find = { key: 'find', namedBy: 'derived', description: '', parameters: {} } as const;
    const shop = { uuid: 's', name: 'Shop', functions: [{ ...find, name: 'x_find' }] };
    const mine = {
      uuid: 'm',
      name: 'Mine',
      functions: [{ ...find, namedBy: 'author', name: 'x_find' }],
    } as const;
    const suffixed = expect.stringMatching(/^x_find_[0-9a-f]{6}$/);
    expect(nameFunctions(['x find'], [shop])).toMatchObject([
      { name: suffixed, takenBy: undefined },
    ]);
    expect(nameFunctions([], [shop, mine])).toMatchObject([
      { name: suffixed, takenBy: undefined },
      { name: 'x_find', takenBy: undefined },
    ]);
    expect(nameFunctions(['x find'], [shop, mine])).toMatchObject([
      { name: suffixed, takenBy: undefined },
      { name: 'x_find', takenBy: 'the edge x find' },
    ]);
  });

  it('of one server differ too, and stay within what model services take', () => {
    const long = 'x'.repeat(70);
    const names = namesOf(['s'], [server('s', 'Shop', 'a b', 'a-b', `${long} b`, `${long}-b`)]);
    expect(new Set(names).size).toBe(4);
    for (const name of names ?? []) expect(name.length).toBeLessThanOrEqual(64);
  });
});

describe('a call of one of several functions', () => {
  const tools = [server('s', 'Shop', 'list', 'find order', 'now')];
  const content = definition(
    [
      start('talk', { name: 'Talk', greeting: 'Hello.', tool_uuids: ['s'] }),
      end('done', { name: 'Done' }),
    ],
    [edge('talk', 'done', { label: 'Done' })],
  );
  const talking = () =>
    new ToolConversation(content, { name: 'Ana', desk: '' }, { tools, types: typesWithServer });

  it('reaches the function by its name, and its reply is read by the tool', () => {
    const talk = talking().calls('', ['shop__find_order', { query: '7' }]);
    expect(talk.of('call-out')).toMatchObject([
      {
        tool: 'server',
        request: { url: 'https://server.example/find%20order', body: '{"query":"7"}' },
      },
    ]);
    talk.replies(200, ['sent']);
    expect(talk.results).toEqual({ c0: { from: 'find order', data: ['sent'] } });
    expect(talk.logged).toEqual([['shop__find_order', { from: 'find order', data: ['sent'] }]]);
  });

  it('runs beside calls of its other functions, each with its own result', () => {
    const talk = talking().calls('', ['shop__list'], ['shop__now'], ['shop__find_order']);
    const [list, find] = talk.of('call-out');
    if (list === undefined || find === undefined) throw new Error('two requests');
    talk.replies(200, 2, find).replies(200, 1, list);
    expect(talk.results).toEqual({
      c0: { from: 'list', data: 1 },
      c1: { key: 'now', given: {} },
      c2: { from: 'find order', data: 2 },
    });
  });

  it('under the tool’s own name of it is refused: the model calls what it was offered', () => {
    const talk = talking().calls('', ['list']);
    expect(talk.results).toEqual({
      c0: { status: 'error', error: 'There is no function list here.' },
    });
  });
});
