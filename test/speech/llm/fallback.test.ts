import { describe, expect, it } from 'vitest';
import { codeOf, type ErrorCode, GatewayError } from '../../../src/errors/gateway-error.ts';
import { createFallback } from '../../../src/speech/llm/fallback.ts';
import { type LanguageModel, type LlmResponse, NO_USAGE } from '../../../src/speech/llm/llm.ts';
import { openLanguageModel } from '../../../src/speech/llm/registry.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import { failure, says, startOpenAiServer } from '../../fakes/openai-server.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { ask } from './llm-contract.ts';

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

/** Does one step of the script a request: fails with the code, or says the text ("text!CODE": then fails). */
function scripted(
  name: string,
  script: string[],
): LanguageModel & { asked: number; prepared: number } {
  return {
    name,
    model: `${name}-model`,
    asked: 0,
    prepared: 0,
    async respond(_request, listener) {
      this.asked += 1;
      const [text, code] = (script.shift() ?? 'ok').split('!');
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

function run(...scripts: string[][]) {
  const clock = new FakeClock();
  const models = scripts.map((script, index) => scripted(`m${index}`, script));
  const model = createFallback({ models, clock, log });
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
  return { clock, models, model, respond, heard: () => heard };
}

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

  it('never goes on with another model after the first text', async () => {
    const { respond, models, heard } = run(['We!LLM_FAILED'], ['Other.']);
    expect(await respond()).toBe('LLM_FAILED');
    expect(heard()).toBe('We');
    expect(models[1]?.asked).toBe(0);
  });

  it('leaves a model that failed alone for 30 seconds', async () => {
    const { respond, models, clock } = run(['!LLM_AUTH', 'Back.'], ['One.', 'Two.', 'Three.']);
    await respond();
    expect(await respond()).toBe('Two.');
    clock.advance(30_000);
    expect(await respond()).toBe('Back.');
    expect(models[0]?.asked).toBe(2);
  });

  it('still asks a resting model when all rest', async () => {
    const { respond } = run(['!LLM_AUTH', 'Back.']);
    expect(await respond()).toBe('LLM_AUTH');
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

  it('lets a bug through', async () => {
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

  it('closes every model', async () => {
    const { model, models } = run([], []);
    await model.close();
    expect(models.map((each) => each.asked)).toEqual([-1, -1]);
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
});
