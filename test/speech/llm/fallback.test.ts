import { describe, expect, it, vi } from 'vitest';
import { codeOf, type ErrorCode, GatewayError } from '../../../src/errors/gateway-error.ts';
import { llmServices } from '../../../src/model/speech-services/services.ts';
import { FallbackModel } from '../../../src/speech/llm/fallback.ts';
import { type LanguageModel, type LlmResponse, NO_USAGE } from '../../../src/speech/llm/llm.ts';
import { refusalOf } from '../../../src/speech/llm/refusal.ts';
import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import { type FaultKind, ServiceFault } from '../../../src/speech/service/service-fault.ts';
import type { ServiceChange } from '../../../src/speech/service/service-reports.ts';
import { openLanguageModel } from '../../../src/speech/vendors/llm-registry.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { failure, says, startOpenAiServer } from '../../fakes/services/openai-server.ts';
import { changeInWords } from '../change-in-words.ts';
import { ask } from './model-history.ts';

const { log } = quietLog();
const never = new AbortController().signal;

function answer(text: string): LlmResponse {
  return {
    text,
    toolCalls: [],
    finishReason: 'stop',
    usage: NO_USAGE,
    firstTokenMs: 1,
    totalMs: 1,
  };
}

/** Does one step of the script a request: fails with the code, or says the text ("text!CODE": then fails). `slow`: is
 *  silent for 4 s; `rate` or `overload` and a number: asks to wait for so many milliseconds. */
function scripted(
  name: string,
  script: string[],
  clock: FakeClock,
): LanguageModel & { asked: number; prepared: number } {
  return {
    name,
    model: `${name}-model`,
    asked: 0,
    prepared: 0,
    async respond(_request, listener) {
      this.asked += 1;
      const [text, code] = (script.shift() ?? 'ok').split('!');
      if (text === 'auth') throw new ServiceFault('llm', name, 'auth', { detail: 'no such key' });
      throwIfAskedToWait(name, text ?? '');
      if (text === 'slow') {
        clock.stall(4_000);
        throw new GatewayError('LLM_TIMEOUT', { what: 'first token' });
      }
      if (text) listener.onText(text);
      if (code) throw new GatewayError(code as ErrorCode, { reason: 'scripted' });
      return answer(text ?? '');
    },
    prepare() {
      this.prepared += 1;
    },
    async close() {
      this.asked = -1;
    },
  };
}

function throwIfAskedToWait(name: string, text: string): void {
  const [, kind, afterMs] = /^(rate|overload)(\d+)$/.exec(text) ?? [];
  if (afterMs === undefined) return;
  const asked = { detail: 'too many requests', retryAfterMs: Number(afterMs) };
  throw new ServiceFault('llm', name, kind === 'rate' ? 'rate' : 'overload', asked);
}

function run(...scripts: string[][]) {
  const clock = new FakeClock();
  const models = scripts.map((script, index) => scripted(`m${index}`, script, clock));
  const circuits = models.map(
    ({ name }) => new CircuitBreaker({ clock, job: 'llm', service: name }),
  );
  const services = models.map((each, at) => ({
    model: each,
    circuit: circuits[at] as CircuitBreaker,
  }));
  const permanent: string[] = [];
  const onPermanentFault = ({ service, kind }: ServiceFault) =>
    permanent.push(`${service} ${kind}`);
  const changes: string[] = [];
  const onChanged = (change: ServiceChange) => changes.push(changeInWords(change));
  const reports = { onPermanentFault, onChanged };
  const open = () => new FallbackModel({ services, clock, log, ...reports });
  let model = open();
  let heard = '';
  const listener = {
    onText(delta: string) {
      heard += delta;
    },
  };
  const respond = async (signal = never) => {
    const outcome = model.respond(ask, listener, signal);
    const settled = outcome.then(
      (given) => given.text,
      (error: unknown) => codeOf(error) ?? error,
    );
    await clock.advanceAsync(1_000, 50);
    return settled;
  };
  const newCall = () => {
    model = open();
  };
  return {
    clock,
    models,
    circuits,
    permanent,
    changes,
    model,
    newCall,
    respond,
    heard: () => heard,
  };
}

const faultOf = (kind: FaultKind) => new ServiceFault('llm', 'm0', kind, { detail: 'busy' });

