import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { SpeechOwner } from '../../../../src/call/start/setup/call-services.ts';
import {
  OrganizationModels,
  OrganizationSpeech,
} from '../../../../src/call/start/setup/organization-speech.ts';
import { GatewayError } from '../../../../src/errors/gateway-error.ts';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import { sttServices } from '../../../../src/model/speech-services/services.ts';
import { LanguageModels } from '../../../../src/speech/language-models.ts';
import type { LanguageModel } from '../../../../src/speech/llm/llm.ts';
import { speechAt } from '../../../../src/speech/speech-plan.ts';
import { SpeechServices } from '../../../../src/speech/speech-services.ts';
import { systemRandom } from '../../../../src/std/random.ts';
import type { CallConfiguration } from '../../../../src/store/library/model-configurations.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';
import { FakeStt, FakeTts } from '../../../fakes/speech-services.ts';
import { definition, edge, end, start } from '../../../workflow/definitions.ts';
import { ScriptedModel } from '../../scripted-model.ts';

const KEY = 'key-0123456789';
const FORBIDDEN = 'http://169.254.169.254';
const stt = { provider: 'deepgram', api_key: KEY };
const tts = { provider: 'elevenlabs', api_key: KEY };
const llm = { provider: 'openai', api_key: KEY };

let services: SpeechServices;
afterEach(() => services.close());

/** `stored`: what the organization has, or the error of the query for it. */
function open(
  stored: CallConfiguration | Error,
  of: { random?: Pick<typeof systemRandom, 'integer'>; llm?: LanguageModel } = {},
) {
  const clock = new FakeClock();
  const means = serviceMeans(clock);
  const models = new LanguageModels(of.llm, means);
  const gateway = { stt: new FakeStt(clock), tts: new FakeTts(clock), voice: 'slt' };
  services = new SpeechServices({ gateway, models, means });
  const { log, lines } = quietLog();
  const asked: string[] = [];
  const forCalls = (organizationId: string) => {
    asked.push(organizationId);
    return stored instanceof Error ? Promise.reject(stored) : Promise.resolve(stored);
  };
  const deps = {
    store: { modelConfigurations: { forCalls } },
    random: of.random ?? systemRandom,
    log,
  };
  const speech = new OrganizationSpeech({ ...deps, services } as never);
  const planOf = (
    configurations: Record<string, unknown> = {},
    more: Partial<Omit<SpeechOwner, 'organizationId'>> = {},
  ) => speech.planOf({ organizationId: '7', configurations, ...more });
  return {
    clock,
    speech,
    planOf,
    asked,
    lines,
    models: new OrganizationModels({ ...deps, models } as never),
  };
}

const configured = (pipeline: object): CallConfiguration => ({
  organization: { version: 2, mode: 'byok', byok: { mode: 'pipeline', pipeline } },
});
const codes = (faults: readonly GatewayError[]) => faults.map(({ code }) => code);

