import { afterEach, describe, expect, it, vi } from 'vitest';
import { OPEN_SPEECH } from '../../src/model/expected-input.ts';
import { llmServices, sttServices, ttsServices } from '../../src/model/speech-services/services.ts';
import type { SttSettings, TtsSettings } from '../../src/model/speech-services/speech-settings.ts';
import type { ServiceFault } from '../../src/speech/service/service-fault.ts';
import type { ServiceChange } from '../../src/speech/service/service-reports.ts';
import type { SpeechPlan } from '../../src/speech/speech-plan.ts';
import type { SpeechServices } from '../../src/speech/speech-services.ts';
import type { RecognizerListener } from '../../src/speech/stt/stt.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { startDeepgramServer } from '../fakes/services/deepgram-server.ts';
import { openedServices } from './opened-services.ts';

const deepgram = (
  apiKey: string,
  more: { base_url?: string; model?: string; concurrency_limit?: number } = {},
): SttSettings => sttServices.deepgram.parse({ provider: 'deepgram', api_key: apiKey, ...more });
const elevenlabs = (apiKey: string): TtsSettings =>
  ttsServices.elevenlabs.parse({ provider: 'elevenlabs', api_key: apiKey });
const flite: TtsSettings = ttsServices.flite.parse({ provider: 'flite', voice: 'rms' });
const pocketsphinx: SttSettings = sttServices.pocketsphinx.parse({ provider: 'pocketsphinx' });
const SILENT: RecognizerListener = {
  onPartial: () => undefined,
  onFinal: () => undefined,
  onError: () => undefined,
};
const NEVER = new AbortController().signal;
const none = { stt: [], tts: [], llm: [] };

let services: SpeechServices;
afterEach(() => services.close());

function open() {
  const opened = openedServices();
  services = opened.services;
  return opened;
}

