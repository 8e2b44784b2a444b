import { afterEach, describe, expect, it } from 'vitest';
import { createEgress } from '../../src/egress/egress-rule.ts';
import { llmServices } from '../../src/model/speech-services/llm.ts';
import type { SttSettings, TtsSettings } from '../../src/model/speech-services/speech-settings.ts';
import { sttServices } from '../../src/model/speech-services/stt.ts';
import { ttsServices } from '../../src/model/speech-services/tts.ts';
import { LanguageModels } from '../../src/speech/language-models.ts';
import { WarmConnections } from '../../src/speech/service/warm-connections.ts';
import { SpeechServices } from '../../src/speech/speech-services.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { FakeStt, FakeTts } from '../fakes/speech-services.ts';

const deepgram = (apiKey: string): SttSettings =>
  sttServices.deepgram.parse({ provider: 'deepgram', api_key: apiKey });
const elevenlabs = (apiKey: string): TtsSettings =>
  ttsServices.elevenlabs.parse({ provider: 'elevenlabs', api_key: apiKey });
const flite: TtsSettings = ttsServices.flite.parse({ provider: 'flite', voice: 'rms' });
const none = { stt: [], tts: [], llm: [] };

let services: SpeechServices;
afterEach(() => services.close());

function open() {
  const clock = new FakeClock();
  const { log } = quietLog();
  const egress = createEgress();
  const means = { clock, log, egress, warm: new WarmConnections({ clock, egress }) };
  const stt = new FakeStt(clock);
  const tts = new FakeTts(clock);
  const models = new LanguageModels(undefined, means);
  services = new SpeechServices({ gateway: { stt, tts, voice: 'slt' }, models, means });
  return { services, stt, tts };
}

describe('the speech plan of a call', () => {
  it('has the services of the gateway where nothing is configured, without a layer between', () => {
    const { services, stt, tts } = open();
    expect(services.plan(none)).toEqual({ stt, tts, voice: 'slt', llm: undefined });
  });

  it('has the configured services, and is named after the first', () => {
    const { services } = open();
    const plan = services.plan({
      stt: [deepgram('k1')],
      tts: [elevenlabs('k2')],
      llm: [llmServices.openai.parse({ provider: 'openai', api_key: 'k3' })],
    });
    expect([plan.stt?.name, plan.tts.name]).toEqual(['deepgram', 'elevenlabs']);
    expect(plan.voice).toBeUndefined();
  });

  it('has the embedded voice that is chosen', () => {
    const { services, tts } = open();
    expect(services.plan({ ...none, tts: [flite] })).toMatchObject({ tts, voice: 'rms' });
  });

  it('has no language model where the scripted policy is chosen', () => {
    const { services } = open();
    expect(services.plan({ ...none, llm: [{ provider: 'scripted' }] }).llm).toBeUndefined();
  });

  it('names no key in what can be logged of it', () => {
    const { services } = open();
    const plan = services.plan({ ...none, stt: [deepgram('secret-key-1')] });
    expect(JSON.stringify({ name: plan.stt?.name, model: plan.stt?.model })).not.toContain(
      'secret',
    );
  });
});
