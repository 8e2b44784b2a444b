import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { workflowDefinition } from '../../../src/model/workflow.ts';
import { validateDefinition } from '../../../src/workflow/graph/validate.ts';
import { agent, definition, edge, end, start } from '../definitions.ts';

const full = { full: true };
const valid = definition([start('1'), agent('2'), end('3')], [edge('1', '2'), edge('2', '3')]);

function messages(given: Parameters<typeof validateDefinition>[0], options = full): string[] {
  return validateDefinition(given, options).map(({ message }) => message);
}

describe('validation of a workflow', () => {
  it('finds nothing wrong with a whole definition', () => {
    expect(validateDefinition(valid, full)).toEqual([]);
  });

  it('names the node whose prompt is missing', () => {
    const broken = definition(
      [start('1'), agent('2', { prompt: ' ' }), end('3')],
      [edge('1', '2'), edge('2', '3')],
    );
    expect(validateDefinition(broken, full)).toEqual([
      {
        kind: 'node',
        id: '2',
        field: 'data.prompt',
        message: 'Value error, prompt is required for agent nodes',
      },
    ]);
  });

  it('takes null for a field that is not set, and the two older flags', () => {
    const nulls = { greeting: null, extraction_variables: null, is_start: true, tool_uuids: null };
    expect(messages(definition([start('1', nulls)]))).toEqual([]);
  });

  it('wants a label and a condition on every edge', () => {
    const bare = definition([start('1'), end('2')], [edge('1', '2', { label: '', condition: '' })]);
    expect(validateDefinition(bare, full)).toMatchObject([
      { kind: 'edge', field: 'data.label' },
      { kind: 'edge', field: 'data.condition' },
    ]);
  });

  it.each([
    ['no start', [agent('2')], 'Workflow must have at least one Start Call'],
    ['two starts', [start('1'), start('2')], 'Workflow can have at most one Start Call'],
    [
      'an unreached agent',
      [start('1'), agent('2')],
      'Agent Node must have at least 1 incoming edge(s)',
    ],
    ['an unreached end', [start('1'), end('2')], 'End Call must have at least 1 incoming edge(s)'],
    ['an unknown type', [start('1'), { id: '2', type: 'tuner' }], 'Unknown node type tuner'],
    ['a repeated id', [start('1'), agent('1')], 'Node id 1 is used more than once'],
  ])('reports %s', (_what, nodes, message) => {
    expect(messages(definition(nodes))).toContain(message);
  });

  it.each([
    [
      'an edge into the start',
      [edge('1', '2'), edge('2', '1')],
      'Start Call cannot have incoming edges',
    ],
    [
      'an edge out of the end',
      [edge('1', '2'), edge('3', '2'), edge('2', '3')],
      'End Call cannot have outgoing edges',
    ],
    ['an edge from nowhere', [edge('9', '2')], 'Source node 9 does not exist'],
    ['an edge to nowhere', [edge('1', '9')], 'Target node 9 does not exist'],
  ])('reports %s', (_what, edges, message) => {
    expect(messages(definition([start('1'), agent('2'), end('3')], edges))).toContain(message);
  });

  it.each([
    ['webhook', {}, 'Webhook'],
    ['qa', {}, 'QA Analysis'],
    ['globalNode', { prompt: 'Be short.' }, 'Global Node'],
    ['trigger', { trigger_path: 'mine' }, 'API Trigger'],
  ])('reports an edge into or out of a node that stands alone: %s', (type, data, name) => {
    const beside = { id: 'x', type, data: { name: 'X', ...data } };
    const withEdge = (drawn: ReturnType<typeof edge>) =>
      messages(definition([start('1'), beside], [drawn]));
    expect(withEdge(edge('1', 'x'))).toContain(`${name} cannot have incoming edges`);
    expect(withEdge(edge('x', '1')).join()).toContain('cannot have');
    expect(messages(definition([start('1'), beside]))).toEqual([]);
  });

  it.each([
    [{ name: '' }, 'data.name'],
    [{ prompt: '' }, 'data.prompt'],
    [{ allow_interrupt: 'x' }, 'data.allow_interrupt'],
    [{ extraction_variables: [{ name: 'v', type: 'date' }] }, 'data.extraction_variables.0.type'],
    [{ extraction_variables: [{ name: '', type: 'string' }] }, 'data.extraction_variables.0.name'],
  ])('holds an agent node to its fields: %j', (data, field) => {
    const given = definition([start('1'), agent('2', data)], [edge('1', '2')]);
    expect(validateDefinition(given, full)).toMatchObject([{ kind: 'node', id: '2', field }]);
  });

  it('holds a start and the speech of an edge to their fields', () => {
    const late = definition([start('1', { delayed_start_duration: 11 })]);
    const field = 'data.delayed_start_duration';
    expect(validateDefinition(late, full)).toMatchObject([{ kind: 'node', id: '1', field }]);
    const song = edge('1', '2', { transition_speech_type: 'song' });
    expect(validateDefinition(definition([start('1'), end('2')], [song]), full)).toMatchObject([
      { kind: 'edge', field: 'data.transition_speech_type' },
    ]);
  });

  it.each([
    ['webhook', { http_method: 'TRACE' }, 'data.http_method'],
    ['webhook', { custom_headers: [{ key: '', value: 'v' }] }, 'data.custom_headers.0.key'],
    ['webhook', { payload_template: 'text' }, 'data.payload_template'],
    ['qa', { qa_sample_rate: 0 }, 'data.qa_sample_rate'],
    ['qa', { qa_sample_rate: 101 }, 'data.qa_sample_rate'],
    ['qa', { qa_min_call_duration: -1 }, 'data.qa_min_call_duration'],
    ['qa', { qa_provider: 'nobody' }, 'data.qa_provider'],
  ])('holds a %s node to its fields: %j', (type, data, field) => {
    const given = definition([start('1'), { id: 'x', type, data: { name: 'X', ...data } }]);
    expect(validateDefinition(given, full)).toMatchObject([{ kind: 'node', id: 'x', field }]);
  });

  it.each([
    [
      'webhook',
      { url: 'https://a.example' },
      'data.endpoint_url',
      'did you mean endpoint_url by url?',
    ],
    ['webhook', { url: 'https://a.example', endpoint_url: '' }, 'data.endpoint_url', 'by url?'],
    ['webhook', { endpoint_ulr: 'https://a.example' }, 'data.endpoint_url', 'by endpoint_ulr?'],
    ['webhook', { endpointUrl: 'https://a.example' }, 'data.endpoint_url', 'by endpointUrl?'],
    ['qa', { qa_use_workflow_llm: false, api_key: 'k' }, 'data.qa_api_key', 'by api_key?'],
  ])(
    'refuses a node that a misspelt key leaves without effect: %s %j',
    (type, data, field, message) => {
      const given = definition([start('1'), { id: 'x', type, data: { name: 'X', ...data } }]);
      expect(validateDefinition(given, full)).toEqual([
        { kind: 'node', id: 'x', field, message: expect.stringContaining(message) },
      ]);
      expect(validateDefinition(given, { full: false })).toEqual([]);
    },
  );

  it.each([
    ['webhook', {}],
    ['webhook', { url: 'https://a.example', enabled: false }],
    ['qa', { api_key: 'k', qa_enabled: false, qa_use_workflow_llm: false }],
    ['qa', {}],
  ])('allows a node that is unfinished or switched off: %s %j', (type, data) => {
    const given = definition([start('1'), { id: 'x', type, data: { name: 'X', ...data } }]);
    expect(messages(given)).toEqual([]);
  });

  it('counts several edges between the same two nodes once', () => {
    const twice = [edge('1', '2', { label: 'yes' }), edge('1', '2', { label: 'no' })];
    expect(messages(definition([start('1'), end('2')], twice))).toEqual([]);
  });

  it('allows loops that wait for the caller', () => {
    const looping = [edge('1', '2'), edge('2', '2', { label: 'again' })];
    expect(messages(definition([start('1'), agent('2')], looping))).toEqual([]);
  });

  it('refuses a circle of edges that are taken always', () => {
    const always = { condition: 'Always' };
    const circle = [edge('1', '2'), edge('2', '3', always), edge('3', '2', always)];
    expect(messages(definition([start('1'), agent('2'), agent('3')], circle))).toEqual([
      'Edges taken always form a cycle',
    ]);
  });

  it('refuses two transitions of one node with the same function name, in drafts too', () => {
    const same = [edge('1', '2', { label: 'Go on!' }), edge('1', '2', { label: 'go on?' })];
    const given = definition([start('1'), end('2')], same);
    for (const options of [{ full: false }, full]) {
      expect(validateDefinition(given, options)).toMatchObject([
        { kind: 'edge', field: 'data.label', message: expect.stringContaining('go_on_') },
      ]);
    }
  });

  it.each([
    ['too long', 'x'.repeat(37), /too long/],
    ['of other characters', 'a b', /letters, digits/],
  ])('refuses a trigger path that is %s', (_what, path, message) => {
    const node = { id: 't', type: 'trigger', data: { name: 'T', trigger_path: path } };
    expect(validateDefinition(definition([node]), { full: false })).toMatchObject([
      {
        kind: 'node',
        id: 't',
        field: 'data.trigger_path',
        message: expect.stringMatching(message),
      },
    ]);
  });

  it('refuses a trigger path that the workflow uses twice', () => {
    const nodes = ['a', 'b'].map((id) => ({
      id,
      type: 'trigger',
      data: { name: id, trigger_path: 'p' },
    }));
    expect(messages(definition(nodes), { full: false })).toEqual([
      'Workflow can have at most one API Trigger',
      'Trigger path p is duplicated in this workflow',
    ]);
  });

  it('allows a draft to be incomplete', () => {
    expect(messages(definition([]), { full: false })).toEqual([]);
    expect(
      messages(definition([agent('2', { prompt: '' })], [edge('2', '9')]), { full: false }),
    ).toEqual([]);
  });

  it('says which nodes need a language model, for the scripted policy alone', () => {
    const given = definition(
      [start('1', { greeting: 'Hello.' }), agent('2'), end('3', { say: 'Goodbye.' })],
      [edge('1', '2'), edge('2', '3')],
    );
    expect(validateDefinition(given, full)).toEqual([]);
    expect(validateDefinition(given, { full: true, policy: 'scripted' })).toMatchObject([
      { kind: 'node', id: '2', field: 'data.say' },
    ]);
  });

  it('gives problems, never an exception, for anything that has the stored shape', () => {
    const shape = fc.record({
      nodes: fc.array(
        fc.record({
          id: fc.constantFrom('1', '2', '3', ''),
          type: fc.constantFrom('startCall', 'agentNode', 'endCall', 'trigger', 'globalNode', 'x'),
          data: fc.dictionary(fc.string(), fc.jsonValue()),
        }),
        { maxLength: 5 },
      ),
      edges: fc.array(
        fc.record({
          id: fc.string(),
          source: fc.constantFrom('1', '2', '3', ''),
          target: fc.constantFrom('1', '2', '3', ''),
          data: fc.record({ condition: fc.constantFrom('always', 'x'), label: fc.jsonValue() }),
        }),
        { maxLength: 8 },
      ),
    });
    fc.assert(
      fc.property(shape, fc.boolean(), (given, whole) => {
        const found = validateDefinition(workflowDefinition.parse(given), { full: whole });
        expect(found.every(({ message }) => message.length > 0)).toBe(true);
      }),
    );
  });
});