describe('fallback', () => {
  it('repeats once what may pass, on the same model', async () => {
    const { respond, models } = run(['!LLM_FAILED', 'Hi.'], ['Other.']);
    expect(await respond()).toBe('Hi.');
    expect(models.map((each) => each.asked)).toEqual([2, 0]);
  });

  it('asks an empty model once more, then says LLM_EMPTY', async () => {
    const { respond, models } = run(['!LLM_EMPTY', '!LLM_EMPTY']);
    expect(await respond()).toBe('LLM_EMPTY');
    expect(models[0]?.asked).toBe(2);
  });

  it.each(['LLM_AUTH', 'LLM_REFUSED', 'LLM_RATE', 'LLM_TIMEOUT'])(
    'goes to the next model at once after %s',
    async (code) => {
      const { respond, models } = run([`!${code}`], ['Other.']);
      expect(await respond()).toBe('Other.');
      expect(models[0]?.asked).toBe(1);
    },
  );

  // Status 503 with "Retry-After: 30": the same model was waited for, and no other one asked before the caller's time was over.
  it('waits for no overloaded model that asks for more than a second', async () => {
    const { respond, models } = run(['overload30000', 'Hi.'], ['Other.']);
    expect(await respond()).toBe('Other.');
    expect(models.map((each) => each.asked)).toEqual([1, 1]);
    const short = run(['overload400', 'Hi.'], ['Other.']);
    expect(await short.respond()).toBe('Hi.');
  });

  // The caller spoke on, and the request that tried the model was dropped: for 30 s no call tried it again.
  it.each(['an abort', 'a refusal'])(
    'has the next call try a rested model after %s',
    async (how) => {
      const script = how === 'an abort' ? ['!LLM_FAILED', 'Hi.'] : ['!LLM_REFUSED', 'Hi.'];
      const { clock, circuits, newCall, respond, models } = run(script, ['Other.']);
      for (let faults = 0; faults < 3; faults += 1) circuits[0]?.failed(faultOf('overload'));
      clock.advance(15_000);
      const controller = new AbortController();
      const first = respond(controller.signal);
      if (how === 'an abort') controller.abort();
      await first;
      expect(models[0]?.asked).toBe(1);
      newCall();
      expect(await respond()).toBe('Hi.');
    },
  );

  it('names the model that is left for a fault that passes, with the one that is asked', async () => {
    const { respond, changes } = run(['!LLM_TIMEOUT'], ['!LLM_RATE'], ['We!LLM_FAILED', 'Hi.']);
    expect(await respond()).toBe('LLM_FAILED');
    expect(changes).toEqual(['m0 to m1, LLM_TIMEOUT', 'm1 to m2, LLM_RATE']);
    const lasting = run(['auth'], ['Other.']);
    expect(await lasting.respond()).toBe('Other.');
    expect([lasting.changes, lasting.permanent]).toEqual([[], ['m0 auth']]);
  });

  // A call that began while its model rested had the next one from its first word on, and its run gave no reason.
  it('names the model that it passes by because it failed in other calls, once', async () => {
    const { newCall, respond, changes, circuits, clock } = run([], [], []);
    for (let nth = 0; nth < 3; nth++) circuits[0]?.failed(faultOf('overload'));
    await respond();
    await respond();
    expect(changes).toEqual(['m0 to m1, overload']);
    // Other calls meet the next one's fault meanwhile.
    circuits[1]?.failed(faultOf('rate'));
    await respond();
    expect(changes.splice(0)).toEqual(['m0 to m1, overload', 'm1 to m2, rate']);
    clock.advance(300_000);
    newCall();
    await respond();
    expect(changes).toEqual([]);
  });

  it('names each change once where the model after the one that it passes by fails too', async () => {
    const { respond, changes, circuits } = run([], ['!LLM_TIMEOUT'], []);
    for (let nth = 0; nth < 3; nth++) circuits[0]?.failed(faultOf('network'));
    await respond();
    await respond();
    expect(changes).toEqual(['m0 to m1, network', 'm1 to m2, LLM_TIMEOUT']);
    const between = run(['!LLM_TIMEOUT'], [], []);
    for (let nth = 0; nth < 3; nth++) between.circuits[1]?.failed(faultOf('network'));
    await between.respond();
    await between.respond();
    expect(between.changes).toEqual(['m0 to m2, LLM_TIMEOUT']);
  });

  it('reports a fault that lasts and that another call meets meanwhile, and not what its plan has', async () => {
    const { newCall, respond, changes, permanent, circuits } = run([], []);
    await respond();
    circuits[0]?.failed(faultOf('quota'));
    await respond();
    await respond();
    expect([changes, permanent]).toEqual([[], ['m0 quota']]);
    newCall();
    await respond();
    expect([changes, permanent]).toEqual([[], ['m0 quota']]);
  });

  it('names no model where the circuits of all are open: the first one is asked', async () => {
    const { respond, models, changes, circuits } = run([], []);
    for (const circuit of circuits) circuit.failed(faultOf('rate'));
    await respond();
    expect([models[0]?.asked, changes]).toEqual([1, []]);
  });

  it('waits for a limit that passes within a second, and for no longer one', async () => {
    const short = run(['rate800', 'Hi.'], ['Other.']);
    expect(await short.respond()).toBe('Hi.');
    const long = run(['rate1100', 'Hi.'], ['Other.']);
    expect(await long.respond()).toBe('Other.');
  });

  it('begins no further try after 12 s: the caller has waited long enough', async () => {
    const { respond, models } = run(['slow'], ['slow'], ['slow'], ['Too late.']);
    expect(await respond()).toBe('LLM_TIMEOUT');
    expect(models.map((each) => each.asked)).toEqual([1, 1, 1, 0]);
  });

  it('never goes on with another model after the first text', async () => {
    const { respond, models, heard } = run(['We!LLM_FAILED'], ['Other.']);
    expect(await respond()).toBe('LLM_FAILED');
    expect(heard()).toBe('We');
    expect(models[1]?.asked).toBe(0);
  });

  it('stays with the model that answered for the rest of the call', async () => {
    const { respond, models, clock } = run(['!LLM_TIMEOUT', 'Back.'], ['One.', 'Two.', 'Three.']);
    await respond();
    expect(await respond()).toBe('Two.');
    clock.advance(600_000);
    expect(await respond()).toBe('Three.');
    expect(models.map((each) => each.asked)).toEqual([1, 3]);
  });

  it('asks a model that failed again when no other one answers', async () => {
    const { respond } = run(['!LLM_TIMEOUT', 'Back.'], ['One.', '!LLM_TIMEOUT']);
    await respond();
    expect(await respond()).toBe('Back.');
  });

  it('passes by a model that failed in three calls, and asks it in one call after 15 s', async () => {
    const script = ['!LLM_TIMEOUT', '!LLM_TIMEOUT', '!LLM_TIMEOUT', 'Back.', 'And on.'];
    const { newCall, respond, models, clock, circuits } = run(script, []);
    for (let i = 0; i < 5; i++) {
      await respond();
      newCall();
    }
    expect(models.map((each) => each.asked)).toEqual([3, 5]);
    expect(circuits[0]?.state).toBe('open');
    clock.advance(15_000);
    expect(await respond()).toBe('Back.');
    newCall();
    expect(await respond()).toBe('And on.');
  });

  it('reports a refused key once, and asks it in no other call for five minutes', async () => {
    const { newCall, respond, models, clock, permanent } = run(['auth', 'Back.'], []);
    for (let i = 0; i < 3; i++) {
      await respond();
      newCall();
    }
    clock.advance(280_000);
    await respond();
    expect(models[0]?.asked).toBe(1);
    expect(permanent).toEqual(['m0 auth']);
    clock.advance(30_000);
    newCall();
    expect(await respond()).toBe('Back.');
  });

  it('counts no fault for a model that will not answer', async () => {
    const refusals = Array.from({ length: 4 }, () => '!LLM_REFUSED');
    const { newCall, respond, models, circuits } = run(refusals, []);
    for (let i = 0; i < 4; i++) {
      await respond();
      newCall();
    }
    expect(models[0]?.asked).toBe(4);
    expect(circuits[0]?.state).toBe('closed');
  });

  it('still asks a model whose circuit is open when there is no other one', async () => {
    const { newCall, respond } = run(['auth', 'Back.']);
    expect(await respond()).toBe('LLM_AUTH');
    newCall();
    expect(await respond()).toBe('Back.');
  });

  it('stops between two tries when it is aborted', async () => {
    const { model, clock, models } = run(['!LLM_FAILED']);
    const abort = new AbortController();
    const outcome = model
      .respond(ask, { onText: () => undefined }, abort.signal)
      .catch((error: unknown) => error);
    await settle();
    abort.abort('hang-up');
    expect(await outcome).toBe('hang-up');
    expect(clock.timers).toBe(0);
    expect(models[0]?.asked).toBe(1);
  });

  it('rethrows a programmer error', async () => {
    const { respond, models } = run(['ok']);
    const bug = new TypeError('bug');
    Object.assign(models[0] as object, { respond: () => Promise.reject(bug) });
    expect(await respond()).toBe(bug);
  });

  it('opens a connection to every model ahead', () => {
    const { model, models } = run([], []);
    model.prepare();
    expect(models.map((each) => each.prepared)).toEqual([1, 1]);
  });

  it('leaves the models open when a call is over', async () => {
    const { model, models } = run([], []);
    await model.close();
    expect(models.map((each) => each.asked)).toEqual([0, 0]);
  });
});

