import { describe, expect, it } from 'vitest';
import { createEgress } from '../../../src/egress/egress-rule.ts';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { isServiceSecret } from '../../../src/model/speech-services/service-rows.ts';
import {
  type LlmServiceSettings,
  llmServices,
} from '../../../src/model/speech-services/services.ts';
import { openLanguageModel } from '../../../src/speech/vendors/llm-registry.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

const { scripted: _scripted, ...asked } = llmServices;
const providers = Object.keys(asked) as (keyof typeof asked)[];
const required = { api_key: 'k', endpoint: 'https://a.example', model: undefined };

function settingsOf(provider: keyof typeof asked): LlmServiceSettings {
  const address =
    provider === 'openai_compatible' ? { base_url: 'https://a.example', model: 'm' } : {};
  return asked[provider].parse({ provider, ...required, ...address }) as LlmServiceSettings;
}

const means = () => ({ clock: new FakeClock(), log: quietLog().log });

describe('the registry of language models', () => {
  it.each(providers)('opens %s from its defaults', async (provider) => {
    const settings = settingsOf(provider);
    const model = openLanguageModel([settings], means());
    expect(model).toMatchObject({ name: provider, model: settings.model });
    await model?.close();
  });

  it('warns of a model that is announced to end, with the one to take', async () => {
    const quiet = quietLog();
    const settings = { ...settingsOf('openrouter'), model: 'openai/gpt-4.1-mini-2025-04-14' };
    await openLanguageModel([settings], { clock: new FakeClock(), log: quiet.log })?.close();
    expect(quiet.lines()).toMatchObject([{ endsOn: '2027-01-14', successor: 'gpt-5.4-mini' }]);
  });

  it('opens no address that users may not reach', () => {
    const egress = createEgress({ isSignUpOpen: true, allowed: [] });
    const local = {
      ...settingsOf('ollama'),
      base_url: 'http://127.0.0.1:11434/v1',
    } as LlmServiceSettings;
    const open = () => openLanguageModel([local], { ...means(), egress });
    expect(open).toThrow();
    try {
      open();
    } catch (error) {
      expect(codeOf(error)).toBe('OUTSIDE_FORBIDDEN');
    }
  });

  it('marks keys as secrets', () => {
    expect(isServiceSecret('api_key')).toBe(true);
    expect(asked.anthropic.shape.api_key.meta()).toMatchObject({ secret: true });
  });
});
