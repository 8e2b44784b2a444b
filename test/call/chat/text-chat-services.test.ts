// Models of a conversation in writing that fall back to each other: its run says why another one answered, as a call's does.
// Nothing of that was in a chat's run.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OrganizationModels } from '../../../src/call/start/setup/organization-speech.ts';
import { LanguageModels } from '../../../src/speech/language-models.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import type { TextChat } from '../../../src/store/runs/text-chat-records.ts';
import {
  type FakeOpenAiServer,
  failure,
  says,
  startOpenAiServer,
} from '../../fakes/services/openai-server.ts';
import { serviceMeans } from '../../fakes/services/service-means.ts';
import { withStore } from '../../store/engines.ts';
import { chat as talk } from '../call-harness.ts';
import { ChatHarness } from './text-chat-harness.ts';

const at = withStore();

let first: FakeOpenAiServer;
let second: FakeOpenAiServer;
let models: LanguageModels;
beforeEach(async () => {
  first = await startOpenAiServer();
  second = await startOpenAiServer();
  second.otherwise(() => says('We are open.'));
  models = new LanguageModels(undefined, serviceMeans(systemClock));
});
afterEach(async () => {
  await models.close();
  await first.close();
  await second.close();
});

/** A chat with the model `one`, behind it `two`. */
async function chatting(baseUrl = first.baseUrl): Promise<ChatHarness> {
  const harness = new ChatHarness(at);
  const { store, log } = at;
  harness.deps.models = new OrganizationModels({ store, random: systemRandom, log, models });
  harness.restart();
  const account = { provider: 'openai', api_key: 'key-0123456789' };
  const llm = {
    ...account,
    base_url: baseUrl,
    model: 'one',
    fallbacks: [{ ...account, base_url: second.baseUrl, model: 'two' }],
  };
  const settings = { version: 2, mode: 'byok', byok: { mode: 'pipeline', pipeline: { llm } } };
  return harness.prepare(talk, { model_configuration_v2_override: settings });
}

interface PipelineError {
  error: string;
  fatal: boolean;
  processor: string;
  service_change?: object;
}

async function errorsOf(harness: ChatHarness, chat: TextChat): Promise<PipelineError[]> {
  const { run } = await harness.end(chat);
  const items = run.logs['realtime_feedback_events'] as { type: string; payload: PipelineError }[];
  return items.filter(({ type }) => type === 'rtf-pipeline-error').map(({ payload }) => payload);
}

const CHANGE = {
  kind: 'llm',
  fault: 'rate',

  from: 'openai',
  from_model: 'one',
  to: 'openai',
  to_model: 'two',
};

describe('a chat whose model fails', () => {
  it('has in its run which one answered in its place, and why', async () => {
    first.otherwise(() => failure(429, { message: 'slow down' }));
    const harness = await chatting();
    const said = await harness.say(await harness.create(), 'when do you open');
    expect(said.turns.at(-1)?.events.map(({ type }) => type)).toContain('rtf-pipeline-error');
    // The next turn passes the model by, which the run says already.
    const more = await harness.say(said, 'and on Sunday');
    expect(more.turns.at(-1)?.assistantText).toBe('We are open.');
    expect(await errorsOf(harness, more)).toMatchObject([
      { fatal: false, processor: 'LLM_RATE', service_change: CHANGE },
    ]);
    expect(first.requests).toHaveLength(1);
  });

  it('has once that it passes by a model that failed in other conversations', async () => {
    first.otherwise(() => failure(429, { message: 'slow down' }));
    const harness = await chatting();
    await harness.say(await harness.create(), 'when do you open');
    let chat = await harness.create();
    for (const text of ['one', 'two']) chat = await harness.say(chat, text);
    const errors = await errorsOf(harness, chat);
    expect(errors).toMatchObject([{ fatal: false, service_change: CHANGE }]);
    expect(errors[0]?.error).toContain('its circuit is open');
  });

  it('has a fault that lasts once, also one that another conversation met, for the owner of the key', async () => {
    first.otherwise(() => failure(401, { message: 'bad key', code: 'invalid_api_key' }));
    const harness = await chatting();
    const { organizationId } = at.owner;
    for (let nth = 0; nth < 2; nth++) {
      let chat = await harness.create();
      for (const text of ['one', 'two']) chat = await harness.say(chat, text);
      const errors = await errorsOf(harness, chat);
      expect(errors).toMatchObject([{ fatal: false, processor: 'LLM_AUTH' }]);
      expect(errors[0]).not.toHaveProperty('service_change');
    }
    expect(first.requests).toHaveLength(1);
    expect(await at.store.serviceFaults.list(organizationId)).toMatchObject([
      { job: 'llm', service: 'openai', kind: 'auth' },
    ]);
  });

  it('has that a model cannot be used at all', async () => {
    const harness = await chatting('http://169.254.169.254/v1');
    const errors = await errorsOf(harness, await harness.create());
    expect(errors).toMatchObject([{ fatal: false, processor: 'OUTSIDE_FORBIDDEN' }]);
  });
});