describe('the language model of the settings', () => {
  it('is none without settings', () => {
    expect(openLanguageModel([], { clock: new FakeClock(), log })).toBeUndefined();
  });

  it('is the first server that answers', async () => {
    const server = await startOpenAiServer();
    const base = { provider: 'openai', base_url: server.baseUrl } as const;
    const settings = [
      { ...base, model: 'a' },
      { ...base, model: 'b' },
    ];
    const model = openLanguageModel(settings, { clock: new FakeClock(), log });
    server.script(failure(404, { code: 'model_not_found' }), says('I am b.'));
    const given = await model?.respond(ask, { onText: () => undefined }, never);
    expect(given?.text).toBe('I am b.');
    expect(server.requests.map(({ body }) => body['model'])).toEqual(['a', 'b']);
    await model?.close();
    await server.close();
  });

  // A caller's words that Azure's filter stops are refused with status 400, as a wrong setting is. Each such call took the
  // model from all other calls for five minutes, and told its owner to change something.
  it('is asked in other calls whose words no filter of it has stopped', async () => {
    const server = await startOpenAiServer();
    const base = { provider: 'openai', base_url: server.baseUrl } as const;
    const settings = ['a', 'b'].map((model) => ({ ...base, model }));
    const model = openLanguageModel(settings, { clock: new FakeClock(), log });
    const silent = { onText: () => undefined };
    const filtered = { code: 'content_filter', message: 'The response was filtered.' };
    server.script(failure(400, filtered), says('I am b.'), says('I am a.'));
    await model?.ofCall?.().respond(ask, silent, never);
    await model?.ofCall?.().respond(ask, silent, never);
    expect(server.requests.map(({ body }) => body['model'])).toEqual(['a', 'b', 'a']);
    await model?.close();
    await server.close();
  });

  it('has the refusal of its filter reported although the model behind it is misconfigured', async () => {
    const server = await startOpenAiServer();
    const base = { provider: 'openai', base_url: server.baseUrl } as const;
    const settings = ['a', 'b'].map((model) => ({ ...base, model }));
    const model = openLanguageModel(settings, { clock: new FakeClock(), log });
    const filtered = { code: 'content_filter', message: 'The response was filtered.' };
    server.script(failure(400, filtered), failure(404, { message: 'no such model' }));
    const thrown = await model
      ?.ofCall?.()
      .respond(ask, { onText: () => undefined }, never)
      .catch((error: unknown) => error);
    expect(refusalOf(thrown)).toBe('content');
    await model?.close();
    await server.close();
  });

  it('has 3.5 s for its first token where another one is behind it', async () => {
    const server = await startOpenAiServer();
    const clock = new FakeClock();
    const settings = ['a', 'b'].map((name) =>
      llmServices.openai_compatible.parse({
        provider: 'openai_compatible',
        base_url: server.baseUrl,
        model: name,
      }),
    );
    const model = openLanguageModel(settings, { clock, log });
    server.script({ steps: ['stall'] }, says('I am b.'));
    const given = model?.respond(ask, { onText: () => undefined }, never);
    await vi.waitFor(() => expect(server.requests).toHaveLength(1));
    clock.advance(3_499);
    for (let i = 0; i < 10; i++) await settle();
    expect(server.requests).toHaveLength(1);
    clock.advance(1);
    expect((await given)?.text).toBe('I am b.');
    await model?.close();
    await server.close();
  });
});
