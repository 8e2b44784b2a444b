// The catalogue, the schemas and validation say the same. Source: contract §5.3, §12.1.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeSpec, type PropertySpec } from '../../../src/model/node-spec.ts';
import { catalogue, nodeSpecOf } from '../../../src/workflow/graph/node-catalogue.ts';
import { validateDefinition } from '../../../src/workflow/graph/validate.ts';
import { nodeTypes } from '../../../src/workflow/nodes/registry.ts';
import { rounds } from '../../rounds.ts';
import { definition } from '../definitions.ts';
import { dataOf } from '../from-catalogue.ts';

const propertiesOf = (name: string) => nodeSpecOf(name)?.properties ?? [];
const names = (name: string) => propertiesOf(name).map((property) => property.name);
const property = (type: string, name: string): PropertySpec | undefined =>
  propertiesOf(type).find((each) => each.name === name);
const extraction = ['extraction_enabled', 'extraction_prompt', 'extraction_variables'];
const references = ['tool_uuids', 'document_uuids'];
const scripted = ['say', 'reprompt', 'slots'];
const services = ['language', 'voice', 'model_overrides'];

/** Problems of one node by itself, without those of the graph around it. */
const problemsOf = (type: string, data: Record<string, unknown>) =>
  validateDefinition(definition([{ id: 'x', type, data }]), { full: true }).filter(
    ({ field }) => field !== null,
  );

