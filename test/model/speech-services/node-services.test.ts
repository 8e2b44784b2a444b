// Services of single nodes: what they change of the call's, which keys reach them, and what is wrong with them.

import { describe, expect, it } from 'vitest';
import type { ConfiguredSections } from '../../../src/model/speech-services/model-configuration.ts';
import {
  nodeServiceProblems,
  nodeServicesExcess,
} from '../../../src/model/speech-services/node-service-problems.ts';
import {
  NODE_SERVICES_MAX,
  nodeServicesIn,
  nodeSettingsOf,
  sectionsOfNode,
} from '../../../src/model/speech-services/node-services.ts';

const first = ([key = '']: readonly string[]): string => key;

const base: ConfiguredSections = {
  stt: {
    provider: 'deepgram',
    api_key: 'dg-key',
    model: 'flux-general-multi',
    fallbacks: [{ provider: 'azure_speech', api_key: 'az-key' }],
  },
  tts: { provider: 'elevenlabs', api_key: 'el-key', voice: 'Rachel' },
  llm: { provider: 'openai', api_key: 'sk-key', model: 'gpt-5-mini' },
};

function settingsOf(data: Record<string, unknown>, sections = base) {
  const node = nodeServicesIn(data);
  if (node === undefined) throw new Error('the node has no services');
  const { nodes, problems } = nodeSettingsOf(sections, new Map([['n', node]]), first);
  const found = nodes.get('n');
  if (found === undefined) throw new Error('the node has no settings');
  return { ...found, problems };
}

describe('the services of a node', () => {
  it('are those of the call where the node sets none', () => {
    expect(nodeServicesIn({ name: 'a', prompt: 'b' })).toBeUndefined();
    expect(nodeServicesIn({ language: ' ', voice: '', model_overrides: {} })).toBeUndefined();
    expect(nodeServicesIn({ language: null, voice: 7, model_overrides: null })).toBeUndefined();
  });

  it('speak and understand the language of the node, the fallbacks too', () => {
    const { stt, tts, llm, problems } = settingsOf({ language: 'de' });
    expect(stt).toMatchObject([
      { provider: 'deepgram', language: 'de' },
      { provider: 'azure_speech', language: 'de-DE' },
    ]);
    expect(tts).toMatchObject([{ provider: 'elevenlabs', language: 'de', voice: 'Rachel' }]);
    expect(llm).toMatchObject([{ model: 'gpt-5-mini' }]);
    expect(problems).toEqual([]);
  });

  it.each([
    // Its languages are those of India, English too.
    ['stt', 'sarvam', 'hi', 'hi-IN'],
    ['stt', 'sarvam', 'en', 'en-IN'],
    ['tts', 'sarvam', 'en', 'en-IN'],
    ['tts', 'sarvam', 'ta-IN', 'ta-IN'],
    ['tts', 'camb', 'de', 'de-de'],
    ['tts', 'google', 'de', 'de-DE'],
    ['stt', 'speechmatics', 'zh', 'cmn'],
    ['stt', 'speechmatics', 'de', 'de'],
  ] as const)(
    'name the language as their service does: %s of %s, %s as %s',
    (job, provider, language, named) => {
      const settings = settingsOf({ language }, { [job]: { provider, api_key: 'key' } });
      expect(settings[job]).toMatchObject([{ provider, language: named }]);
    },
  );

  it('have the voice of the node in the first synthesiser, the embedded one where no other is configured', () => {
    expect(settingsOf({ voice: 'Otto' }).tts).toMatchObject([{ voice: 'Otto' }]);
    expect(settingsOf({ voice: 'rms' }, {}).tts).toMatchObject([
      { provider: 'flite', voice: 'rms' },
    ]);
  });

  it('are changed field by field, or replaced, and keep the fallbacks of the call', () => {
    const changed = settingsOf({ model_overrides: { stt: { keyterms: ['Ada'] } } });
    expect(changed.stt).toMatchObject([
      { provider: 'deepgram', keyterms: ['Ada'], api_key: 'dg-key' },
      { provider: 'azure_speech' },
    ]);
    const other = { provider: 'assemblyai', api_key: 'aa-key' };
    const replaced = settingsOf({ language: 'es', model_overrides: { stt: other } });
    expect(replaced.stt).toMatchObject([
      { provider: 'assemblyai', language: 'es' },
      { provider: 'azure_speech', language: 'es-ES' },
    ]);
    const alone = settingsOf({ model_overrides: { stt: { ...other, fallbacks: [] } } });
    expect(alone.stt).toHaveLength(1);
  });

  it('get a key of the call for the same account only', () => {
    const same = settingsOf({ model_overrides: { tts: { provider: 'deepgram' } } });
    expect(same.tts).toMatchObject([{ provider: 'deepgram', api_key: 'dg-key' }]);
    const elsewhere = { provider: 'deepgram', base_url: 'https://other.example.com' };
    const { tts, problems } = settingsOf({ model_overrides: { tts: elsewhere } });
    expect(tts).toEqual([]);
    expect(problems).toMatchObject([{ model: 'tts', message: expect.stringContaining('api_key') }]);
  });

  it('do not repeat what is wrong with the services of the call', () => {
    const wrong: ConfiguredSections = { ...base, llm: { provider: 'unknown-one' } };
    expect(settingsOf({ language: 'de' }, wrong).problems).toEqual([]);
  });

  it('change nothing of the services of the call', () => {
    const before = structuredClone(base);
    sectionsOfNode(base, { language: 'de', voice: 'x', overrides: { llm: { model: 'gpt-5' } } });
    expect(base).toEqual(before);
  });
});