describe('the speech plan of a call', () => {
  it('has the services of the gateway where nothing is configured, without a layer between', () => {
    const { services, stt, tts } = open();
    expect(services.plan(none)).toEqual({
      plan: { stt, tts, voice: 'slt', llm: undefined },
      faults: [],
    });
  });

  it('has the configured services, and is named after the first', () => {
    const { services } = open();
    const { plan } = services.plan({
      stt: [deepgram('k1')],
      tts: [elevenlabs('k2')],
      llm: [llmServices.openai.parse({ provider: 'openai', api_key: 'k3' })],
    });
    expect([plan.stt?.name, plan.tts.name]).toEqual(['deepgram', 'elevenlabs']);
    expect(plan.voice).toBeUndefined();
  });

  it('has the embedded voice that is chosen', () => {
    const { services, tts } = open();
    const { plan } = services.plan({ ...none, tts: [flite] });
    expect(plan).toMatchObject({ tts, voice: 'rms' });
  });

  it('has no language model where the scripted policy is chosen', () => {
    const { services } = open();
    const { plan } = services.plan({ ...none, llm: [{ provider: 'scripted' }] });
    expect(plan.llm).toBeUndefined();
  });

  it('names no key in what can be logged of it', () => {
    const { services } = open();
    const { plan } = services.plan({ ...none, stt: [deepgram('secret-key-1')] });
    expect(JSON.stringify({ name: plan.stt?.name, model: plan.stt?.model })).not.toContain(
      'secret',
    );
  });

  it('keeps the order of a chosen embedded service and another one', () => {
    const { services } = open();
    const { plan } = services.plan({
      ...none,
      stt: [pocketsphinx, deepgram('k1')],
      tts: [flite, elevenlabs('k2')],
    });
    expect([plan.stt?.name, plan.tts.name]).toEqual(['fake', 'fake']);
  });

  it("has the gateway's language model where the address is forbidden, and keeps the others", () => {
    const { services } = open();
    const baseUrl = 'http://169.254.169.254';
    const { plan, faults } = services.plan({
      stt: [deepgram('k1')],
      tts: [elevenlabs('k2')],
      llm: [llmServices.openai.parse({ provider: 'openai', api_key: 'k3', base_url: baseUrl })],
    });
    expect([plan.stt?.name, plan.tts.name, plan.llm]).toEqual([
      'deepgram',
      'elevenlabs',
      undefined,
    ]);
    expect(faults.map(({ code }) => code)).toEqual(['OUTSIDE_FORBIDDEN']);
  });

  it('has another recogniser once the key of the first has all its sessions, whatever the model', async () => {
    const { services, stt } = open();
    const server = await startDeepgramServer({ clock: new FakeClock(), key: 'right' });
    try {
      const settings = (model: string) => [
        deepgram('right', { base_url: server.url, model, concurrency_limit: 1 }),
      ];
      const one = services.plan({ ...none, stt: settings('nova-3-general') });
      const call = one.plan.stt?.open(OPEN_SPEECH, SILENT);
      const other = services.plan({ ...none, stt: settings('nova-2') });
      const reported: ServiceFault[] = [];
      other.plan.onPermanentFault = (fault) => reported.push(fault);
      expect(other.plan.stt?.name).toBe('fake');
      other.plan.stt?.open(OPEN_SPEECH, SILENT).close();
      expect(stt.expectation).toBe(OPEN_SPEECH);
      expect(reported.map(({ kind }) => kind)).toEqual(['rate']);
      call?.close();
      expect(other.plan.stt?.name).toBe('fake');
      const third = services.plan({ ...none, stt: settings('nova-2') });
      expect(third.plan.stt?.name).toBe('deepgram');
    } finally {
      await server.close();
    }
  });

  it('counts the sessions of voices apart from those of recognisers, and frees them with the call', async () => {
    const { services } = open();
    const limited = { provider: 'deepgram', api_key: 'k', concurrency_limit: 1 };
    const settings = {
      ...none,
      stt: [sttServices.deepgram.parse(limited)],
      tts: [ttsServices.deepgram.parse(limited)],
    };
    const speech = () => services.plan(settings).plan;
    const [one, two] = [speech(), speech()];
    const stream = ({ tts: voice }: typeof one) => {
      const nothing = () => undefined;
      const listener = { onAudio: nothing, onWords: nothing, onDone: nothing, onError: nothing };
      const opened = voice.stream?.(undefined, listener);
      opened?.push('Hello there.');
      return opened;
    };
    const reported: ServiceFault[] = [];
    two.onPermanentFault = (fault) => reported.push(fault);
    stream(one)?.cancel();
    expect(two.stt?.name).toBe('deepgram');
    stream(two)?.cancel();
    expect(reported.map(({ job, kind }) => [job, kind])).toEqual([['tts', 'rate']]);
    one.release?.();
    const three = speech();
    three.onPermanentFault = (fault) => reported.push(fault);
    stream(three)?.cancel();
    expect(reported).toHaveLength(1);
    for (const plan of [two, three]) plan.release?.();
  });

  it('names a permanent fault that another call met, and only for the same key', async () => {
    const { services } = open();
    const server = await startDeepgramServer({ clock: new FakeClock(), key: 'right' });
    try {
      const settings = [deepgram('wrong-key-1', { base_url: server.url })];
      const { plan, faults } = services.plan({ ...none, stt: settings });
      expect(faults).toEqual([]);
      const reported: ServiceFault[] = [];
      plan.onPermanentFault = (fault) => reported.push(fault);
      const call = plan.stt?.open(OPEN_SPEECH, SILENT);
      await vi.waitFor(() => expect(reported).toHaveLength(1));
      call?.close();
      const later = services.plan({ ...none, stt: settings });
      expect(later.faults).toEqual(reported);
      expect(later.plan.stt?.name).toBe('fake');
      const other = services.plan({
        ...none,
        stt: [deepgram('wrong-key-2', { base_url: server.url })],
      });
      expect(other.faults).toEqual([]);
    } finally {
      await server.close();
    }
  });

  // A greeting that was made while the phone rang had the voice refused: the call spoke with the embedded one, and neither
  // its run nor the owner of the key was told why.
  it('tells the session what it met before that listens, each fault once', async () => {
    const { services } = open();
    const server = await startDeepgramServer({ clock: new FakeClock(), key: 'right' });
    try {
      const settings = [deepgram('wrong-key', { base_url: server.url })];
      const { plan } = services.plan({ ...none, stt: settings });
      const replaced = new Promise<void>((resolve) => {
        plan.stt?.open(OPEN_SPEECH, { ...SILENT, onReplaced: () => resolve() });
      });
      await replaced;
      const reported: string[] = [];
      plan.onPermanentFault = ({ kind }) => reported.push(`session ${kind}`);
      expect(reported).toEqual(['session auth']);
      plan.onPermanentFault = ({ kind }) => reported.push(`again ${kind}`);
      expect(reported).toHaveLength(1);
    } finally {
      await server.close();
    }
  });

  it('has 20 changes of service at most because of faults that pass, those before the session listens among them', async () => {
    const { services, clock } = open();
    const baseUrl = 'http://127.0.0.1:9';
    const gone = (model: string) =>
      llmServices.openai.parse({
        provider: 'openai',
        api_key: 'key-0123',
        base_url: baseUrl,
        model,
      });
    const { plan } = services.plan({ ...none, llm: [gone('one'), gone('two')] });
    const reported: ServiceChange[] = [];
    const request = { messages: [{ role: 'user', content: 'Hi.' }], tools: [] } as never;
    const asks = async (): Promise<void> => {
      let isOver = false;
      const answer = plan.llm?.respond(request, { onText: () => undefined }, NEVER);
      void answer
        ?.catch(() => undefined)
        .finally(() => {
          isOver = true;
        });
      while (!isOver) await clock.advanceAsync(50);
    };
    await asks();
    plan.onServiceChanged = (change) => reported.push(change);
    expect(reported).toMatchObject([{ job: 'llm', from: { model: 'one' }, to: { model: 'two' } }]);
    for (let turn = 0; turn < 15; turn++) await asks();
    expect(reported).toHaveLength(20);
  });

  it('names a voice that rests once, whichever node passes it by, and no fault that its plan has', async () => {
    const { services, clock } = open();
    const key = 'key-0123456789';
    const voice = (apiKey: string, name: string) =>
      ttsServices.elevenlabs.parse({
        provider: 'elevenlabs',
        api_key: apiKey,
        voice: name,
        base_url: 'http://127.0.0.1:9',
      });
    const settings = (apiKey: string) => ({ ...none, tts: [voice(apiKey, 'one')] });
    const nodes = new Map([['b', { ...none, tts: [voice(key, 'two')] }]]);
    const speaks = ({ tts }: Pick<SpeechPlan, 'tts'>) => {
      const nothing = () => undefined;
      const listener = { onAudio: nothing, onWords: nothing, onDone: nothing, onError: nothing };
      const stream = tts.stream?.(undefined, listener);
      stream?.push('Hello there.');
      return stream;
    };
    for (let nth = 0; nth < 3; nth++) {
      const { plan } = services.plan(settings(key));
      const left: ServiceChange[] = [];
      plan.onServiceChanged = (change) => left.push(change);
      const stream = speaks(plan);
      await vi.waitFor(async () => {
        await clock.advanceAsync(50);
        expect(left).toHaveLength(1);
      });
      stream?.cancel();
      plan.release?.();
    }
    const { plan, faults } = services.plan(settings(key), nodes);
    const reported: ServiceChange[] = [];
    plan.onServiceChanged = (change) => reported.push(change);
    plan.onPermanentFault = (fault) => void expect(fault).toBeUndefined();
    for (const each of [plan, ...(plan.nodes?.values() ?? [])]) speaks(each)?.cancel();
    expect(plan.nodes?.size).toBe(1);
    expect(faults).toEqual([]);
    expect(reported).toMatchObject([
      { job: 'tts', from: { name: 'elevenlabs' }, to: { name: 'fake' }, fault: { retry: true } },
    ]);
    plan.release?.();
  });

  it('keeps what another call met of the settings alone, and shares its clients with it', async () => {
    const { services } = open();
    const refuse = { status: 400, body: '{"err_msg":"No such language."}' };
    const server = await startDeepgramServer({
      clock: new FakeClock(),
      key: 'right',
      faults: [{ refuse }],
    });
    try {
      const settings = [deepgram('right', { base_url: server.url })];
      const { plan } = services.plan({ ...none, stt: settings });
      const reported: ServiceFault[] = [];
      plan.onPermanentFault = (fault) => reported.push(fault);
      const call = plan.stt?.open(OPEN_SPEECH, SILENT);
      await vi.waitFor(() => expect(reported).toMatchObject([{ kind: 'request' }]));
      call?.close();
      expect(services.plan({ ...none, stt: settings }).faults).toEqual(reported);
    } finally {
      await server.close();
    }
  });
});