describe('the catalogue', () => {
  it('has the types of the contract, sorted by name', () => {
    expect(
      catalogue.map(({ name, category, icon, version }) => [name, category, icon, version]),
    ).toEqual([
      ['agentNode', 'call_node', 'Headset', '1.0.0'],
      ['endCall', 'call_node', 'OctagonX', '1.0.0'],
      ['globalNode', 'global_node', 'Globe', '1.0.0'],
      ['qa', 'integration', 'ClipboardCheck', '1.0.0'],
      ['startCall', 'call_node', 'Play', '1.0.0'],
      ['trigger', 'trigger', 'Webhook', '1.0.0'],
      ['webhook', 'integration', 'Link2', '1.0.0'],
    ]);
  });

  it('has their properties in the order of the contract, ours after them', () => {
    expect(names('startCall')).toEqual([
      ...['name', 'greeting_type', 'greeting', 'greeting_recording_id', 'prompt'],
      ...['allow_interrupt', 'add_global_prompt', 'delayed_start', 'delayed_start_duration'],
      ...extraction,
      ...references,
      ...['pre_call_fetch_mode', 'pre_call_fetch_url', 'pre_call_fetch_credential_uuid'],
      'pre_call_fetch_enabled',
      ...scripted,
      ...services,
    ]);
    const step = ['name', 'prompt', 'allow_interrupt', 'add_global_prompt'];
    expect(names('agentNode')).toEqual([
      ...step,
      ...extraction,
      ...references,
      ...scripted,
      'transfer_to_agent',
      ...services,
    ]);
    expect(names('endCall')).toEqual([
      ...['name', 'prompt', 'add_global_prompt'],
      ...extraction,
      'say',
      ...services,
    ]);
    expect(names('globalNode')).toEqual(['name', 'prompt']);
    expect(names('trigger')).toEqual(['name', 'enabled', 'trigger_path']);
    expect(names('webhook')).toEqual([
      ...['name', 'enabled', 'http_method', 'endpoint_url', 'credential_uuid'],
      ...['custom_headers', 'payload_template'],
    ]);
    expect(names('qa')).toEqual([
      ...['name', 'qa_enabled', 'qa_system_prompt', 'qa_min_call_duration', 'qa_voicemail_calls'],
      ...['qa_sample_rate', 'qa_use_workflow_llm', 'qa_provider', 'qa_model', 'qa_api_key'],
      'qa_endpoint',
    ]);
  });

  it.each([
    ['startCall', { name: 'Start Call', greeting_type: 'text', allow_interrupt: false }],
    ['startCall', { delayed_start_duration: 2, pre_call_fetch_mode: 'disabled', prompt: null }],
    ['startCall', { pre_call_fetch_enabled: null, greeting: null, extraction_enabled: false }],
    ['agentNode', { name: 'Agent', allow_interrupt: true, add_global_prompt: true, say: null }],
    ['endCall', { name: 'End Call', add_global_prompt: false, prompt: null }],
    ['globalNode', { name: 'Global Node', prompt: expect.stringMatching(/telephone/) }],
    ['trigger', { name: 'API Trigger', enabled: true, trigger_path: null }],
    ['webhook', { name: 'Webhook', enabled: true, http_method: 'POST', endpoint_url: null }],
    ['qa', { name: 'QA Analysis', qa_enabled: true, qa_use_workflow_llm: true }],
    ['qa', { qa_min_call_duration: 15, qa_voicemail_calls: false, qa_sample_rate: 100 }],
    ['qa', { qa_provider: null, qa_model: 'default', qa_api_key: null, qa_endpoint: null }],
  ])('gives a new %s %j', (type, defaults) => {
    const all = Object.fromEntries(propertiesOf(type).map((each) => [each.name, each.default]));
    expect(all).toMatchObject(defaults);
  });

  it('gives a new webhook a body that names what the contract names', () => {
    expect(Object.keys(property('webhook', 'payload_template')?.default as object)).toEqual([
      ...['call_id', 'first_name', 'rsvp', 'duration'],
      ...['recording_url', 'user_recording_url', 'bot_recording_url', 'transcript_url'],
    ]);
  });

  it('wants a name and, of steps, a prompt; of rows what names them', () => {
    const required = ({ properties }: { properties: PropertySpec[] | null }) =>
      (properties ?? []).filter((each) => each.required).map(({ name }) => name);
    for (const spec of catalogue) {
      const isStep = ['call_node', 'global_node'].includes(spec.category);
      expect(required(spec), spec.name).toEqual(isStep ? ['name', 'prompt'] : ['name']);
    }
    const rows = (type: string, name: string) => required(property(type, name) as PropertySpec);
    expect(rows('agentNode', 'extraction_variables')).toEqual(['name', 'type']);
    expect(rows('webhook', 'custom_headers')).toEqual(['key', 'value']);
  });

  it('has the whole shape, null where there is nothing to say', () => {
    for (const spec of catalogue) expect(nodeSpec.parse(spec)).toEqual(spec);
    expect(property('startCall', 'delayed_start_duration')).toEqual({
      name: 'delayed_start_duration',
      type: 'number',
      display_name: 'Seconds to wait',
      description: 'How many seconds it waits.',
      llm_hint: null,
      default: 2,
      required: false,
      placeholder: null,
      display_options: { show: { delayed_start: [true] }, hide: null },
      options: null,
      properties: null,
      min_value: 0.1,
      max_value: 10,
      min_length: null,
      max_length: null,
      pattern: null,
      editor: null,
      renderer_options: { layout: null, number_input: { fractional: true } },
    });
    expect(property('startCall', 'greeting_type')?.options).toEqual([
      { value: 'text', label: 'Spoken text', description: null },
      { value: 'audio', label: 'Recording', description: null },
    ]);
    expect(property('trigger', 'trigger_path')).toMatchObject({
      max_length: 36,
      pattern: '^[A-Za-z0-9_-]+$',
    });
  });

  it('describes for forms which numbers may have fractions; the others are whole', () => {
    const slot = property('startCall', 'slots')?.properties ?? [];
    const numbers = [...catalogue.flatMap(({ properties }) => properties), ...slot].filter(
      ({ type }) => type === 'number',
    );
    const isFractional = ({ renderer_options: hints }: PropertySpec) =>
      hints?.number_input.fractional === true;
    expect(numbers.filter(isFractional).map(({ name }) => name)).toEqual([
      ...['qa_min_call_duration', 'qa_sample_rate', 'delayed_start_duration'],
    ]);
    const whole = numbers.filter((each) => !isFractional(each));
    expect(whole.map(({ name, renderer_options }) => [name, renderer_options])).toEqual([
      ['digits_min', null],
      ['digits_max', null],
    ]);
  });

  it('describes every type, property and column', () => {
    const everyProperty = (properties: PropertySpec[]): PropertySpec[] =>
      properties.flatMap((each) => [each, ...everyProperty(each.properties ?? [])]);
    for (const spec of catalogue) {
      expect(spec.examples.length, spec.name).toBeGreaterThan(0);
      for (const { name, description, display_name } of everyProperty(spec.properties)) {
        expect(description, `${spec.name}.${name}`).toMatch(/\.$/);
        expect(display_name, `${spec.name}.${name}`).not.toBe('');
      }
    }
  });

  it('shows a property only by others that are there', () => {
    for (const spec of catalogue) {
      const known = names(spec.name);
      for (const { name, display_options: shown } of spec.properties) {
        expect(known, name).toEqual(expect.arrayContaining(Object.keys(shown?.show ?? {})));
      }
    }
  });
});

