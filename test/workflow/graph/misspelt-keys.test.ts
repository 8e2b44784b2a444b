// A key that nothing reads and that stands for a known one was kept without a word: an agent whose webhook had `url`
// sent nothing.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { misspeltKeyWarnings } from '../../../src/workflow/graph/misspelt-keys.ts';
import { agent, definition, edge, end, start } from '../definitions.ts';

const whole = definition([start('1'), end('2')], [edge('1', '2')]);
const node = (type: string, data: object) =>
  definition([start('1'), { id: 'x', type, data: { name: 'X', prompt: 'Ask.', ...data } }]);

function found(given: Parameters<typeof misspeltKeyWarnings>[0], settings: object = {}) {
  return misspeltKeyWarnings(given, { ...settings }).map(({ field, message }) => [
    field,
    /did you mean (.*)\?$/.exec(message)?.[1],
  ]);
}

describe('a warning', () => {
  it('names the node, the key and the one that was meant', () => {
    const given = definition([start('1', { greting: 'Hello.' }), agent('2', { tool_uids: ['t'] })]);
    expect(misspeltKeyWarnings(given, {})).toEqual([
      {
        kind: 'node',
        id: '1',
        field: 'data.greting',
        message: 'Unknown key greting has no effect: did you mean greeting?',
      },
      {
        kind: 'node',
        id: '2',
        field: 'data.tool_uids',
        message: 'Unknown key tool_uids has no effect: did you mean tool_uuids?',
      },
    ]);
  });

  it.each([
    ['startCall', { greetingMessage: 'Hi.' }, 'data.greetingMessage', 'greeting'],
    ['startCall', { pre_call_fetch_ulr: 'x' }, 'data.pre_call_fetch_ulr', 'pre_call_fetch_url'],
    ['agentNode', { 'allow-interrupt': true }, 'data.allow-interrupt', 'allow_interrupt'],
    ['agentNode', { slots: [{ digits_mim: 1 }] }, 'data.slots.0.digits_mim', 'digits_min'],
    ['agentNode', { model_overrides: { sst: {} } }, 'data.model_overrides.sst', 'stt'],
    ['agentNode', { tts: {} }, 'data.tts', 'model_overrides.tts'],
    ['webhook', { method: 'PUT' }, 'data.method', 'http_method'],
    ['webhook', { payload: {} }, 'data.payload', 'payload_template'],
    ['trigger', { trigger_pat: 'p' }, 'data.trigger_pat', 'trigger_path'],
    ['qa', { sample_rate: 5 }, 'data.sample_rate', 'qa_sample_rate'],
  ])('is for %s with %j', (type, data, field, meant) => {
    expect(found(node(type, data))).toContainEqual([field, meant]);
  });

  it('is for keys of nodes and edges themselves', () => {
    const given = {
      nodes: [{ ...start('1'), positon: { x: 0, y: 0 } }],
      edges: [edge('1', '1', { transition_speach: 'x' })],
    };
    expect(found(given as never)).toEqual([
      ['positon', 'position'],
      ['data.transition_speach', 'transition_speech'],
    ]);
  });

  it.each([
    [{ max_call_duraton: 60 }, 'max_call_duraton', 'max_call_duration'],
    [{ maxCallDuration: 60 }, 'maxCallDuration', 'max_call_duration'],
    [{ sst: {} }, 'sst', 'model_overrides.stt'],
    [{ language: 'de' }, 'language', 'agent_language'],
    [{ voicemail_detecton: {} }, 'voicemail_detecton', 'voicemail_detection'],
    [{ voicemail_detection: { enabeld: true } }, 'voicemail_detection.enabeld', 'enabled'],
    [
      { transcript_configuration: { include_end_timestamp: true } },
      'transcript_configuration.include_end_timestamp',
      'include_end_timestamps',
    ],
    [{ model_override: {} }, 'model_override', 'model_overrides'],
  ])('is for settings %j', (settings, key, meant) => {
    expect(found(whole, settings)).toEqual([[`workflow_configurations.${key}`, meant]]);
  });

  it.each([
    [
      'keys of editors',
      node('agentNode', { invalid: true, validationMessage: 'x', is_end: false }),
    ],
    ['a key whose place is taken', node('webhook', { url: 'a', endpoint_url: 'b' })],
    ['null', node('webhook', { url: null })],
    ['a node of an unknown type', node('tuner', { tuner_enabeld: true })],
    ['free JSON', node('webhook', { payload_template: { greting: 1 } })],
  ])('is not for %s', (_what, given) => {
    expect(misspeltKeyWarnings(given, {})).toEqual([]);
  });

  it('is not for what a client keeps for itself', () => {
    const settings = { user_theme: 'dark', model_overrides: { stt: {} }, sst: {}, turns: 3 };
    expect(found(whole, settings)).toEqual([]);
  });

  it('is a list, never an exception, for any settings', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (settings) => {
        expect(misspeltKeyWarnings(whole, settings)).toBeInstanceOf(Array);
      }),
    );
  });
});
