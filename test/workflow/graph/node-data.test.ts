import { describe, expect, it } from 'vitest';
import { edgeFunction, edgeFunctionName } from '../../../src/workflow/graph/edge-function.ts';
import { keepUnseen, storedForm, stripUnknownData } from '../../../src/workflow/graph/node-data.ts';
import { PROMPT_MISSING } from '../../../src/workflow/graph/public-definition.ts';
import {
  isTriggerEnabled,
  mintTriggerPaths,
  triggerPathsOf,
} from '../../../src/workflow/graph/trigger-path.ts';
import { agent, definition, edge, start } from '../definitions.ts';

describe("a node's data", () => {
  it('loses unknown keys and gains none', () => {
    const given = definition(
      [
        agent('1', {
          invalid: true,
          validationMessage: 'x',
          is_start: false,
          mcp_tool_filters: { m: ['t'] },
          tool_uuids: ['t'],
        }),
        { id: '2', type: 'tuner', data: { tuner_enabled: true } },
      ],
      [edge('1', '2', { label: 'go', selected: true, dtmf: '1' })],
    );
    const stripped = stripUnknownData(given);
    expect(stripped.nodes.map(({ data }) => data)).toEqual([
      { name: 'Agent 1', prompt: 'Ask.', mcp_tool_filters: { m: ['t'] }, tool_uuids: ['t'] },
      { tuner_enabled: true },
    ]);
    expect(stripped.edges[0]?.data).toEqual({ label: 'go', condition: 'When it fits.', dtmf: '1' });
  });
});

describe('a misspelt key', () => {
  it('stays in the data of nodes and edges, so that validate can name it', () => {
    const given = definition(
      [
        agent('1', { tool_uids: ['t'] }),
        { id: 'w', type: 'webhook', data: { name: 'W', url: 'u' } },
      ],
      [edge('1', 'w', { transition_speach: 'One moment.' })],
    );
    expect(stripUnknownData(given)).toEqual(given);
  });
});

describe('what a client could not see', () => {
  const filters = { mcp_tool_filters: { m: ['t'] } };
  const stored = definition([agent('1', { ...filters, invalid: true }), agent('2', filters)]);
  const sent = (nodes: object[]) => keepUnseen(definition(nodes as never), stored).nodes;

  it('stays as it was in nodes of the same id and type, and nowhere else', () => {
    const kept = sent([agent('1'), { ...start('2') }, agent('3')]);
    expect(kept.map(({ data }) => data['mcp_tool_filters'])).toEqual([
      filters.mcp_tool_filters,
      undefined,
      undefined,
    ]);
    expect(kept[0]?.data).not.toHaveProperty('invalid');
  });

  it('is replaced by a client that names it', () => {
    expect(sent([agent('1', { mcp_tool_filters: {} })])[0]?.data['mcp_tool_filters']).toEqual({});
  });
});

describe('the stored form of a definition', () => {
  const modeOf = (data: object) =>
    storedForm(definition([start('1', { ...data })])).nodes[0]?.data ?? {};

  it.each([
    [{ pre_call_fetch_enabled: true }, 'always'],
    [{ pre_call_fetch_enabled: true, pre_call_fetch_mode: 'disabled' }, 'always'],
    [{ pre_call_fetch_enabled: true, pre_call_fetch_mode: 'inbound' }, 'inbound'],
    [{ pre_call_fetch_enabled: false, pre_call_fetch_mode: 'inbound' }, 'inbound'],
    [{ pre_call_fetch_enabled: false }, 'disabled'],
    [{ pre_call_fetch_enabled: null, pre_call_fetch_mode: null }, 'disabled'],
    [{ pre_call_fetch_mode: 'outbound' }, 'outbound'],
    [{}, undefined],
  ])('has the mode for the older flag: %j', (data, mode) => {
    expect(modeOf(data)['pre_call_fetch_mode']).toBe(mode);
    expect(modeOf(data)).not.toHaveProperty('pre_call_fetch_enabled');
  });

  it('has no prompt where the client only returned the placeholder of a missing one', () => {
    const given = definition([agent('1', { prompt: PROMPT_MISSING }), agent('2')]);
    expect(storedForm(given).nodes.map(({ data }) => data['prompt'])).toEqual([undefined, 'Ask.']);
  });
});

describe('trigger paths', () => {
  const triggers = definition([
    { id: 'a', type: 'trigger', data: { name: 'A' } },
    { id: 'b', type: 'trigger', data: { name: 'B', trigger_path: 'own' } },
    { id: 'c', type: 'trigger', data: { name: 'C', trigger_path: null } },
    agent('2', { trigger_path: 'not-mine' }),
  ]);
  let count = 0;
  const random = { uuid: () => `uuid-${++count}`, bytes: () => Buffer.alloc(0), integer: () => 0 };

  it('are minted where they are missing and kept where they are not', () => {
    expect(triggerPathsOf(triggers)).toEqual(['own']);
    expect(triggerPathsOf(mintTriggerPaths(triggers, random))).toEqual(['uuid-1', 'own', 'uuid-2']);
    expect(triggerPathsOf(triggers)).toEqual(['own']);
  });
});

describe('a trigger', () => {
  const triggers = definition([
    { id: 'a', type: 'trigger', data: { name: 'A', trigger_path: 'on' } },
    { id: 'b', type: 'trigger', data: { name: 'B', trigger_path: 'off', enabled: false } },
  ]);

  it('is on unless it is switched off', () => {
    expect(['on', 'off', 'none'].map((path) => isTriggerEnabled(triggers, path))).toEqual([
      true,
      false,
      undefined,
    ]);
  });
});

describe('a transition', () => {
  it.each([
    ['Book appointment', 'book_appointment'],
    ['Yes -- go on!', 'yes____go_on_'],
    ['Größe 2', 'gr__e_2'],
  ])('%s is named %s', (label, name) => {
    expect(edgeFunctionName(label)).toBe(name);
  });

  it('is a function without parameters', () => {
    expect(edgeFunction('Go', 'When done.')).toEqual({
      name: 'go',
      description: 'When done.',
      parameters: { type: 'object', properties: {}, required: [] },
    });
  });
});