describe("the speech services of an organization's call", () => {
  it("are the gateway's where nothing is stored", async () => {
    const { planOf, asked } = open(undefined);
    const { plan, faults } = await planOf();
    expect([plan.stt?.name, plan.tts.name, plan.voice, plan.llm]).toEqual([
      ...['fake', 'fake', 'slt'],
      undefined,
    ]);
    expect([faults, asked]).toEqual([[], ['7']]);
  });

  it('are those of the organization', async () => {
    const { planOf } = open(configured({ stt, tts, llm }));
    const { plan, faults } = await planOf();
    expect([plan.stt?.name, plan.tts.name]).toEqual(['deepgram', 'elevenlabs']);
    expect(plan.llm).toBeDefined();
    expect(faults).toEqual([]);
  });

  it('stand in the log with the run of the call in which they fail', async () => {
    const gone = { base_url: 'http://127.0.0.1:9' };
    const model = { ...llm, ...gone, fallbacks: [{ ...llm, ...gone, model: 'other' }] };
    const { planOf, lines, clock } = open(
      configured({ stt: { ...stt, ...gone }, tts: { ...tts, ...gone }, llm: model }),
    );
    const { plan } = await planOf({}, { runId: '42' });
    const nothing = (): void => undefined;
    const listener = { onPartial: nothing, onFinal: nothing, onError: nothing };
    const session = plan.stt?.open(OPEN_SPEECH, listener);
    const spoken = { onAudio: nothing, onWords: nothing, onDone: nothing, onError: nothing };
    plan.tts.stream?.(undefined, spoken).push('Hello there.');
    const asked = { messages: [{ role: 'user' as const, content: 'Hi.' }], tools: [] };
    void plan.llm
      ?.respond(asked as never, { onText: nothing }, AbortSignal.timeout(20_000))
      .catch(nothing);
    const runOf = (text: string) => lines().find(({ msg }) => msg === text)?.['runId'];
    await vi.waitFor(async () => {
      await clock.advanceAsync(1_000, 50);
      const failed = 'language model failed, the next one is used';
      const runs = ['recogniser replaced', 'voice failed', failed].map(runOf);
      expect(runs).toEqual(['42', '42', '42']);
    });
    session?.close();
  });

  it("are those of the workflow's version where it has its own", async () => {
    const { planOf } = open(configured({ stt, tts, llm }));
    const override = {
      version: 2,
      mode: 'byok',
      byok: { mode: 'pipeline', pipeline: { stt: { provider: 'assemblyai', api_key: KEY } } },
    };
    const { plan } = await planOf({ model_configuration_v2_override: override });
    expect([plan.stt?.name, plan.tts.name]).toEqual(['assemblyai', 'fake']);
  });

  it('are those of the node in which the call begins, over those of its agent', async () => {
    const { planOf } = open(configured({ stt, tts }));
    const own = { stt: { provider: 'assemblyai', api_key: KEY } };
    const first = start('ask', { greeting: 'Hello.', model_overrides: own });
    const talk = definition([first, end('bye')], [edge('ask', 'bye', { label: 'Finish' })]);
    const { plan } = await planOf({}, { definition: talk });
    expect([plan.stt?.name, plan.tts.name]).toEqual(['assemblyai', 'elevenlabs']);
    expect(plan.nodes?.get('bye')?.sttList).toBe(1);
  });

  it('are also planned for each language of a tool, at every node, if they have it', async () => {
    const { planOf } = open(configured({ stt, tts, llm }));
    const talk = definition([start('ask', { voice: 'v' }), end('bye')]);
    const { plan, languages, faults } = await planOf(
      {},
      { definition: talk, languages: [{ language: 'de', voice: 'w' }, { language: 'fr' }] },
    );
    expect(languages?.get('')).toEqual(['de', 'fr']);
    expect(faults).toEqual([]);
    const at = (nodeId: string, language?: string) => speechAt(plan, { nodeId, language });
    expect(at('ask', 'de').language).toBe('de');
    expect(at('ask', 'de').tts).not.toBe(at('ask').tts);
    expect(at('ask', 'de').sttList).not.toBe(at('ask', 'fr').sttList);
    // The voice of the language is that of every node; without one it is the node's.
    expect(at('ask', 'de').tts).toBe(at('bye', 'de').tts);
    expect(at('ask', 'fr').tts).not.toBe(at('bye', 'fr').tts);
  });

  it('do not offer a language that recogniser or voice lack, and say so to an agent with a model', async () => {
    const { planOf } = open(configured({ llm }));
    const talk = definition([start('ask'), end('bye')]);
    const more = { definition: talk, languages: [{ language: 'de' }, { language: 'en-GB' }] };
    const { plan, languages, faults } = await planOf({}, more);
    expect(languages?.get('')).toEqual(['en-GB']);
    expect(faults.map(({ message }) => message)).toEqual([
      expect.stringContaining('the language de is not offered'),
    ]);
    expect(speechAt(plan, { nodeId: 'ask', language: 'de' })).toBe(plan);
    await services.close();
    const scripted = open(undefined);
    expect((await scripted.planOf({}, more)).faults).toEqual([]);
  });

  it('of another agent of the call are its own, whatever its nodes are called', async () => {
    const { planOf } = open(configured({ stt, tts }));
    const talk = definition([start('ask'), end('bye')]);
    const own = { stt: { provider: 'assemblyai', api_key: KEY }, llm };
    const override = { version: 2, mode: 'byok', byok: { mode: 'pipeline', pipeline: own } };
    const configurations = { model_configuration_v2_override: override, agent_language: 'es' };
    const { plan } = await planOf(
      {},
      { definition: talk, others: [{ agent: 'billing', configurations, definition: talk }] },
    );
    const other = speechAt(plan, { agent: 'billing', nodeId: 'ask' });
    expect([plan.stt?.name, plan.llm]).toEqual(['deepgram', undefined]);
    expect(other).toMatchObject({ sttList: 1, language: 'es' });
    expect(other.llm).toBeDefined();
    expect(speechAt(plan, { nodeId: 'ask' })).toBe(plan);
  });

  it('have one key of a list in all services and nodes of a call', async () => {
    let picks = 0;
    const integer = () => picks++ % 2;
    const keys = [KEY, `${KEY}-2`];
    const listed = { stt: { ...stt, api_key: keys }, tts: { ...tts, api_key: keys } };
    const { planOf } = open(configured(listed), { random: { integer } });
    const first = start('ask', { greeting: 'Hello.', voice: 'v' });
    const talk = definition([first, end('bye')], [edge('ask', 'bye', { label: 'Finish' })]);
    await planOf({}, { definition: talk });
    expect(picks).toBe(1);
  });

  // A call that picked a key at its limit, or one of a used-up account, had the embedded services all along.
  it.each([
    ['all sessions in use', 101],
    ['an account that is used up', 402],
  ])('have another key of the list beside one with %s', async (_, status) => {
    const server = createServer((_request, response) => response.writeHead(status).end('{}'));
    server.on('upgrade', (_request, socket) => {
      if (status !== 101) socket.end(`HTTP/1.1 ${status} Refused\r\n\r\n`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const keys = [KEY, `${KEY}-2`];
    const baseUrl = `http://127.0.0.1:${port}`;
    const listed = { ...stt, base_url: baseUrl, api_key: keys, concurrency_limit: 1 };
    const { planOf } = open(configured({ stt: listed }), { random: { integer: () => 0 } });
    const nothing = (): void => undefined;
    const listener = { onPartial: nothing, onFinal: nothing, onError: nothing };
    const session = (await planOf()).plan.stt?.open(OPEN_SPEECH, listener);
    const settings = keys.map((apiKey) =>
      sttServices.deepgram.parse({ ...listed, api_key: apiKey }),
    );
    await vi.waitFor(() => {
      expect(settings.map((each) => services.isUsable('stt', each))).toEqual([false, true]);
    });
    const { plan, faults } = await planOf();
    expect([plan.stt?.name, faults]).toEqual(['deepgram', []]);
    session?.close();
    server.closeAllConnections();
    server.close();
  });

  it("have the gateway's language model where nobody names one", async () => {
    const model = new ScriptedModel(new FakeClock());
    const { planOf } = open(configured({ stt }), { llm: model });
    expect((await planOf()).plan.llm).toBe(model);
  });

  it('are without unknown services of a later version, each a fault of the call', async () => {
    const { planOf } = open(configured({ stt: { provider: 'no-such-service' }, tts }));
    const { plan, faults } = await planOf();
    expect([plan.stt?.name, plan.tts.name]).toEqual(['fake', 'elevenlabs']);
    expect(codes(faults)).toEqual(['SPEECH_SETTINGS_INVALID']);
  });

  it('keep the others where one has a forbidden address', async () => {
    const { planOf } = open(configured({ stt, tts, llm: { ...llm, base_url: FORBIDDEN } }));
    const { plan, faults } = await planOf();
    expect([plan.stt?.name, plan.tts.name]).toEqual(['deepgram', 'elevenlabs']);
    expect(plan.llm).toBeUndefined();
    expect(codes(faults)).toEqual(['OUTSIDE_FORBIDDEN']);
  });

  it("are the gateway's while the database is away, and the call begins", async () => {
    const { planOf, lines } = open(new GatewayError('STORE_UNAVAILABLE', {}));
    const { plan, faults } = await planOf();
    expect([plan.stt?.name, plan.tts.name]).toEqual(['fake', 'fake']);
    expect(codes(faults)).toEqual(['STORE_UNAVAILABLE']);
    expect(JSON.stringify(lines())).toContain('speech services not read');
  });

  it('name no key in faults and logs', async () => {
    const { planOf, lines } = open(configured({ llm: { ...llm, base_url: FORBIDDEN } }));
    const { faults } = await planOf();
    expect(codes(faults)).toEqual(['OUTSIDE_FORBIDDEN']);
    expect(JSON.stringify(faults.map(({ message, facts }) => [message, facts]))).not.toContain(KEY);
    expect(JSON.stringify(lines())).not.toContain(KEY);
  });
});

describe('the language model of a process without calls', () => {
  it("is the organization's", async () => {
    const { models } = open(configured({ llm }));
    expect(await models.languageModelOf({ organizationId: '7', configurations: {} })).toBeDefined();
  });

  it("is the gateway's where the address is forbidden", async () => {
    const { models, lines } = open(configured({ llm: { ...llm, base_url: FORBIDDEN } }));
    const found = await models.languageModelOf({ organizationId: '7', configurations: {} });
    expect(found).toBeUndefined();
    expect(JSON.stringify(lines())).toContain('language model not usable');
  });
});
