// The services of one call: who decides, what falls through, which keys reach which account.

import { describe, expect, it } from 'vitest';
import {
  type ServiceProblem,
  type StoredSettings,
  sectionsOf,
  settingsIn,
} from '../../../src/model/speech-services/speech-settings.ts';

const first = ([key = '']: readonly string[]): string => key;
const elsewhere = 'https://llm.example.com/v1';

function v2(pipeline: Record<string, unknown>) {
  return { version: 2, mode: 'byok', byok: { mode: 'pipeline', pipeline } };
}

function openai(fields: Record<string, unknown> = {}) {
  return { provider: 'openai', api_key: 'sk-organization', model: 'gpt-4.1', ...fields };
}

const organization = v2({
  llm: openai(),
  tts: { provider: 'flite', voice: 'rms' },
  stt: { provider: 'pocketsphinx' },
});

function resolved(stored: Partial<StoredSettings>, pickKey = first) {
  const problems: ServiceProblem[] = [];
  const sections = sectionsOf({ organization: undefined, workflow: {}, ...stored }, problems);
  return { ...settingsIn(sections, pickKey, problems), problems };
}

describe('the settings of a call', () => {
  it("are empty without any configuration: the gateway's own services", () => {
    expect(resolved({})).toEqual({ stt: [], tts: [], llm: [], problems: [] });
  });

  it("are the organization's, with the defaults of the rows", () => {
    const { llm, tts, stt, problems } = resolved({ organization });
    expect(llm).toMatchObject([{ ...openai(), base_url: 'https://api.openai.com/v1' }]);
    expect(tts).toMatchObject([{ provider: 'flite', voice: 'rms' }]);
    expect(stt).toMatchObject([{ provider: 'pocketsphinx' }]);
    expect(problems).toEqual([]);
  });

  it('have the primary service first, then the fallbacks in their order', () => {
    const fallbacks = [openai({ model: 'second' }), { provider: 'scripted' }];
    const { llm } = resolved({ organization: v2({ llm: openai({ model: 'first', fallbacks }) }) });
    expect(llm.map((each) => ('model' in each ? each.model : each.provider))).toEqual([
      'first',
      'second',
      'scripted',
    ]);
    expect(llm[0]).not.toHaveProperty('fallbacks');
  });

  it("are the override's alone where the workflow has a whole one", () => {
    const own = v2({ tts: { provider: 'flite', voice: 'awb' } });
    const { llm, tts } = resolved({
      organization,
      workflow: { model_configuration_v2_override: own, model_overrides: { llm: openai() } },
    });
    expect(tts).toMatchObject([{ voice: 'awb' }]);
    expect(llm).toEqual([]);
  });

  it("are the user's only where the organization has none", () => {
    const legacyUser = { tts: { provider: 'flite', voice: 'kal' }, llm: null };
    expect(resolved({ legacyUser }).tts).toMatchObject([{ voice: 'kal' }]);
    expect(resolved({ organization, legacyUser }).tts).toMatchObject([{ voice: 'rms' }]);
  });

  it('take one key of a list, for the whole call', () => {
    const listed = v2({ llm: openai({ api_key: ['sk-a', 'sk-b'] }) });
    const { llm } = resolved({ organization: listed }, (keys) => keys.at(-1) ?? '');
    expect(llm).toMatchObject([{ api_key: 'sk-b' }]);
  });

  it('leave out what this version cannot use, and say so without its secrets', () => {
    const broken = v2({
      llm: openai({ base_url: 'no address', api_key: 'sk-secret', fallbacks: [openai()] }),
      tts: { provider: 'constructor', api_key: 'sk-secret' },
    });
    const { llm, tts, problems } = resolved({ organization: broken });
    expect(llm).toHaveLength(1);
    expect(tts).toEqual([]);
    expect(problems).toEqual([
      { model: 'tts', message: expect.stringMatching(/^Unknown provider: constructor\./) },
      { model: 'llm', message: expect.stringMatching(/^base_url: /) },
    ]);
    expect(JSON.stringify(problems)).not.toContain('sk-secret');
  });

  it('fall through a stored configuration of another version', () => {
    const legacyUser = { tts: { provider: 'flite', voice: 'kal' } };
    const { tts, problems } = resolved({ organization: { version: 3 }, legacyUser });
    expect(tts).toMatchObject([{ voice: 'kal' }]);
    expect(problems).toMatchObject([{ model: 'all' }]);
  });
});

describe('the older override of a workflow', () => {
  const over = (modelOverrides: Record<string, unknown>) =>
    resolved({ organization, workflow: { model_overrides: modelOverrides } });

  it('changes fields of a section; the others and the key stay', () => {
    const { llm, tts } = over({ llm: { model: 'gpt-5' } });
    expect(llm).toMatchObject([{ model: 'gpt-5', api_key: 'sk-organization' }]);
    expect(tts).toMatchObject([{ voice: 'rms' }]);
  });

  it('takes the place of a section with another provider, and inherits nothing of it', () => {
    const { llm } = over({ llm: { provider: 'scripted' } });
    expect(llm).toEqual([{ provider: 'scripted' }]);
  });

  it("does not send the organization's key to another address", () => {
    const { llm } = over({ llm: { base_url: elsewhere } });
    expect(llm).toMatchObject([{ base_url: elsewhere }]);
    expect(llm[0]).not.toHaveProperty('api_key');
    const own = over({ llm: { base_url: elsewhere, api_key: 'sk-own' } });
    expect(own.llm).toMatchObject([{ base_url: elsewhere, api_key: 'sk-own' }]);
  });

  it('finds the key of the same account among the fallbacks', () => {
    const fallback = openai({ base_url: elsewhere, api_key: 'sk-elsewhere' });
    const { llm } = resolved({
      organization: v2({ llm: { provider: 'scripted', fallbacks: [fallback] } }),
      workflow: { model_overrides: { llm: { provider: 'openai', base_url: elsewhere } } },
    });
    expect(llm).toMatchObject([{ api_key: 'sk-elsewhere' }]);
  });

  it('keeps the key where the address is given as the default', () => {
    const { llm } = over({ llm: { base_url: 'https://api.openai.com/v1' } });
    expect(llm).toMatchObject([{ api_key: 'sk-organization' }]);
  });
});
