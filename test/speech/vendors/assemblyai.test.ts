import { afterEach, describe, expect, it, vi } from 'vitest';
import { OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import { sttServices } from '../../../src/model/speech-services/services.ts';
import { kindOfClose } from '../../../src/speech/vendors/assemblyai.ts';
import { createSttService } from '../../../src/speech/vendors/stt-registry.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import { startAssemblyAiServer } from '../../fakes/services/assemblyai-server.ts';
import { serviceMeans } from '../../fakes/services/service-means.ts';
import type { SttFaults, SttServer, SttSession } from '../../fakes/services/stt-server.ts';
import { capturedRequest, sdkRequest } from '../captured-request.ts';
import { RecognizerRig } from '../stt/recognizer-rig.ts';
import { serviceContract } from '../stt/streaming/service-contract.ts';

const KEY = 'aai-key-0123456789';
const MODEL = 'universal-streaming-english';
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function connect(
  given: {
    faults?: SttFaults;
    settings?: object;
    sessionMsMax?: number;
    expectation?: typeof OPEN_SPEECH;
  } = {},
): Promise<{ rig: RecognizerRig; server: SttServer }> {
  const clock = new FakeClock();
  const { sessionMsMax } = given;
  const server = await startAssemblyAiServer({
    clock,
    key: KEY,
    faults: given.faults === undefined ? [] : [given.faults],
    ...(sessionMsMax !== undefined && { sessionMsMax }),
  });
  opened.push(server);
  const settings = sttServices.assemblyai.parse({
    provider: 'assemblyai',
    api_key: KEY,
    model: MODEL,
    base_url: server.url,
    ...given.settings,
  });
  const rig = new RecognizerRig(
    clock,
    createSttService(settings, serviceMeans(clock)),
    given.expectation,
  );
  opened.push(rig.recognizer);
  for (let i = 0; i < 20 && server.sessions.length + server.refusals.length === 0; i++) {
    await settle();
  }
  return { rig, server };
}

serviceContract({
  name: 'AssemblyAI',
  service: 'assemblyai',
  model: MODEL,
  bills: 'session',
  start: startAssemblyAiServer,
  create({ url, key }, means) {
    const settings = { provider: 'assemblyai', api_key: key, model: MODEL, base_url: url };
    return createSttService(sttServices.assemblyai.parse(settings), means);
  },
  endMs: 600,
  finals: { never: 'timeout', late: 'timeout', twice: 'given', empty: 'missing' },
  refusedKey: 'Not authorized',
  refusal: (error) => JSON.stringify({ error }),
  closes: [
    [1008, 'rate'],
    [1011, 'network'],
    [3005, 'overload'],
    [3006, 'request'],
    [3008, 'session'],
    [4001, 'auth'],
    [4002, 'quota'],
    [4029, 'rate'],
    [4100, 'protocol'],
    [4102, 'rate'],
    [4103, 'session'],
    [4104, 'request'],
  ],
  broken: ['[1]'],
  unknown: '{"type":"Tomorrow","transcript":null}',
  isAwaited: true,
});

describe('AssemblyAI', () => {
  // The end of the session ended no turn: its last interim words counted, which the service had not fixed.
  it('forces the end of a turn that is open at the end of the call', async () => {
    const { rig, server } = await connect({ faults: { partials: 'revise' } });
    await rig.says('w1 w2');
    await rig.recognizer.finish?.();
    expect(rig.partials.at(-1)).toBe('w1 revised');
    expect([rig.text, rig.errors, server.violations]).toEqual(['w1 w2', [], []]);
    const sent = server.sessions[0]?.received.map(({ type }) => type);
    expect(sent).toEqual(['ForceEndpoint', 'Terminate']);
  });

  it('connects with the parameters of a telephone line', async () => {
    const { server } = await connect({
      settings: { model: 'u3-rt-pro', keyterms: ['Ada', 'Bo'], min_turn_silence: 300 },
    });
    expect(decodeURIComponent(server.sessions[0]?.url.href ?? '')).toBe(
      'ws://fake/v3/ws?sample_rate=8000&encoding=pcm_mulaw&speech_model=u3-rt-pro' +
        '&language_code=en&min_turn_silence=300&keyterms_prompt=["Ada","Bo"]',
    );
  });

  it.each([
    ['vendor', undefined, 'ends', undefined],
    ['ours', 0.5, 'none', undefined],
    ['both', 0.5, 'eager', true],
  ] as const)('leaves turns to %s as it is set', (turns, eager, own, silence) => {
    const settings = sttServices.assemblyai.parse({
      provider: 'assemblyai',
      api_key: KEY,
      turns,
      eager_end_of_turn_confidence: eager,
    });
    const { capabilities } = createSttService(settings, serviceMeans(new FakeClock()));
    expect([capabilities.ownTurns, capabilities.silenceEnds]).toEqual([own, silence]);
  });

  it("reports the service's turns", async () => {
    const { rig, server } = await connect({ faults: { ready: 'late' } });
    await rig.says('w1 w2');
    await rig.silence(1_500);
    expect(rig.turns).toEqual([
      ['started', 'w1'],
      ['ended', 'w1 w2'],
    ]);
    expect(rig.partials).toEqual(['w1', 'w1 w2']);
    expect(rig.finals[0]).toMatchObject({ text: 'w1 w2', confidence: 0.98, language: 'en' });
    expect(rig.finals[0]?.words?.[1]).toEqual({ word: 'w2', startMs: 260, endMs: 460 });
    expect(server.violations).toEqual([]);
  });

  it('reports a probable end from the confidence on that is set', async () => {
    const { rig, server } = await connect({ settings: { eager_end_of_turn_confidence: 0.4 } });
    await rig.says('w1 w2');
    await rig.silence(1_500);
    expect(rig.turns).toEqual([
      ['started', 'w1'],
      ['eager-end', 'w1 w2'],
      ['ended', 'w1 w2'],
    ]);
    expect(rig.partials).toEqual(['w1', 'w1 w2']);
    // It is the gateway's own setting.
    expect(server.sessions[0]?.url.search).not.toContain('eager');
  });

  it.each([
    ['u3-rt-pro', undefined, ['And your name?']],
    ['u3-rt-pro', false, []],
    [MODEL, undefined, []],
  ])('tells %s (agent_context: %s) what the agent has said', async (model, setting, told) => {
    const { rig, server } = await connect({ settings: { model, agent_context: setting } });
    rig.recognizer.agentSaid?.('And your name?');
    await rig.says('w1');
    const contexts = server.sessions[0]?.received.map((message) => message['agent_context']);
    expect(contexts?.filter((each) => each !== undefined)).toEqual(told);
    expect(server.violations).toEqual([]);
  });

  it('gets the end of a long text of the agent, which the service takes', async () => {
    const { rig, server } = await connect({ settings: { model: 'u3-rt-pro' } });
    rig.recognizer.agentSaid?.(`${'Long. '.repeat(400)}And your name?`);
    await rig.says('w1');
    const context = String(server.sessions[0]?.received[0]?.['agent_context']);
    expect([context.length, context.slice(-14)]).toEqual([1_500, 'And your name?']);
  });

  it('waits for the formatted text where it is wanted, and takes it once', async () => {
    const { rig } = await connect({ settings: { format_turns: true } });
    await rig.turn('w1 w2');
    await rig.silence(600);
    expect(rig.finals.map(({ text }) => text)).toEqual(['w1 w2.']);
    const never = await connect({ settings: { model: 'u3-rt-pro' } });
    await never.rig.turn('w1 w2');
    expect(never.rig.finals.map(({ text }) => text)).toEqual(['w1 w2.']);
  });

  it('forces the end of an open turn, and answers without words where none is open', async () => {
    const { rig, server } = await connect();
    await rig.turn('w1', 60);
    expect(rig.finals.map(({ text }) => text)).toEqual(['w1']);
    rig.recognizer.finalize();
    await rig.silence(500);
    expect(rig.finals.map(({ text }) => text)).toEqual(['w1', '']);
    expect(server.sessions[0]?.received).toEqual([{ type: 'ForceEndpoint' }]);
  });

  it('updates the vocabulary when the expected input changes', async () => {
    const { rig, server } = await connect();
    rig.recognizer.expect({ ...OPEN_SPEECH, boost: ['Ada'] });
    rig.recognizer.expect({ ...OPEN_SPEECH, boost: ['Ada'] });
    await rig.silence(200);
    expect(server.sessions[0]?.received).toEqual([
      { type: 'UpdateConfiguration', keyterms_prompt: ['Ada'] },
    ]);
  });

  it('reports a close because of the account apart from one because of the key', () => {
    expect(kindOfClose(1008, 'Unauthorized Connection: Insufficient Funds')).toBe('quota');
    expect(kindOfClose(1008, 'Unauthorized Connection: Invalid API token')).toBe('auth');
  });

  it('reports the end of the longest session as no fault of the service', async () => {
    const { rig } = await connect({ sessionMsMax: 2_000 });
    await rig.silence(2_200);
    expect(rig.fault).toMatchObject({ kind: 'session', isRepeatable: true });
  });

  it('reports an Error message', async () => {
    const unknown = await connect({ settings: { extra_query: { nonsense: '1' } } });
    await settle();
    expect(unknown.rig.fault).toMatchObject({
      kind: 'request',
      detail: 'Unknown parameter: nonsense',
    });
  });

  it.each([
    ['universal-3-6-pro', { language_codes: '["de"]' }],
    ['universal-3-5-pro', { language_codes: '["de"]' }],
    ['u3-rt-pro', { language_code: 'de' }],
  ])('gives the language as the model %s takes it', async (model, expected) => {
    const { server } = await connect({ settings: { model, language: 'de' } });
    const [session] = server.sessions as [SttSession];
    expect(Object.fromEntries(session.url.searchParams)).toMatchObject(expected);
  });

  it('sends what the vendor’s own SDK sends', async () => {
    const { rig, server } = await connect({
      settings: {
        model: 'universal-3-5-pro',
        language: 'de',
        min_turn_silence: 300,
        max_turn_silence: 1_200,
      },
      expectation: { ...OPEN_SPEECH, boost: ['Gnocchi', 'Penne'] },
    });
    rig.recognizer.expect({ ...OPEN_SPEECH, boost: ['Penne'] });
    await rig.pause(10_100);
    await rig.turn('w3');
    rig.recognizer.close();
    const [session] = server.sessions as [SttSession];
    await vi.waitFor(() => expect(session.isOpen).toBe(false));
    const { received: messages } = session;
    expect(capturedRequest(session, { key: KEY, headers: ['authorization'], messages })).toEqual(
      sdkRequest('assemblyai/streaming'),
    );
  });
});
