// The plan of a call whose agent has nodes with services of their own: what they share, what is theirs, and how many.

import { afterEach, describe, expect, it } from 'vitest';
import { NODE_SERVICES_MAX } from '../../src/model/speech-services/node-services.ts';
import { llmServices, sttServices, ttsServices } from '../../src/model/speech-services/services.ts';
import { ServiceCache } from '../../src/speech/service/service-cache.ts';
import { CircuitBreaker } from '../../src/speech/service/service-circuit-breaker.ts';
import { type FaultKind, ServiceFault } from '../../src/speech/service/service-fault.ts';
import { speechAt } from '../../src/speech/speech-plan.ts';
import type { NodeSettings, SpeechServices } from '../../src/speech/speech-services.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { openedServices } from './opened-services.ts';

const stt = (language: string, model = 'flux-general-multi') =>
  sttServices.deepgram.parse({ provider: 'deepgram', api_key: 'k', model, language });
const tts = (voice: string) =>
  ttsServices.elevenlabs.parse({ provider: 'elevenlabs', api_key: 'k', voice });
const llm = (model: string) =>
  llmServices.openai.parse({ provider: 'openai', api_key: 'k', model });

let services: SpeechServices;
afterEach(() => services.close());

function planned(first: NodeSettings, nodes: Record<string, NodeSettings>) {
  const { services: opened, ...gateway } = openedServices();
  services = opened;
  return { ...opened.plan(first, new Map(Object.entries(nodes))), gateway };
}

const english: NodeSettings = { stt: [stt('en')], tts: [tts('A')], llm: [llm('gpt-5')] };

describe('the plan of an agent with services of single nodes', () => {
  it('is that of the first node, with the nodes that differ', () => {
    const german = { ...english, stt: [stt('de')], tts: [tts('B')], language: 'de' };
    const { plan, faults } = planned(english, { one: english, two: german, three: german });
    expect([...(plan.nodes?.keys() ?? [])]).toEqual(['two', 'three']);
    expect(speechAt(plan, { nodeId: 'one' })).toBe(plan);
    expect(speechAt(plan, { nodeId: null })).toBe(plan);
    const two = speechAt(plan, { nodeId: 'two' });
    expect(speechAt(plan, { nodeId: 'three' })).toBe(two);
    expect(two).toMatchObject({ sttList: 1, language: 'de' });
    expect(two.tts).not.toBe(plan.tts);
    expect(two.llm).toBe(plan.llm);
    expect(faults).toEqual([]);
  });

  it('knows the language of the words by the node, else by the recogniser’s settings', () => {
    const german = { ...english, stt: [stt('multi')], language: 'de-AT' };
    const { plan } = planned(english, { two: german, three: { ...english, stt: [stt('multi')] } });
    expect([plan.language, plan.wordsLanguage]).toEqual([undefined, 'en']);
    expect(speechAt(plan, { nodeId: 'two' }).wordsLanguage).toBe('de-AT');
    expect(speechAt(plan, { nodeId: 'three' }).wordsLanguage).toBeUndefined();
  });

  it('changes the model alone where only that differs', () => {
    const { plan } = planned(english, { two: { ...english, llm: [llm('gpt-5-mini')] } });
    const two = speechAt(plan, { nodeId: 'two' });
    expect([two.llm?.model, two.sttList, two.tts === plan.tts]).toEqual(['gpt-5-mini', 0, true]);
  });

  it('has the embedded services without a layer where no node needs one', () => {
    const none: NodeSettings = { stt: [], tts: [], llm: [] };
    const rms = ttsServices.flite.parse({ provider: 'flite', voice: 'rms' });
    const { plan, gateway } = planned(none, { two: { ...none, tts: [rms] } });
    expect([plan.stt === gateway.stt, plan.tts === gateway.tts, plan.voice]).toEqual([
      true,
      true,
      'slt',
    ]);
    expect(speechAt(plan, { nodeId: 'two' })).toMatchObject({ tts: gateway.tts, voice: 'rms' });
  });

  it('is led by one policy: no node has a model in a scripted call, every node has one in another', () => {
    const none: NodeSettings = { stt: [], tts: [], llm: [] };
    const modelled = { ...none, llm: [llm('gpt-5')] };
    const scripted = planned(none, { two: { ...modelled, language: 'en' } });
    expect(speechAt(scripted.plan, { nodeId: 'two' }).llm).toBeUndefined();
    const led = planned(modelled, { two: none });
    expect(speechAt(led.plan, { nodeId: 'two' }).llm).toBe(led.plan.llm);
  });

  it('has so many different services at most: further nodes use those of the first', () => {
    const nodes = Object.fromEntries(
      Array.from({ length: NODE_SERVICES_MAX + 4 }, (_, nth) => [
        `n${nth}`,
        { ...english, tts: [tts(`voice-${nth}`)] },
      ]),
    );
    const { plan, faults } = planned(english, nodes);
    expect(plan.nodes?.size).toBe(NODE_SERVICES_MAX - 1);
    expect(speechAt(plan, { nodeId: `n${NODE_SERVICES_MAX}` })).toBe(plan);
    expect(faults).toMatchObject([{ code: 'SPEECH_SETTINGS_INVALID', facts: { section: 'tts' } }]);
  });

  it('names the nodes whose recognisers cannot be used, and that have that of the others', () => {
    const embedded = sttServices.pocketsphinx.parse({ provider: 'pocketsphinx' });
    const { services: opened, stt: _embedded, ...rest } = openedServices({ withoutStt: true });
    services = opened;
    expect(rest.tts.name).toBe('fake');
    const nodes = { two: { ...english, stt: [embedded] }, three: english };
    const { plan, faults } = opened.plan(english, new Map(Object.entries(nodes)));
    expect(plan.stt?.name).toBe('deepgram');
    expect(faults.map(({ code }) => code)).toEqual(['SPEECH_SETTINGS_INVALID']);
    expect(faults[0]?.facts).toEqual({
      section: 'stt',
      reason: 'nodes without a usable recogniser use that of another node: two',
    });
  });

  it('names no key in what can be logged of it', () => {
    const keyed = sttServices.deepgram.parse({ provider: 'deepgram', api_key: 'secret-of-node' });
    const { plan } = planned(english, { two: { ...english, stt: [keyed] } });
    expect(JSON.stringify([plan, [...(plan.nodes ?? [])]])).not.toContain('secret-of-node');
  });
});