describe('the problems of the services of a node', () => {
  it('are none where they fit', () => {
    const data = { language: 'de', voice: 'Otto', model_overrides: { llm: { model: 'gpt-5' } } };
    expect(nodeServiceProblems(base, data)).toEqual([]);
    expect(nodeServiceProblems({}, { language: 'en-GB', voice: 'rms' })).toEqual([]);
  });

  it('name a language that the embedded services do not have', () => {
    const problems = nodeServiceProblems({}, { language: 'de' });
    expect(problems.map(({ field }) => field)).toEqual(['data.language', 'data.language']);
    expect(problems[0]?.message).toBe(
      'The recogniser of this node, pocketsphinx, understands English only, and the node is in German (de): give the organization, the agent or the node a recogniser for it',
    );
    expect(problems[1]?.message).toContain('flite, speaks English only');
  });

  it('name a model or voice that has one other language only', () => {
    const sections: ConfiguredSections = {
      stt: { provider: 'deepgram', api_key: 'k', model: 'flux-general-en' },
      tts: { provider: 'deepgram', api_key: 'k' },
    };
    const messages = nodeServiceProblems(sections, { language: 'fr' }).map((each) => each.message);
    expect(messages[0]).toContain('deepgram flux-general-en, understands English only');
    expect(messages[1]).toContain('speaks English only, and the node is in French (fr)');
    expect(
      nodeServiceProblems(sections, { language: 'fr', voice: 'aura-2-agathe-fr' }),
    ).toHaveLength(1);
  });

  it('name a wrong voice, a missing key, an unknown provider and a wrong field at their places', () => {
    const at = (sections: ConfiguredSections, data: Record<string, unknown>) =>
      nodeServiceProblems(sections, data).map(({ field, message }) => `${field} ${message}`);
    expect(at({}, { voice: 'Rachel' })).toEqual([expect.stringMatching(/^data\.voice .*flite/)]);
    const overrides = (job: string, service: unknown) => ({ model_overrides: { [job]: service } });
    expect(at({}, overrides('tts', { provider: 'elevenlabs' }))).toEqual([
      expect.stringMatching(/^data\.model_overrides\.tts .*elevenlabs.*api_key/),
    ]);
    expect(at({}, overrides('stt', { provider: 'nobody' }))).toEqual([
      expect.stringContaining('Unknown provider: nobody'),
    ]);
    expect(at(base, overrides('tts', { speed: 9 }))).toEqual([expect.stringContaining('speed')]);
    expect(at({}, overrides('tts', { speed: 1 }))).toEqual([
      expect.stringContaining('names no provider'),
    ]);
    expect(at(base, overrides('realtime', {}))).toEqual([
      expect.stringContaining('realtime cannot be set for a node'),
    ]);
    expect(at(base, overrides('llm', { provider: 'scripted' }))).toEqual([
      expect.stringContaining('scripted policy'),
    ]);
    expect(at(base, { language: 'Deutsch!' })).toEqual([
      expect.stringContaining('not a language tag'),
    ]);
    // In the form of a tag, with parts that are none.
    for (const language of ['de-12', 'xx-zz-zz', 'en_US_1']) {
      expect(at(base, { language })).toEqual([expect.stringContaining('not a language tag')]);
      expect(nodeServicesIn({ language })).toBeUndefined();
    }
  });

  it('are too many different services in one agent', () => {
    const nodes = (count: number) => Array.from({ length: count }, (_, n) => ({ voice: `v${n}` }));
    expect(nodeServicesExcess(base, nodes(NODE_SERVICES_MAX - 1))).toBeUndefined();
    expect(nodeServicesExcess(base, nodes(NODE_SERVICES_MAX))).toContain('17 different voices');
  });

  it('never contain a key', () => {
    const sent = { provider: 'elevenlabs', api_key: 'xi secret with spaces', speed: 9 };
    const problems = nodeServiceProblems(base, { model_overrides: { tts: sent } });
    expect(problems.length).toBeGreaterThan(0);
    expect(JSON.stringify(problems)).not.toContain('secret');
  });
});