describe.each(nodeTypes.map((type) => [type.name, type] as const))('a %s', (name, type) => {
  const spec = nodeSpecOf(name);
  if (spec === undefined) throw new Error(`no entry for ${name}`);

  it('has exactly the properties of its schema in the catalogue', () => {
    expect(names(name).sort()).toEqual(Object.keys(type.data.shape).sort());
  });

  it('whose data was made from the catalogue is valid', () => {
    fc.assert(
      fc.property(dataOf(spec), (data) => {
        expect(problemsOf(name, data)).toEqual([]);
      }),
      { numRuns: rounds(60, 120) },
    );
  });

  it('has examples and, where something must be there, defaults that are valid', () => {
    const prompt = { prompt: 'Say something.' };
    for (const { data } of spec.examples) expect(problemsOf(name, data)).toEqual([]);
    const defaults = spec.properties
      .filter((each) => each.default !== null)
      .map((each) => [each.name, each.default]);
    expect(problemsOf(name, { ...prompt, ...Object.fromEntries(defaults) })).toEqual([]);
  });

  it('is refused for a required property that is not there', () => {
    const whole = fc.sample(dataOf(spec), { numRuns: 1, seed: 1 })[0] ?? {};
    for (const each of spec.properties.filter(({ required }) => required)) {
      const { [each.name]: _left, ...rest } = whole;
      expect(problemsOf(name, rest)).toMatchObject([{ id: 'x', field: `data.${each.name}` }]);
    }
  });

  it('is refused for a value beyond the bounds of the catalogue', () => {
    const whole = fc.sample(dataOf(spec), { numRuns: 1, seed: 2 })[0] ?? {};
    for (const each of spec.properties) {
      for (const value of beyond(each)) {
        const data = { ...whole, [each.name]: value };
        const field = `data.${each.name}`;
        const found = problemsOf(name, data).map((problem) => problem.field ?? '');
        expect(
          found.some((at) => at.startsWith(field)),
          `${field} = ${value}`,
        ).toBe(true);
      }
    }
  });

  it('is wherever validation allows it', () => {
    const { max_incoming: into, max_outgoing: out } = spec.graph_constraints ?? {};
    const { incomingMax, outgoingMax } = type.constraints;
    expect([into, out]).toEqual([incomingMax, outgoingMax]);
  });
});

function beyond(spec: PropertySpec): unknown[] {
  const { min_value: min, max_value: max, max_length: long, options, type } = spec;
  return [
    ...(min === null ? [] : [min - 1]),
    ...(max === null ? [] : [max + 1]),
    ...(long === null ? [] : ['x'.repeat(long + 1)]),
    ...(options === null ? [] : ['no such value']),
    ...(type === 'boolean' ? ['yes'] : []),
  ];
}