describe('the circuits of services with one account', () => {
  const fault = (kind: FaultKind) => new ServiceFault('tts', 'elevenlabs', kind, { detail: 'x' });
  const circuits = () => {
    const cache = new ServiceCache<object>(new FakeClock(), 'tts');
    const of = (settings: object) => cache.of(settings, 'elevenlabs', () => ({})).circuit;
    return { a: of(tts('A')), b: of(tts('B')), other: of({ ...tts('A'), api_key: 'k2' }) };
  };
  it('open together for a refused key, a used-up account and faults of the service', () => {
    for (const kind of ['auth', 'quota', 'rate'] as const) {
      const { a, b, other } = circuits();
      a.failed(fault(kind));
      expect([a.state, b.state, other.state]).toEqual(['open', 'open', 'closed']);
      expect([a.admit(), b.admit(), other.admit()]).toEqual([false, false, true]);
      expect(b.permanentFault).toBe(kind === 'rate' ? undefined : a.permanentFault);
    }
    const { a, b } = circuits();
    a.failed(fault('timeout'));
    b.failed(fault('network'));
    expect(a.state).toBe('closed');
    a.failed(fault('overload'));
    expect([a.state, b.state]).toEqual(['open', 'open']);
  });

  it('open alone for a voice that the account does not have', () => {
    const { a, b } = circuits();
    a.failed(fault('request'));
    expect([a.state, b.state, b.permanentFault]).toEqual(['open', 'closed', undefined]);
  });

  it('close together after the pause, by one call', () => {
    const clock = new FakeClock();
    const account = new CircuitBreaker({ clock, job: 'stt', service: 's' });
    const [a, b] = [0, 1].map(
      () => new CircuitBreaker({ clock, job: 'stt', service: 's', account }),
    );
    a?.failed(fault('auth'));
    clock.advance(300_000);
    expect([a?.state, b?.state]).toEqual(['half-open', 'half-open']);
    expect([b?.admit(), a?.admit()]).toEqual([true, false]);
    b?.succeeded();
    expect([a?.state, b?.state]).toEqual(['closed', 'closed']);
  });
});
