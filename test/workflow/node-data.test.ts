import { describe, expect, it } from 'vitest';
import { stripUnknownData } from '../../src/workflow/node-data.ts';
import { transitionName, transitionTool } from '../../src/workflow/transition.ts';
import { mintTriggerPaths, triggerPathsOf } from '../../src/workflow/trigger-path.ts';
import { agent, definition, edge } from './definitions.ts';

describe("a node's data", () => {
  it('loses unknown keys and gains none', () => {
    const given = definition(
      [
        agent('1', { invalid: true, validationMessage: 'x', is_start: false, tool_uuids: ['t'] }),
        { id: '2', type: 'tuner', data: { tuner_enabled: true } },
      ],
      [edge('1', '2', { label: 'go', selected: true, dtmf: '1' })],
    );
    const stripped = stripUnknownData(given);
    expect(stripped.nodes.map(({ data }) => data)).toEqual([
      { name: 'Agent 1', prompt: 'Ask.', is_start: false, tool_uuids: ['t'] },
      { tuner_enabled: true },
    ]);
    expect(stripped.edges[0]?.data).toEqual({ label: 'go', condition: 'When it fits.', dtmf: '1' });
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

describe('a transition', () => {
  it.each([
    ['Book appointment', 'book_appointment'],
    ['Yes -- go on!', 'yes____go_on_'],
    ['Größe 2', 'gr__e_2'],
  ])('%s is named %s', (label, name) => {
    expect(transitionName(label)).toBe(name);
  });

  it('is a function without parameters', () => {
    expect(transitionTool('Go', 'When done.')).toEqual({
      name: 'go',
      description: 'When done.',
      parameters: { type: 'object', properties: {}, required: [] },
    });
  });
});
